//! The tree of a session as a person finds a way through it: the messages, the
//! ends of turns, compactions, and where somebody came from another branch.
//!
//! Pure: entries in the order in which they were appended go in, one after the
//! other, and of each only a line is kept.

use std::collections::HashMap;
use std::sync::Arc;

use rein_protocol::message::AssistantPart;
use rein_protocol::{Content, Entry, EntryBody, EntryId, TreeKind, TreeNode};
use rein_store::one_line;

/// Characters of a line.
const LONGEST: usize = 200;

/// The places of a session, as far as it was read.
#[derive(Default)]
pub(crate) struct Tree {
    places: HashMap<EntryId, usize>,
    entries: Vec<Place>,
    nodes: Vec<TreeNode>,
}

/// What is known at an entry.
struct Place {
    parent: Option<usize>,
    /// The nearest node at or above it.
    node: Option<usize>,
    /// The last words of the agent in the turn that is under way there.
    words: Option<Arc<str>>,
}

impl Tree {
    /// Takes the next entry.
    pub(crate) fn add(&mut self, entry: &Entry) {
        let index = self.entries.len();
        let parent = entry.parent.as_ref().and_then(|parent| {
            // A parent is missing only after a salvage: the entry before it takes its place.
            self.places.get(parent).copied().or(index.checked_sub(1))
        });
        let above = parent.and_then(|parent| self.entries.get(parent));
        let (above_node, words) = above.map_or((None, None), |above| (above.node, above.words.clone()));
        let mut place = Place { parent, node: above_node, words };
        if let EntryBody::Part { body: AssistantPart::Text { text }, .. } = &entry.body {
            let line = beginning(text);
            place.words = (!line.is_empty()).then(|| line.into()).or(place.words);
        }
        if let Some((kind, text)) = node(entry, place.words.take_if(|_| ends_turn(entry))) {
            let parent = above_node.and_then(|node| self.nodes.get(node)).map(|node| node.entry.clone());
            place.node = Some(self.nodes.len());
            self.nodes.push(TreeNode {
                entry: entry.id.clone(),
                parent,
                at: entry.at,
                kind,
                text,
                active: false,
            });
        }
        self.places.insert(entry.id.clone(), index);
        self.entries.push(place);
    }

    /// The places to which one can travel, oldest first. The last entry is where the session is.
    pub(crate) fn nodes(mut self) -> Vec<TreeNode> {
        let mut next = self.entries.len().checked_sub(1);
        while let Some(place) = next.and_then(|index| self.entries.get(index)) {
            if let Some(node) = place.node.and_then(|node| self.nodes.get_mut(node)) {
                node.active = true;
            }
            // Parents come first, so that this ends whatever the entries say.
            next = place.parent.filter(|parent| Some(*parent) < next);
        }
        self.nodes
    }
}

fn ends_turn(entry: &Entry) -> bool {
    matches!(entry.body, EntryBody::User { .. } | EntryBody::TurnEnded { .. })
}

fn node(entry: &Entry, words: Option<Arc<str>>) -> Option<(TreeKind, String)> {
    match &entry.body {
        EntryBody::User { content, .. } => Some((TreeKind::User, said(content))),
        EntryBody::TurnEnded { stop, message, .. } => {
            let text = match (words, message) {
                (Some(words), _) => words.as_ref().to_owned(),
                (None, Some(message)) => beginning(&format!("{}: {message}", stop.name())),
                (None, None) => stop.name().to_owned(),
            };
            Some((TreeKind::Agent, text))
        }
        EntryBody::Compacted { compaction } => Some((TreeKind::Compacted, beginning(&compaction.summary))),
        EntryBody::Travelled { .. } => Some((TreeKind::Travelled, "came here from elsewhere".to_owned())),
        _ => None,
    }
}

fn said(content: &[Content]) -> String {
    let lines = content.iter().map(|piece| match piece {
        Content::Text { text } => beginning(text),
        Content::Image { media_type, .. } => format!("[{media_type}]"),
    });
    one_line(&lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" "), LONGEST)
}

/// The first line that says something.
fn beginning(text: &str) -> String {
    text.lines().map(|line| one_line(line, LONGEST)).find(|line| !line.is_empty()).unwrap_or_default()
}
