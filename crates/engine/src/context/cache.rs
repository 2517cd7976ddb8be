//! Why a provider's cache served less than before: the first part of a request
//! that is not as it was.
//!
//! A request is remembered as a hash for each of its parts, so that what is kept
//! grows with the number of messages and not with their length, and what is done
//! for a step is one pass over what is sent.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::io;
use std::sync::{Mutex, PoisonError};

use rein_llm::ModelRequest;
use rein_protocol::{CacheReport, ModelRef, Usage};
use serde::Serialize;

use crate::prompt::PromptSection;

/// What a request was, part by part, in the order in which a difference counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    head: Vec<(&'static str, u64)>,
    messages: Vec<u64>,
}

impl Fingerprint {
    /// Of a request whose system prompt has these sections.
    pub(crate) fn of(model: &ModelRef, request: &ModelRequest, sections: &[PromptSection]) -> Self {
        let mut head =
            vec![("model", hash(model)), ("effort", hash(&request.effort)), ("tools", hash(&request.tools))];
        let named = sections.iter().map(|section| section.name()).chain(std::iter::repeat("instructions"));
        head.extend(request.system.iter().zip(named).map(|(text, name)| (name, hash(text))));
        Self { head, messages: request.messages.iter().map(hash).collect() }
    }

    /// The first part that is not as it was in `before`; nothing if this only adds to it.
    pub(crate) fn first_changed(&self, before: &Self) -> Option<String> {
        let place = (0..self.head.len().max(before.head.len()))
            .find(|place| self.head.get(*place) != before.head.get(*place));
        if let Some(place) = place {
            let part = self.head.get(place).or_else(|| before.head.get(place));
            return part.map(|(name, _)| (*name).to_owned());
        }
        let place =
            before.messages.iter().enumerate().find(|(place, was)| self.messages.get(*place) != Some(was));
        place.map(|(place, _)| format!("message {}", place + 1))
    }
}

fn hash<T: Serialize + ?Sized>(part: &T) -> u64 {
    let mut sink = HashSink(DefaultHasher::new());
    // What cannot be written is as good as nothing: it is not sent either.
    let _ = serde_json::to_writer(&mut sink, part);
    sink.0.finish()
}

struct HashSink(DefaultHasher);

impl io::Write for HashSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        bytes.hash(&mut self.0);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The last request of a session that was answered.
#[derive(Debug, Default)]
pub(crate) struct CacheWatch {
    last: Mutex<Option<(Fingerprint, u8)>>,
}

impl CacheWatch {
    /// What to record of a request that was answered. Nothing if the provider counted nothing.
    pub(crate) fn report(&self, sent: Fingerprint, usage: Option<Usage>) -> Option<CacheReport> {
        let hit = hit(&usage?)?;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let first_changed = last.as_ref().and_then(|(before, _)| sent.first_changed(before));
        let before = last.replace((sent, hit)).map(|(_, hit)| hit);
        Some(CacheReport { hit, before, first_changed })
    }
}

/// Percent of what was sent that a cache served.
fn hit(usage: &Usage) -> Option<u8> {
    let sent = u128::from(usage.input) + u128::from(usage.cache_read) + u128::from(usage.cache_write);
    let percent = (u128::from(usage.cache_read) * 100).checked_div(sent)?;
    u8::try_from(percent).ok()
}

#[cfg(test)]
mod tests {
    use rein_protocol::{Content, Message, ToolSpec};

    use super::*;

    fn request(messages: &[&str]) -> ModelRequest {
        ModelRequest {
            system: vec!["head".to_owned(), "AGENTS.md".to_owned(), "<env>".to_owned()],
            tools: vec![ToolSpec {
                name: "read".to_owned(),
                description: "reads".to_owned(),
                input_schema: serde_json::json!({}),
            }],
            messages: messages
                .iter()
                .map(|text| Message::User { content: vec![Content::text(*text)] })
                .collect(),
            ..ModelRequest::default()
        }
    }

    const SECTIONS: [PromptSection; 3] =
        [PromptSection::Head, PromptSection::Instructions, PromptSection::Environment];

    fn print(request: &ModelRequest) -> Fingerprint {
        Fingerprint::of(&"test/model".parse().unwrap(), request, &SECTIONS)
    }

    #[test]
    fn the_first_part_that_changed_is_named() {
        let before = print(&request(&["a", "b"]));
        let changed = |change: &dyn Fn(&mut ModelRequest)| {
            let mut next = request(&["a", "b", "c"]);
            change(&mut next);
            print(&next).first_changed(&before)
        };
        assert_eq!(changed(&|_| {}), None);
        for (expected, change) in [
            ("tools", (&|next: &mut ModelRequest| next.tools.clear()) as &dyn Fn(&mut ModelRequest)),
            ("effort", &|next| next.effort = Some(rein_llm::Effort::High)),
            ("head", &|next| next.system[0].push('x')),
            ("instructions", &|next| next.system[1].push('x')),
            ("environment", &|next| next.system[2].push('x')),
            ("message 2", &|next| next.messages[1] = Message::User { content: Vec::new() }),
            ("message 1", &|next| drop(next.messages.remove(0))),
            ("message 2", &|next| next.messages.truncate(1)),
        ] {
            assert_eq!(changed(change).as_deref(), Some(expected));
        }
        let other = Fingerprint::of(&"test/other".parse().unwrap(), &request(&["a", "b"]), &SECTIONS);
        assert_eq!(other.first_changed(&before).as_deref(), Some("model"));
    }

    #[test]
    fn a_report_has_the_share_of_the_cache_now_and_before() {
        let watch = CacheWatch::default();
        let used = |input, cache_read, cache_write| {
            Some(Usage { input, cache_read, cache_write, output: 9, ..Usage::default() })
        };
        let report = |messages: &[&str], usage| watch.report(print(&request(messages)), usage);
        let told = |hit, before, first_changed: Option<&str>| {
            Some(CacheReport { hit, before, first_changed: first_changed.map(str::to_owned) })
        };
        assert_eq!(report(&["a"], used(10, 0, 90)), told(0, None, None));
        assert_eq!(report(&["a", "b"], used(1, 99, 0)), told(99, Some(0), None));
        assert_eq!(report(&["a", "b", "c"], None), None);
        assert_eq!(report(&["a", "b", "c"], used(0, 0, 0)), None);
        assert_eq!(report(&["a", "x", "c"], used(50, 50, 0)), told(50, Some(99), Some("message 2")));
        assert_eq!(report(&["a", "x", "c", "d"], used(u64::MAX, 1, 1)), told(0, Some(50), None));
    }
}
