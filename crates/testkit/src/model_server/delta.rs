//! A turn as the sequence of its deltas, the same for every wire.
//!
//! Lazy and borrowing: an answer of megabytes costs no more memory than its
//! text. Deltas of text end between characters, as those of real models do;
//! splitting inside a character is the business of `play`.

use std::collections::VecDeque;

use super::turn::{ArgumentDeltas, CallIds, CallOrder, Piece, Turn};

/// A small piece of an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Delta<'a> {
    Text(&'a str),
    Reasoning(&'a str),
    CallOpen { index: usize, id: &'a str, tool: &'a str, arguments: &'a str },
    CallMore { index: usize, arguments: &'a str },
    Data(&'a str),
    Raw(&'a [u8]),
    Gate(&'a str),
}

type Deltas<'a> = Box<dyn Iterator<Item = Delta<'a>> + Send + 'a>;

/// The deltas of a turn, its calls named by `ids`.
pub(crate) fn deltas<'a>(turn: &'a Turn, ids: &'a [String]) -> impl Iterator<Item = Delta<'a>> + Send {
    let mut groups: Vec<Deltas<'a>> = Vec::new();
    let mut batch: VecDeque<Deltas<'a>> = VecDeque::new();
    let mut ids = ids.iter().map(String::as_str).enumerate();
    for piece in turn.pieces() {
        if let Piece::Call { tool, arguments, .. } = piece {
            let (index, id) = ids.next().expect("an id for every call");
            batch.push_back(call(turn, index, id, tool, arguments));
            continue;
        }
        groups.extend(ordered(turn, &mut batch));
        groups.push(match piece {
            Piece::Text(text) => Box::new(Slices::of(text, turn.delta_size).map(Delta::Text)),
            Piece::Reasoning(text) => Box::new(Slices::of(text, turn.delta_size).map(Delta::Reasoning)),
            Piece::Data(data) => Box::new(std::iter::once(Delta::Data(data))),
            Piece::Raw(bytes) => Box::new(std::iter::once(Delta::Raw(bytes))),
            Piece::Gate(name) => Box::new(std::iter::once(Delta::Gate(name))),
            Piece::Call { .. } => continue,
        });
    }
    groups.extend(ordered(turn, &mut batch));
    groups.into_iter().flatten()
}

/// The ids of a turn's calls: `fresh` ones unless the turn says otherwise.
pub(crate) fn call_ids(turn: &Turn, fresh: Vec<String>) -> Vec<String> {
    let chosen = turn.pieces().iter().filter_map(|piece| match piece {
        Piece::Call { id, .. } => Some(id.clone()),
        _ => None,
    });
    let scripted = |fresh: String| match turn.ids {
        CallIds::Unique => fresh,
        CallIds::Duplicate => "call_duplicate".to_owned(),
        CallIds::Empty => String::new(),
    };
    chosen.zip(fresh).map(|(id, fresh)| id.unwrap_or_else(|| scripted(fresh))).collect()
}

fn call<'a>(turn: &Turn, index: usize, id: &'a str, tool: &'a str, arguments: &'a str) -> Deltas<'a> {
    match turn.arguments {
        ArgumentDeltas::Whole => Box::new(std::iter::once(Delta::CallOpen { index, id, tool, arguments })),
        ArgumentDeltas::Every(size) => {
            let open = std::iter::once(Delta::CallOpen { index, id, tool, arguments: "" });
            let more = Slices::of(arguments, size).map(move |arguments| Delta::CallMore { index, arguments });
            Box::new(open.chain(more))
        }
    }
}

/// Empties a batch of neighbouring calls into the order of the turn.
fn ordered<'a>(turn: &Turn, batch: &mut VecDeque<Deltas<'a>>) -> Vec<Deltas<'a>> {
    let calls = std::mem::take(batch);
    match turn.order {
        CallOrder::OneByOne => calls.into(),
        CallOrder::Interleaved => vec![Box::new(Interleaved { calls })],
    }
}

/// One delta of each call in its turn.
struct Interleaved<'a> {
    calls: VecDeque<Deltas<'a>>,
}

impl<'a> Iterator for Interleaved<'a> {
    type Item = Delta<'a>;

    fn next(&mut self) -> Option<Delta<'a>> {
        while let Some(mut call) = self.calls.pop_front() {
            if let Some(delta) = call.next() {
                self.calls.push_back(call);
                return Some(delta);
            }
        }
        None
    }
}

/// Text in slices of so many characters.
struct Slices<'a> {
    rest: &'a str,
    size: usize,
}

impl<'a> Slices<'a> {
    fn of(text: &'a str, size: usize) -> Self {
        Self { rest: text, size }
    }
}

impl<'a> Iterator for Slices<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.char_indices().nth(self.size).map_or(self.rest.len(), |(index, _)| index);
        let (slice, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn ids() -> Vec<String> {
        vec!["a".to_owned(), "b".to_owned()]
    }

    #[test]
    fn text_is_sliced_between_characters() {
        let turn = Turn::text("añ€𝄞z").delta_size(2);
        let found: Vec<Delta<'_>> = deltas(&turn, &[]).collect();
        assert_eq!(found, [Delta::Text("añ"), Delta::Text("€𝄞"), Delta::Text("z")]);
    }

    #[test]
    fn interleaved_calls_alternate_and_a_gate_ends_the_batch() {
        let turn =
            Turn::call("x", json!({})).and_call_text("y", "123").interleaved().arguments_every(2).gate("g");
        let ids = ids();
        let found: Vec<Delta<'_>> = deltas(&turn, &ids).collect();
        let expected = [
            Delta::CallOpen { index: 0, id: "a", tool: "x", arguments: "" },
            Delta::CallOpen { index: 1, id: "b", tool: "y", arguments: "" },
            Delta::CallMore { index: 0, arguments: "{}" },
            Delta::CallMore { index: 1, arguments: "12" },
            Delta::CallMore { index: 1, arguments: "3" },
            Delta::Gate("g"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn ids_are_fresh_chosen_duplicate_or_empty() {
        let turn = Turn::call("x", json!({})).and_call_with_id("mine", "y", json!({}));
        assert_eq!(call_ids(&turn, ids()), ["a", "mine"]);
        assert_eq!(call_ids(&turn.clone().duplicate_ids(), ids()), ["call_duplicate", "mine"]);
        assert_eq!(call_ids(&turn.empty_ids(), ids()), ["", "mine"]);
    }
}
