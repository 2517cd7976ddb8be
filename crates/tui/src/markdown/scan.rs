//! What a line of Markdown begins, seen on its own.
//!
//! Just enough of the block grammar to tell where a top-level block can never change again; what is inside a block is
//! for the parser.

/// What a line begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Start {
    Blank,
    Fence(Fence),
    Heading,
    Rule,
    Quote,
    Item(Marker),
    Indented,
    Text,
}

/// The opening line of fenced code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fence {
    pub(super) marker: char,
    pub(super) length: usize,
    pub(super) indent: usize,
    pub(super) info: String,
}

/// The marker of a list item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Marker {
    /// The bullet, or what follows the number.
    pub(super) sign: char,
    /// The number of an ordered item.
    pub(super) number: Option<u64>,
    /// Where the item's own text begins.
    pub(super) content: usize,
    /// Nothing follows the marker.
    pub(super) empty: bool,
}

impl Start {
    pub(super) fn of(line: &str) -> Self {
        let indent = indent_of(line);
        let text = line.trim();
        if text.is_empty() {
            return Self::Blank;
        }
        if indent >= 4 {
            return Self::Indented;
        }
        let hashes = text.bytes().take_while(|byte| *byte == b'#').count();
        let after_hashes = text.get(hashes..).unwrap_or_default();
        match text.chars().next() {
            Some('#')
                if hashes <= 6 && (after_hashes.is_empty() || after_hashes.starts_with([' ', '\t'])) =>
            {
                Self::Heading
            }
            Some('>') => Self::Quote,
            Some('`' | '~') => Fence::of(text, indent).map_or(Self::Text, Self::Fence),
            Some('-' | '*' | '_') if is_rule(text) => Self::Rule,
            Some(_) => Marker::of(line, indent).map_or(Self::Text, Self::Item),
            None => Self::Blank,
        }
    }

    /// Whether a paragraph ends where such a line comes.
    pub(super) fn interrupts(&self) -> bool {
        match self {
            Self::Blank | Self::Fence(_) | Self::Heading | Self::Rule | Self::Quote => true,
            Self::Item(marker) => !marker.empty && marker.number.is_none_or(|number| number == 1),
            Self::Indented | Self::Text => false,
        }
    }
}

impl Fence {
    fn of(text: &str, indent: usize) -> Option<Self> {
        let marker = text.chars().next()?;
        let length = text.chars().take_while(|c| *c == marker).count();
        let info = text.get(length..)?.trim();
        let valid = length >= 3 && (marker == '~' || !info.contains('`'));
        valid.then(|| Self { marker, length, indent, info: info.to_owned() })
    }

    /// Whether the line ends the code.
    pub(super) fn closed_by(&self, line: &str) -> bool {
        let text = line.trim();
        indent_of(line) < 4 && text.chars().all(|c| c == self.marker) && text.len() >= self.length
    }

    /// Whether the line may yet become one that ends the code.
    pub(super) fn maybe_closed_by(&self, partial: &str) -> bool {
        indent_of(partial) < 4 && partial.trim().chars().all(|c| c == self.marker)
    }

    /// A line of the code without the indent of its fence.
    pub(super) fn code<'a>(&self, line: &'a str) -> &'a str {
        let spaces = line.bytes().take_while(|byte| *byte == b' ').count().min(self.indent);
        line.get(spaces..).unwrap_or_default()
    }

    /// The language, as it is named after the fence.
    pub(super) fn language(&self) -> &str {
        language(&self.info)
    }
}

/// The first word of what follows a fence.
pub(super) fn language(info: &str) -> &str {
    let word = info.trim().split([' ', ',', '{', '\t']).find(|word| !word.is_empty()).unwrap_or_default();
    word.trim_matches(['.', '}'])
}

impl Marker {
    fn of(line: &str, indent: usize) -> Option<Self> {
        let text = line.trim_start();
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let sign = text.get(digits..)?.chars().next()?;
        let fits = match digits {
            0 => matches!(sign, '-' | '*' | '+'),
            1..=9 => matches!(sign, '.' | ')'),
            _ => false,
        };
        let rest = text.get(digits + 1..).filter(|_| fits)?;
        let spaces = rest.bytes().take_while(|byte| *byte == b' ').count();
        let empty = rest.trim().is_empty();
        if !empty && spaces == 0 && !rest.starts_with('\t') {
            return None;
        }
        // Five spaces or more are one space and indented code.
        let gap = if empty || spaces > 4 || spaces == 0 { 1 } else { spaces };
        let number = text.get(..digits).and_then(|digits| digits.parse().ok());
        Some(Self { sign, number, content: indent + digits + 1 + gap, empty })
    }
}

/// Columns of white space at the beginning.
pub(super) fn indent_of(line: &str) -> usize {
    let mut column = 0;
    for c in line.chars() {
        match c {
            ' ' => column += 1,
            '\t' => column += 4 - column % 4,
            _ => break,
        }
    }
    column
}

/// Whether the line underlines a heading, if a paragraph is before it.
pub(super) fn is_underline(line: &str) -> bool {
    let text = line.trim();
    indent_of(line) < 4
        && !text.is_empty()
        && (text.chars().all(|c| c == '=') || text.chars().all(|c| c == '-'))
}

fn is_rule(text: &str) -> bool {
    let mut marks = text.chars().filter(|c| !c.is_whitespace());
    let Some(mark) = marks.next() else { return false };
    let mut count = 1;
    for c in marks {
        if c != mark {
            return false;
        }
        count += 1;
    }
    count >= 3
}
