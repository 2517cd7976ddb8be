//! What a body is, by its bytes and by what the server calls it. Bytes that are plainly something else
//! win: a picture is no text because a server says so.

/// What a body is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Html,
    Json,
    /// Text that is shown as it is.
    Text,
    Pdf,
    /// A picture of this type.
    Image(String),
    /// Something else that is no text, of this type.
    Binary(String),
}

/// As many bytes as are looked at.
const LOOKED_AT: usize = 8 * 1024;

/// First bytes, and what begins with them.
const MAGIC: &[(&[u8], &str)] = &[
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n", "image/png"),
    (b"GIF8", "image/gif"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"BM\0\0", "image/bmp"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"BZh", "application/x-bzip2"),
    (b"\xfd7zXZ\0", "application/x-xz"),
    (b"7z\xbc\xaf", "application/x-7z-compressed"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"\x7fELF", "application/x-executable"),
    (b"MZ\x90\0", "application/x-executable"),
    (b"\0asm", "application/wasm"),
    (b"OggS", "audio/ogg"),
    (b"ID3\x03", "audio/mpeg"),
    (b"wOF2", "font/woff2"),
    (b"SQLite format 3\0", "application/vnd.sqlite3"),
];

impl Kind {
    /// What a body is.
    pub(super) fn of(content_type: Option<&str>, body: &[u8]) -> Self {
        let declared = content_type.and_then(|value| value.split(';').next()).unwrap_or_default();
        let declared = declared.trim().to_ascii_lowercase();
        if let Some(found) = magic(body) {
            return Self::opaque(found);
        }
        let head = body.get(..LOOKED_AT).unwrap_or(body);
        if declared == "image/svg+xml" {
            return Self::Text;
        }
        let is_media =
            ["image/", "audio/", "video/", "font/"].iter().any(|media| declared.starts_with(media));
        if is_media || declared == "application/pdf" {
            return Self::opaque(&declared);
        }
        if !is_text(head, content_type) {
            let unknown = declared.is_empty() || declared.starts_with("text/");
            return Self::Binary(if unknown { "application/octet-stream".to_owned() } else { declared });
        }
        match declared.as_str() {
            "text/html" | "application/xhtml+xml" => of_html(head, body),
            "application/json" | "text/json" => Self::Json,
            json if json.ends_with("+json") => Self::Json,
            "" | "application/octet-stream" if looks_like_html(head) => Self::Html,
            _ => Self::Text,
        }
    }

    fn opaque(media_type: &str) -> Self {
        match media_type {
            "application/pdf" => Self::Pdf,
            image if image.starts_with("image/") => Self::Image(image.to_owned()),
            other => Self::Binary(other.to_owned()),
        }
    }
}

fn magic(body: &[u8]) -> Option<&'static str> {
    if body.starts_with(b"RIFF") && body.get(8..12) == Some(b"WEBP") {
        return Some("image/webp");
    }
    MAGIC.iter().find(|(bytes, _)| body.starts_with(bytes)).map(|(_, media_type)| *media_type)
}

/// Some servers call everything HTML.
fn of_html(head: &[u8], body: &[u8]) -> Kind {
    let first = head.iter().find(|byte| !byte.is_ascii_whitespace());
    match first {
        Some(b'{' | b'[') if serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok() => Kind::Json,
        _ if memchr::memchr(b'<', body).is_none() => Kind::Text,
        _ => Kind::Html,
    }
}

fn looks_like_html(head: &[u8]) -> bool {
    let start = String::from_utf8_lossy(head.get(..512).unwrap_or(head)).trim_start().to_ascii_lowercase();
    ["<!doctype html", "<html", "<head", "<body"].iter().any(|tag| start.starts_with(tag))
}

/// Text in one-byte encodings has no NUL and few control characters.
fn is_text(head: &[u8], content_type: Option<&str>) -> bool {
    let wide = head.starts_with(b"\xff\xfe")
        || head.starts_with(b"\xfe\xff")
        || content_type.is_some_and(|value| value.to_ascii_lowercase().contains("utf-16"));
    if wide {
        return true;
    }
    let control = |byte: &&u8| matches!(byte, 1..=8 | 14..=26 | 28..=31 | 127);
    !head.contains(&0) && head.iter().filter(control).count() * 50 <= head.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_name_together_say_what_a_body_is() {
        let binary = |name: &str| Kind::Binary(name.to_owned());
        let image = |name: &str| Kind::Image(name.to_owned());
        let table: [(Option<&str>, &[u8], Kind); 21] = [
            (Some("text/html; charset=utf-8"), b"<p>x", Kind::Html),
            (Some("TEXT/HTML"), b" {\"a\": 1}", Kind::Json),
            (Some("text/html"), b"just words", Kind::Text),
            (Some("text/plain"), b"<!doctype html><p>x", Kind::Text),
            (None, b"\n<!DOCTYPE html><p>x", Kind::Html),
            (None, b"words", Kind::Text),
            (Some("application/octet-stream"), b"words", Kind::Text),
            (Some("application/json"), b"{", Kind::Json),
            (Some("application/ld+json"), b"{}", Kind::Json),
            (Some("application/atom+xml"), b"<feed/>", Kind::Text),
            (Some("image/svg+xml"), b"<svg/>", Kind::Text),
            (Some("application/pdf"), b"junk", Kind::Pdf),
            (Some("text/html"), b"%PDF-1.7", Kind::Pdf),
            (Some("image/png"), b"<html>", image("image/png")),
            (Some("text/plain"), b"\x89PNG\r\n\x1a\n", image("image/png")),
            (Some("text/plain"), b"RIFF1234WEBPVP8", image("image/webp")),
            (Some("text/html"), b"PK\x03\x04", binary("application/zip")),
            (Some("text/html"), b"a\0b", binary("application/octet-stream")),
            (Some("application/x-thing"), b"\x01\x02\x03\x04", binary("application/x-thing")),
            (Some("text/plain"), b"\xff\xfea\0b\0", Kind::Text),
            (Some("video/mp4"), b"words", binary("video/mp4")),
        ];
        for (content_type, body, expected) in table {
            assert_eq!(Kind::of(content_type, body), expected, "{content_type:?} {body:?}");
        }
    }
}
