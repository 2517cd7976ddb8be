//! A Rust file as tokens: its functions with their extent and the files it
//! pulls in. Strings, comments and character literals are the tokenizer's
//! business, so nothing in them is mistaken for code.

use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// A function with a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The line of `fn`, counted from 1.
    pub line: usize,
    /// Lines from there to the closing brace, both included.
    pub lines: usize,
}

/// What a file says that matters here.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Source {
    /// Its functions, nested ones included, in order.
    pub functions: Vec<Function>,
    /// The files it pulls in by `mod` or `include!`.
    pub files: Vec<Pulled>,
}

/// A file that another one pulls in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pulled {
    /// `mod name;`, below the directory of the file's own modules.
    Module(PathBuf),
    /// By a path from the file's directory.
    Path(PathBuf),
}

impl Source {
    /// Reads a file's text.
    ///
    /// # Errors
    /// The line and the message of the tokenizer.
    pub fn parse(text: &str) -> Result<Self, (usize, String)> {
        let tokens: TokenStream = text
            .parse()
            .map_err(|error: proc_macro2::LexError| (error.span().start().line, error.to_string()))?;
        let mut source = Self::default();
        source.walk(tokens, Path::new(""));
        Ok(source)
    }

    fn walk(&mut self, tokens: TokenStream, module: &Path) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut path_attribute = None;
        let mut index = 0;
        while let Some(token) = tokens.get(index) {
            let rest = tokens.get(index + 1..).unwrap_or_default();
            match token {
                TokenTree::Punct(punct) if punct.as_char() == '#' => {
                    path_attribute = path_of(rest).or(path_attribute);
                }
                TokenTree::Ident(word) if word == "mod" => match rest {
                    [TokenTree::Ident(name), TokenTree::Punct(end), ..] if end.as_char() == ';' => {
                        self.files.push(match path_attribute.take() {
                            Some(path) => Pulled::Path(path),
                            None => Pulled::Module(module.join(plain(&name.to_string()))),
                        });
                    }
                    [TokenTree::Ident(name), TokenTree::Group(body), ..] => {
                        self.walk(body.stream(), &module.join(plain(&name.to_string())));
                        index += 2;
                    }
                    _ => {}
                },
                TokenTree::Ident(word) if word == "fn" => {
                    if let Some(function) = function(word.span().start().line, rest) {
                        self.functions.push(function);
                    }
                }
                TokenTree::Ident(word) if word == "include" => {
                    if let [TokenTree::Punct(bang), TokenTree::Group(arguments), ..] = rest
                        && bang.as_char() == '!'
                        && let Some(path) = literal(arguments.stream().into_iter().next().as_ref())
                    {
                        self.files.push(Pulled::Path(path));
                    }
                }
                TokenTree::Group(group) => self.walk(group.stream(), module),
                TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
            index += 1;
        }
    }
}

/// The function whose `fn` stands before these tokens; none for a pointer type
/// or a declaration without a body.
fn function(line: usize, rest: &[TokenTree]) -> Option<Function> {
    let TokenTree::Ident(name) = rest.first()? else { return None };
    let body = rest.iter().find_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(Some(group)),
        TokenTree::Punct(punct) if punct.as_char() == ';' => Some(None),
        _ => None,
    })??;
    let last = closing_line(body);
    Some(Function { name: name.to_string(), line, lines: last.saturating_sub(line) + 1 })
}

fn closing_line(group: &Group) -> usize {
    group.span_close().end().line
}

/// The path in `[path = "…"]`.
fn path_of(rest: &[TokenTree]) -> Option<PathBuf> {
    let TokenTree::Group(attribute) = rest.first()? else { return None };
    let inner: Vec<TokenTree> = attribute.stream().into_iter().collect();
    match inner.as_slice() {
        [TokenTree::Ident(name), TokenTree::Punct(equals), value]
            if name == "path" && equals.as_char() == '=' =>
        {
            literal(Some(value))
        }
        _ => None,
    }
}

fn literal(token: Option<&TokenTree>) -> Option<PathBuf> {
    let TokenTree::Literal(literal) = token? else { return None };
    let text = literal.to_string();
    let text = text.strip_prefix('"')?.strip_suffix('"')?;
    Some(PathBuf::from(text))
}

fn plain(name: &str) -> &str {
    name.strip_prefix("r#").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_measured_whatever_their_strings_and_comments_say() {
        let text = r##"//! Doc.
fn short() {}

/// } fn nope() {
impl A {
    async fn long<'a>(&'a self, open: char) -> String
    where
        Self: Sized,
    {
        let brace = '{'; // }
        let text = "}}}}";
        let raw = r#"fn no() { "}" "#;
        fn inner() {
            loop {}
        }
        format!("{open}")
    }
}

trait T {
    fn declared(&self) -> [u8; 2];
}
const POINTER: fn(u8) -> u8 = id;
"##;
        let expected = [("short", 2, 1), ("long", 6, 12), ("inner", 13, 3)]
            .map(|(name, line, lines)| Function { name: name.to_owned(), line, lines });
        assert_eq!(Source::parse(text).unwrap().functions, expected);
    }

    #[test]
    fn pulled_files_are_found_through_inline_modules_and_attributes() {
        let text = r#"
mod a;
pub(crate) mod r#type;
#[cfg(test)]
mod tests {
    mod inner;
}
#[path = "other/b.rs"]
mod b;
include!("generated.rs");
// mod comment;
const TEXT: &str = "mod string;";
"#;
        let module = |path: &str| Pulled::Module(path.into());
        let path = |path: &str| Pulled::Path(path.into());
        let expected =
            [module("a"), module("type"), module("tests/inner"), path("other/b.rs"), path("generated.rs")];
        assert_eq!(Source::parse(text).unwrap().files, expected);
    }

    #[test]
    fn a_file_that_is_no_rust_is_an_error_with_its_line() {
        let (line, _) = Source::parse("fn a() {}\nfn b() {").unwrap_err();
        assert!(line >= 1);
    }
}
