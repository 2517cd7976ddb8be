//! A text file: in which encoding it is, and the lines of it that are asked for.
//!
//! A file that is not large is gone through to its end, to hash it and to count
//! its lines. Of a large one no more is read than must be, and its end is looked
//! for from the end. Either takes constant memory.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};

use encoding_rs_io::DecodeReaderBytesBuilder;
use tokio_util::sync::CancellationToken;

use super::lines::{Lines, read_some};
use super::range::{Asked, Selection, Span};
use super::slice::{Counting, Numbering, Slice};
use super::{View, refusal};
use crate::bound::OUTPUT_BYTES;
use crate::encoding::{Encoding, Sniffer, bare_utf16, marked_encoding};
use crate::memory::{HASHED_BYTES, Seen};

/// Texts up to this size are handed on whole, to be remembered.
const KEPT_BYTES: u64 = 2 * 1024 * 1024;

/// How far from its end the lines at the end of a large file are looked for.
const TAIL_BYTES: u64 = 16 * 1024 * 1024;

/// As much as one line can take when it is shown.
const LINE_BYTES: u64 = 768 * 4 + 60;

const BUFFER: usize = 64 * 1024;

/// What going through a file tells.
struct Survey {
    hash: Option<blake3::Hash>,
    /// Nothing if it is a mixture.
    encoding: Option<Encoding>,
    bytes: Option<Vec<u8>>,
}

/// The lines of a file that are asked for. `sample` is how it begins.
pub(super) fn view(
    mut file: File,
    metadata: &Metadata,
    sample: &[u8],
    shown: &str,
    selection: &Selection,
    cancel: &CancellationToken,
) -> Result<View, String> {
    let refused = |error: io::Error| refusal(shown, &error);
    let length = metadata.len();
    let survey = match length {
        0..=HASHED_BYTES => survey(&mut file, length, sample, cancel).map_err(refused)?,
        _ => Survey { hash: None, encoding: guess(sample), bytes: None },
    };
    let counting = if survey.hash.is_some() { Counting::Yes } else { Counting::No };
    // In UTF-16 the byte of a line feed can be half of something else.
    let is_by_bytes = matches!(
        survey.encoding,
        None | Some(Encoding::Utf8 | Encoding::Utf8Marked | Encoding::Windows1252 | Encoding::Other)
    );
    let mut view = match selection.tail {
        Some(tail) if counting == Counting::No && is_by_bytes => {
            view_end(file, length, &survey, tail, shown, cancel)?
        }
        tail => {
            let selection = match tail {
                None => selection.clone(),
                Some(_) => {
                    let lines = decoded(&mut file, length, survey.encoding);
                    let total = Lines::new(lines, cancel).count_rest().map_err(refused)?;
                    selection.clone().resolved(total)
                }
            };
            file.rewind().map_err(refused)?;
            let lines = Lines::new(decoded(&mut file, length, survey.encoding), cancel);
            Slice::new(&selection, Numbering::FromStart).read(lines, counting, length, shown)?
        }
    };
    view.notes.extend(survey.encoding.and_then(Encoding::note).map(str::to_owned));
    view.seen = Some(Seen::new(metadata, survey.hash));
    view.whole = survey.bytes.and_then(|bytes| crate::text::decode(&bytes)).map(|(text, _)| text);
    Ok(view)
}

/// Goes through a file, and back to its beginning.
fn survey(file: &mut File, length: u64, sample: &[u8], cancel: &CancellationToken) -> io::Result<Survey> {
    let known = known(sample);
    let mut hasher = blake3::Hasher::new();
    let mut sniffer = Sniffer::default();
    let mut kept = (length <= KEPT_BYTES).then(Vec::new);
    let mut buffer = vec![0; BUFFER];
    let mut source = limited(file, length);
    loop {
        let count = read_some(&mut source, &mut buffer, cancel)?;
        let piece = buffer.get(..count).unwrap_or_default();
        if piece.is_empty() {
            break;
        }
        hasher.update(piece);
        sniffer.feed(piece);
        if let Some(bytes) = &mut kept {
            bytes.extend_from_slice(piece);
            if bytes.len() as u64 > KEPT_BYTES {
                kept = None;
            }
        }
    }
    file.rewind()?;
    let encoding = known.or_else(|| sniffer.finish());
    Ok(Survey { hash: Some(hasher.finalize()), encoding, bytes: kept })
}

/// The encoding, if the beginning is enough to tell it.
fn known(sample: &[u8]) -> Option<Encoding> {
    match marked_encoding(sample) {
        Encoding::Utf8 => bare_utf16(sample),
        marked => Some(marked),
    }
}

/// What a beginning tells of a whole that is too large to go through.
fn guess(sample: &[u8]) -> Option<Encoding> {
    known(sample).or_else(|| {
        // The last character may be cut.
        let mut sniffer = Sniffer::default();
        sniffer.feed(sample.get(..sample.len().saturating_sub(4)).unwrap_or_default());
        sniffer.finish()
    })
}

/// Somebody may write to it faster than it is read. Files of /proc claim to be empty.
fn limited(file: &mut File, length: u64) -> io::Take<&mut File> {
    file.take(if length == 0 { HASHED_BYTES } else { length })
}

/// A file as UTF-8, whatever it is in.
fn decoded<'a>(file: &'a mut File, length: u64, encoding: Option<Encoding>) -> Box<dyn Read + 'a> {
    let source = limited(file, length);
    match encoding.and_then(Encoding::converter) {
        None => Box::new(source),
        Some(converter) => Box::new(DecodeReaderBytesBuilder::new().encoding(Some(converter)).build(source)),
    }
}

/// The last lines of a large file.
fn view_end(
    mut file: File,
    length: u64,
    survey: &Survey,
    tail: u64,
    shown: &str,
    cancel: &CancellationToken,
) -> Result<View, String> {
    let refused = |error: io::Error| refusal(shown, &error);
    let (start, count) = find_end(&mut file, length, tail, cancel).map_err(refused)?;
    file.seek(SeekFrom::Start(start)).map_err(refused)?;
    let spans = vec![Span { first: 1, last: Some(count.max(1)) }];
    let selection = Selection { asked: Asked::Ranges, spans, tail: None };
    let lines = Lines::new(decoded(&mut file, length - start, survey.encoding), cancel);
    Slice::new(&selection, Numbering::FromEnd(count)).read(lines, Counting::Yes, length, shown)
}

/// Where the last lines begin, and how many they are: as many as are asked for and fit.
fn find_end(file: &mut File, length: u64, tail: u64, cancel: &CancellationToken) -> io::Result<(u64, u64)> {
    let mut buffer = vec![0; BUFFER];
    let (mut end, mut begin) = (length, length);
    let (mut count, mut room) = (0, OUTPUT_BYTES as u64);
    while end > 0 && length - end < TAIL_BYTES {
        let from = end.saturating_sub(BUFFER as u64);
        let piece = buffer.get_mut(..usize::try_from(end - from).unwrap_or_default()).unwrap_or_default();
        file.seek(SeekFrom::Start(from))?;
        if cancel.is_cancelled() {
            return Err(io::Error::other("cancelled"));
        }
        file.read_exact(piece)?;
        for at in memchr::memrchr_iter(b'\n', piece) {
            let after = from + at as u64 + 1;
            // The line feed at the very end ends a line and begins none.
            if after == length {
                continue;
            }
            let cost = (begin - after).min(LINE_BYTES) + 30;
            if cost > room {
                return Ok((begin, count));
            }
            (begin, count, room) = (after, count + 1, room - cost);
            if count == tail {
                return Ok((begin, count));
            }
        }
        end = from;
    }
    match (end, count) {
        (0, _) => Ok((0, count + 1)),
        // One line longer than what was looked through: its end is shown.
        (_, 0) => Ok((end, 1)),
        _ => Ok((begin, count)),
    }
}
