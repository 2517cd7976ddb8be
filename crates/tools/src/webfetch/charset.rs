//! Bytes of a page as text: by the byte order mark, by what the server says, by what the page says of
//! itself, and otherwise by looking at them.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// As many bytes as are searched for the page's own word on its encoding.
const LOOKED_AT: usize = 2048;

/// The text of a body, whose declared type may name a charset.
pub(super) fn decode(body: &[u8], content_type: Option<&str>) -> String {
    if let Some((encoding, mark)) = Encoding::for_bom(body) {
        return encoding.decode_without_bom_handling(body.get(mark..).unwrap_or_default()).0.into_owned();
    }
    let said = content_type.and_then(parameter).and_then(|label| Encoding::for_label(label.as_bytes()));
    if let Some(encoding) = said
        && let Some(text) = encoding.decode_without_bom_handling_and_without_replacement(body)
    {
        return text.into_owned();
    }
    let head = body.get(..LOOKED_AT).unwrap_or(body);
    let own = declared(head);
    if let Some(encoding) = own.filter(|own| said != Some(own))
        && let Some(text) = encoding.decode_without_bom_handling_and_without_replacement(body)
    {
        return text.into_owned();
    }
    let looks_like_utf8 = match std::str::from_utf8(body) {
        Ok(_) => true,
        // Cut in the middle of a character, or wrong in few places.
        Err(error) => error.error_len().is_none() || (said == Some(UTF_8) && mostly_utf8(body)),
    };
    let encoding =
        if looks_like_utf8 { UTF_8 } else { said.or(own).filter(|e| *e != UTF_8).unwrap_or(WINDOWS_1252) };
    encoding.decode_without_bom_handling(body).0.into_owned()
}

/// Whether few of the characters beyond ASCII are broken.
fn mostly_utf8(body: &[u8]) -> bool {
    let text = String::from_utf8_lossy(body);
    let broken = text.chars().filter(|c| *c == char::REPLACEMENT_CHARACTER).count();
    let whole = text.chars().filter(|c| !c.is_ascii()).count() - broken;
    whole > broken * 4
}

/// The charset of `text/html; charset="utf-8"`.
fn parameter(content_type: &str) -> Option<&str> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches(['"', '\'']))
    })
}

/// What `<meta charset=…>`, `<meta … content="…; charset=…">` or `<?xml … encoding="…"?>` says.
fn declared(head: &[u8]) -> Option<&'static Encoding> {
    let text = String::from_utf8_lossy(head).to_ascii_lowercase();
    let xml = text.trim_start().starts_with("<?xml");
    let value_after = |word: &str| {
        let rest = text.get(text.find(word)? + word.len()..)?;
        let rest = rest.trim_start().strip_prefix('=')?.trim_start().trim_start_matches(['"', '\'']);
        let end = rest.find(['"', '\'', ' ', ';', '>', '/', '?']).unwrap_or(rest.len());
        Encoding::for_label(rest.get(..end)?.as_bytes())
    };
    let found = if xml { value_after("encoding") } else { None };
    let found = found.or_else(|| value_after("charset"))?;
    // A page whose declaration could be read is not in UTF-16, whatever it says.
    Some(if found.name().starts_with("UTF-16") { UTF_8 } else { found })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_encoding_is_told_from_mark_server_page_and_bytes() {
        let table: [(&[u8], Option<&str>, &str); 12] = [
            ("grüße".as_bytes(), None, "grüße"),
            (b"\xef\xbb\xbfgr\xc3\xbc", Some("text/plain; charset=latin1"), "grü"),
            (b"\xff\xfeg\0r\0", Some("text/plain"), "gr"),
            (b"gr\xfc\xdfe", Some("text/html; Charset=\"ISO-8859-1\""), "grüße"),
            (b"\x83\x65\x83\x58\x83\x67", Some("text/html;charset=shift_jis"), "テスト"),
            (
                b"<meta charset=windows-1251>\xcf\xf0\xe8\xe2\xe5\xf2",
                Some("text/html"),
                "<meta charset=windows-1251>Привет",
            ),
            (
                b"<meta http-equiv=Content-Type content='text/html; charset=koi8-r'>\xf0",
                None,
                "<meta http-equiv=Content-Type content='text/html; charset=koi8-r'>П",
            ),
            (
                b"<?xml version='1.0' encoding='iso-8859-2'?>\xb1",
                None,
                "<?xml version='1.0' encoding='iso-8859-2'?>ą",
            ),
            // The server lies.
            (
                b"<meta charset=windows-1251>\xcf",
                Some("text/html; charset=utf-8"),
                "<meta charset=windows-1251>П",
            ),
            (b"gr\xfc\xdfe", Some("text/html; charset=utf-8"), "grüße"),
            (b"gr\xfc\xdfe", Some("text/html; charset=nonsense"), "grüße"),
            // Cut in the middle of a character.
            (b"gr\xc3\xbc\xc3", Some("text/html; charset=utf-8"), "grü\u{fffd}"),
        ];
        for (bytes, content_type, expected) in table {
            assert_eq!(decode(bytes, content_type), expected, "{content_type:?}");
        }
        assert_eq!(decode("<meta charset=utf-16>ü".as_bytes(), None), "<meta charset=utf-16>ü");
    }
}
