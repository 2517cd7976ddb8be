//! The text of a PDF document, page by page.
//!
//! Only what the pages say in letters is found, in the order in which it was
//! written down; a scanned page has none. Sizes and time are limited, because a
//! small file can claim to be a large one.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::time::{Duration, Instant};

use lopdf::content::{Content, Operation};
use lopdf::{Document, Encoding, LoadOptions, Object, ObjectId};

use super::file::Asked;
use super::{View, refusal, units};

/// Larger documents are not opened.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// Bytes that one part of a document may unpack to.
const MOST_UNPACKED: usize = 32 * 1024 * 1024;

/// Characters of one page; more are not shown anyway.
const MOST_CHARS: usize = 200_000;

/// Pages are no longer looked at after this time.
const PATIENCE: Duration = Duration::from_secs(20);

/// A gap in a line, in thousandths of the letter size, from which on it is a space.
const GAP: f32 = 180.0;

/// The pages that are asked for.
pub(super) fn view(file: File, bytes: u64, asked: &Asked<'_>) -> Result<View, String> {
    let shown = asked.shown;
    if bytes > MOST_BYTES {
        return Err(format!(
            "{shown} is a PDF document of {bytes} bytes, too large to open here. Use pdftotext with bash."
        ));
    }
    let mut content = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut content).map_err(|error| refusal(shown, &error))?;
    let broken = |error: &lopdf::Error| {
        let reason: String = error.to_string().chars().take(200).collect();
        format!("{shown} is a PDF document that cannot be opened: {reason}. Try pdftotext with bash.")
    };
    let options = LoadOptions { max_decompressed_size: Some(MOST_UNPACKED), ..LoadOptions::default() };
    let document = Document::load_mem_with_options(&content, options).map_err(|error| broken(&error))?;
    drop(content);
    if document.is_encrypted() {
        return Err(format!("{shown} is a PDF document that needs a password."));
    }
    let pages = document.get_pages();
    let deadline = Instant::now() + PATIENCE;
    let mut letters = 0;
    let mut view = units::view(asked.selection, "page", pages.len() as u64, |number| {
        if asked.cancel.is_cancelled() || Instant::now() > deadline {
            return Ok(format!("--- page {number} ---\n(not looked at: it took too long)\n"));
        }
        let id = u32::try_from(number).ok().and_then(|number| pages.get(&number)).copied();
        let text = id.map(|id| page_text(&document, id)).unwrap_or_default();
        letters += text.chars().filter(|letter| letter.is_alphanumeric()).count();
        Ok(format!("--- page {number} ---\n{}\n", text.trim()))
    })?;
    view.notes.insert(0, "PDF document".to_owned());
    if letters == 0 {
        view.notes.push("no text in it: the pages are probably pictures".to_owned());
    }
    Ok(view)
}

fn page_text(document: &Document, page: ObjectId) -> String {
    let Ok(content) = document.get_page_content_with_limit(page, MOST_UNPACKED) else {
        return "(cannot be unpacked)".to_owned();
    };
    let fonts = document.get_page_fonts(page).unwrap_or_default();
    let encodings: BTreeMap<Vec<u8>, Encoding<'_>> = fonts
        .into_iter()
        .filter_map(|(name, font)| {
            Some((name, font.get_font_encoding_with_limit(document, MOST_UNPACKED).ok()?))
        })
        .collect();
    let mut writer = Writer::default();
    let mut encoding = None;
    for operation in Content::decode_iter(&content) {
        let Ok(operation) = operation else { break };
        if operation.operator == "Tf" {
            let name = operation.operands.first().and_then(|name| name.as_name().ok());
            encoding = name.and_then(|name| encodings.get(name));
        }
        writer.follow(&operation, encoding);
        if writer.text.len() > MOST_CHARS {
            break;
        }
    }
    writer.text
}

/// Puts letters into lines.
#[derive(Default)]
struct Writer {
    text: String,
    /// How high the last line was.
    height: Option<f32>,
}

impl Writer {
    fn follow(&mut self, operation: &Operation, encoding: Option<&Encoding<'_>>) {
        let operands = operation.operands.as_slice();
        match (operation.operator.as_str(), operands) {
            ("Td" | "TD", [_, down]) if down.as_float().unwrap_or_default() != 0.0 => self.end_line(),
            ("Td" | "TD", [..]) => self.space(),
            ("Tm", [_, _, _, _, _, height]) => {
                let height = height.as_float().ok();
                if self.height == height {
                    self.space()
                } else {
                    self.end_line()
                }
                self.height = height;
            }
            ("T*" | "ET", _) => self.end_line(),
            ("'" | "\"", [.., shown]) => {
                self.end_line();
                self.show(shown, encoding);
            }
            ("Tj", [shown]) => self.show(shown, encoding),
            ("TJ", [Object::Array(parts)]) => {
                for part in parts {
                    match part.as_float() {
                        Ok(gap) if -gap > GAP => self.space(),
                        Ok(_) => {}
                        Err(_) => self.show(part, encoding),
                    }
                }
            }
            _ => {}
        }
    }

    fn show(&mut self, shown: &Object, encoding: Option<&Encoding<'_>>) {
        let Object::String(bytes, _) = shown else { return };
        let decoded = encoding.and_then(|encoding| encoding.bytes_to_string(bytes).ok());
        let text = decoded.unwrap_or_else(|| {
            bytes
                .iter()
                .filter(|byte| byte.is_ascii_graphic() || **byte == b' ')
                .map(|byte| char::from(*byte))
                .collect()
        });
        self.text.extend(text.chars().filter(|letter| !letter.is_control()));
    }

    fn space(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with([' ', '\n']) {
            self.text.push(' ');
        }
    }

    fn end_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }
}
