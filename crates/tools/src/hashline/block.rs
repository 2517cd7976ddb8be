//! The block of code that begins at a line, by the grammar of its language.

use tree_sitter::{Language, Node, Parser, Point, Tree};

/// Larger files are not parsed.
const MOST_BYTES: usize = 2 * 1024 * 1024;

/// Nodes that hold one thing after another and begin where the first of them does.
const CONTAINERS: &[&str] = &[
    "block",
    "block_statements",
    "class_body",
    "compound_statement",
    "declaration_list",
    "module",
    "program",
    "source_file",
    "statement_block",
    "statement_list",
    "translation_unit",
];

/// The first and last line, counted from 1, of the largest thing that begins with the first word of a
/// line; nothing if the language is not known, or if it is not certain.
pub(super) fn at(path: &str, text: &str, line: usize) -> Option<(usize, usize)> {
    let row = line.checked_sub(1)?;
    let content = text.lines().nth(row)?;
    let column = content.len() - content.trim_start().len();
    let first = content.trim_start().chars().next()?;
    if is_closer(first) {
        return None;
    }
    let tree = tree(path, text)?;
    let start = Point { row, column };
    let next = Point { row, column: column + first.len_utf8() };
    let mut node = tree.root_node().descendant_for_point_range(start, next)?;
    if node.start_position() != start {
        return None;
    }
    while let Some(parent) = node.parent().filter(|parent| holds(parent, start)) {
        node = parent;
    }
    if node.has_error() || CONTAINERS.contains(&node.kind()) || node.kind().contains("comment") {
        return None;
    }
    let end = node.end_position();
    // A node that ends with its line end ends in that line.
    let last = if end.column == 0 && end.row > row { end.row } else { end.row + 1 };
    Some((line, last))
}

fn holds(parent: &Node<'_>, start: Point) -> bool {
    parent.start_position() == start && parent.parent().is_some() && !CONTAINERS.contains(&parent.kind())
}

/// Whether a line has nothing but what ends blocks.
pub(super) fn is_closing(text: &str, line: usize) -> bool {
    let content = line.checked_sub(1).and_then(|row| text.lines().nth(row)).unwrap_or_default();
    closes(content)
}

/// Whether this is nothing but what ends blocks.
pub(super) fn closes(line: &str) -> bool {
    let content = line.trim();
    content.starts_with(is_closer)
        && content.chars().all(|character| is_closer(character) || ";, ".contains(character))
}

/// Whether a file can be parsed; not so if its language is not known.
pub(super) fn parses(path: &str, text: &str) -> bool {
    tree(path, text).is_some_and(|tree| !tree.root_node().has_error())
}

/// The first line, counted from 1, that cannot be parsed; nothing if all can, or the language is not known.
pub(super) fn error_line(path: &str, text: &str) -> Option<usize> {
    let tree = tree(path, text)?;
    let mut node = tree.root_node();
    if !node.has_error() {
        return None;
    }
    while !node.is_error() && !node.is_missing() {
        let mut cursor = node.walk();
        let Some(child) = node.children(&mut cursor).find(Node::has_error) else { break };
        node = child;
    }
    Some(node.start_position().row + 1)
}

fn tree(path: &str, text: &str) -> Option<Tree> {
    if text.len() > MOST_BYTES {
        return None;
    }
    let mut parser = Parser::new();
    parser.set_language(&language(path)?).ok()?;
    parser.parse(text, None)
}

fn is_closer(character: char) -> bool {
    matches!(character, '}' | ')' | ']')
}

fn language(path: &str) -> Option<Language> {
    let extension = path.rsplit('/').next()?.rsplit_once('.')?.1.to_lowercase();
    Some(match extension.as_str() {
        "rs" => tree_sitter_rust::LANGUAGE.into(),
        "py" | "pyi" => tree_sitter_python::LANGUAGE.into(),
        // One grammar for four languages: each is a part of it but for `<T>x`, and a block with that is
        // refused. A grammar is more than a megabyte.
        "js" | "jsx" | "mjs" | "cjs" | "tsx" | "ts" | "mts" | "cts" => {
            tree_sitter_typescript::LANGUAGE_TSX.into()
        }
        "go" => tree_sitter_go::LANGUAGE.into(),
        "java" => tree_sitter_java::LANGUAGE.into(),
        "c" | "h" => tree_sitter_c::LANGUAGE.into(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_found_in_every_language() {
        for (path, text, line, last) in [
            ("a.rs", "/// Says.\nfn a() {\n    b();\n}\n\nfn c() {}\n", 2, 4),
            (
                "a.rs",
                "impl A {\n    fn b() {\n        c(|| {\n            d();\n        });\n    }\n}\n",
                3,
                5,
            ),
            ("a.py", "@x\ndef a():\n    b()\n    c()\n\nd()\n", 1, 4),
            ("a.py", "def a():\n    if b:\n        c()\n    else:\n        d()\n    e()\n", 2, 5),
            ("a.py", "a = 1\nb = 2\n", 1, 1),
            ("a.js", "export function a() {\n  return <b />;\n}\n", 1, 3),
            ("a.ts", "class A<T> {\n  b(): T {\n    return c as T;\n  }\n}\n", 2, 4),
            ("a.tsx", "const A = () => (\n  <b>\n    c\n  </b>\n);\n", 1, 5),
            ("a.go", "package a\n\nfunc b() {\n\tif c {\n\t\td()\n\t}\n\te()\n}\n", 4, 6),
            ("a.java", "class A {\n  void b() {\n    c();\n  }\n}\n", 2, 4),
            ("a.c", "int a(void) {\n  if (b) {\n    c();\n  }\n  return 1;\n}\n", 2, 4),
        ] {
            assert_eq!(at(path, text, line), Some((line, last)), "{path} {text}");
        }
    }

    #[test]
    fn what_is_not_certain_is_no_block() {
        let text = "fn a() {\n    b();\n\n}\n";
        for (path, text, line) in [
            ("a.rs", text, 3),
            ("a.rs", text, 4),
            ("a.rs", text, 5),
            ("a.rs", text, 0),
            ("a.unknown", text, 1),
            ("a.rs", "fn a( {\n    b(;\n}\n", 1),
        ] {
            assert_eq!(at(path, text, line), None, "{path} {line}");
        }
        assert!(is_closing(text, 4) && !is_closing(text, 2) && !is_closing(text, 3) && !is_closing(text, 9));
    }
}
