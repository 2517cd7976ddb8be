//! Messages that wait for their moment, in the order in which they were said.
//!
//! What is taken from here comes as entries that deliver it; making them
//! durable is the actor's business.

use std::collections::VecDeque;

use rein_protocol::transcript::QueuedMessage;
use rein_protocol::{Author, Content, EntryBody, EntryId, StopReason, TurnId};

/// The queue of a session.
pub(super) struct Queue {
    waiting: VecDeque<QueuedMessage>,
    /// The turn of what was said while an interrupted turn was still being wound up.
    awaited: Option<TurnId>,
}

impl Queue {
    pub(super) fn new(waiting: Vec<QueuedMessage>) -> Self {
        Self { waiting: waiting.into(), awaited: None }
    }

    /// What waits, in order.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &QueuedMessage> {
        self.waiting.iter()
    }

    pub(super) fn push(&mut self, message: QueuedMessage) {
        self.waiting.push_back(message);
    }

    /// Whether a message waits that a turn under way goes on with.
    pub(super) fn steers(&self) -> bool {
        self.waiting.iter().any(|message| message.delivery.joins_turn())
    }

    /// Whether a message still waits.
    pub(super) fn holds(&self, queued: &EntryId) -> bool {
        self.waiting.iter().any(|message| message.entry == *queued)
    }

    /// Has a message say something else, or nothing.
    pub(super) fn change(&mut self, queued: &EntryId, content: Option<Vec<Content>>) {
        match content {
            Some(content) => {
                let found = self.waiting.iter_mut().find(|message| message.entry == *queued);
                if let Some(message) = found {
                    message.content = content;
                }
            }
            None => {
                let gone = self.waiting.iter().position(|message| message.entry == *queued);
                let gone = gone.and_then(|place| self.waiting.remove(place));
                // The turn that was to begin with it begins with what else was said for it, or not at all.
                let turn = gone.map(|message| message.turn);
                if turn.is_some() && self.awaited == turn {
                    let rest = self.waiting.iter().any(|message| Some(&message.turn) == turn.as_ref());
                    self.awaited = self.awaited.take().filter(|_| rest);
                }
            }
        }
    }

    /// Has this turn begin when the one under way is over, however that ends.
    pub(super) fn expect(&mut self, turn: &TurnId) {
        self.awaited.get_or_insert_with(|| turn.clone());
    }

    /// The turn that begins after one that stopped like this.
    pub(super) fn next(&mut self, stop: StopReason) -> Option<TurnId> {
        self.awaited.take().or_else(|| match stop {
            StopReason::EndTurn => self.waiting.front().map(|message| message.turn.clone()),
            _ => None,
        })
    }

    /// Takes everything.
    pub(super) fn deliver_all(&mut self, turn: &TurnId) -> Vec<EntryBody> {
        let taken = std::mem::take(&mut self.waiting);
        delivered(taken, turn)
    }

    /// Takes what a turn begins with: the message that it was made for, and what was said before that.
    pub(super) fn deliver_first(&mut self, turn: &TurnId) -> Vec<EntryBody> {
        let place = self.waiting.iter().position(|message| message.turn == *turn);
        let rest = self.waiting.split_off(place.map_or(0, |place| place + 1));
        let taken = std::mem::replace(&mut self.waiting, rest);
        delivered(taken, turn)
    }

    /// Takes what is meant for a turn under way.
    pub(super) fn deliver_steering(&mut self, turn: &TurnId) -> Vec<EntryBody> {
        let all = std::mem::take(&mut self.waiting).into_iter();
        let (taken, kept) = all.partition(|message| message.delivery.joins_turn());
        self.waiting = kept;
        delivered(taken, turn)
    }
}

fn delivered(messages: VecDeque<QueuedMessage>, turn: &TurnId) -> Vec<EntryBody> {
    let delivered = messages.into_iter().map(|message| EntryBody::User {
        turn: turn.clone(),
        content: message.content,
        delivery: message.delivery,
        queued: Some(message.entry),
        author: Author::Person,
    });
    delivered.collect()
}
