//! `rein sessions tree`: the places of a session, a branch after the other.

use std::collections::HashMap;
use std::fmt::Write as _;

use rein_protocol::{EntryId, TreeKind, TreeNode};

use super::{Form, moment};
use crate::error::CommandError;
use crate::stdout;
use crate::terminal::one_line;

const WIDTH: usize = 100;
/// Branches of branches are not indented further than this.
const DEEPEST: usize = 12;

pub(super) fn show(nodes: &[TreeNode], form: Form) -> Result<(), CommandError> {
    match form {
        Form::Json => stdout::print_json(&nodes),
        Form::Text => {
            let text = drawn(nodes);
            stdout::print(|out| out.write_all(text.as_bytes()))
        }
    }
}

/// One line a place. Where there are several ways on, each is indented; a star marks the one that is active.
fn drawn(nodes: &[TreeNode]) -> String {
    let mut children: HashMap<Option<&EntryId>, Vec<&TreeNode>> = HashMap::new();
    for node in nodes {
        children.entry(node.parent.as_ref()).or_default().push(node);
    }
    let mut text = String::new();
    if nodes.is_empty() {
        text.push_str("nothing was said yet\n");
    }
    let mut waiting: Vec<(usize, &TreeNode)> = Vec::new();
    waiting.extend(ways_on(children.remove(&None), 0));
    while let Some((depth, node)) = waiting.pop() {
        let mark = if node.active { '*' } else { ' ' };
        let who = match node.kind {
            TreeKind::User => "you",
            TreeKind::Agent => "agent",
            TreeKind::Compacted => "compacted",
            TreeKind::Travelled => "travelled",
        };
        let (indent, at, line) = ("  ".repeat(depth), moment(node.at), one_line(&node.text, WIDTH));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{mark} {} {at}  {indent}{who}: {line}", node.entry);
        waiting.extend(ways_on(children.remove(&Some(&node.entry)), depth));
    }
    text
}

/// The places that follow on one, the first last, because that is taken first.
fn ways_on(ways: Option<Vec<&TreeNode>>, depth: usize) -> impl Iterator<Item = (usize, &TreeNode)> {
    let ways = ways.unwrap_or_default();
    let depth = if ways.len() > 1 { (depth + 1).min(DEEPEST) } else { depth };
    ways.into_iter().rev().map(move |node| (depth, node))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rein_protocol::Timestamp;

    #[test]
    fn each_way_on_is_indented_and_the_active_one_is_marked() {
        let ids: Vec<EntryId> = (0..4).map(|_| EntryId::new()).collect();
        let node = |place: usize, parent: Option<usize>, text: &str, active: bool| TreeNode {
            entry: ids[place].clone(),
            parent: parent.map(|parent| ids[parent].clone()),
            at: Timestamp(i64::MAX),
            kind: if place == 1 { TreeKind::Agent } else { TreeKind::User },
            text: text.to_owned(),
            active,
        };
        let nodes = [
            node(0, None, "first", true),
            node(1, Some(0), "one\u{1b}[2J", true),
            node(2, Some(1), "old", false),
            node(3, Some(1), "new", true),
        ];
        let expected = format!(
            "* {} -  you: first\n* {} -  agent: one\\u{{1b}}[2J\n  {} -    you: old\n* {} -    you: new\n",
            ids[0], ids[1], ids[2], ids[3]
        );
        assert_eq!(drawn(&nodes), expected);
        assert_eq!(drawn(&[]), "nothing was said yet\n");
    }
}
