//! Found but for characters that look like others: typographic quotes and
//! dashes, unusual spaces, full-width forms. White space does not count either.

use std::ops::Range;

use crate::edit::stream::{self, Inner, Lead, Letters, Manner};

pub(super) fn find(text: &str, old: &str) -> Vec<Range<usize>> {
    if text.is_ascii() && old.is_ascii() {
        return Vec::new();
    }
    stream::find(text, old, Manner { lead: Lead::Dropped, inner: Inner::Collapsed, letters: Letters::Plain })
}

/// What a character looks like, in plain ones. Nothing for what cannot be seen.
pub(in crate::edit) fn plain(character: char, buffer: &mut [u8; 4]) -> &str {
    let one = match character {
        '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}' => return "",
        '…' => return "...",
        '‘' | '’' | '‚' | '‛' | '′' | 'ʼ' => '\'',
        '“' | '”' | '„' | '‟' | '″' | '«' | '»' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' => '-',
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        '\u{ff01}'..='\u{ff5e}' => {
            char::from_u32(u32::from(character) - 0xff01 + u32::from('!')).unwrap_or(character)
        }
        other => other,
    };
    one.encode_utf8(buffer)
}
