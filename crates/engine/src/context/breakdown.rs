//! What a request consists of, and why: how many bytes and about how many tokens
//! each part takes. Pure.

use std::collections::{BTreeMap, HashMap};

use rein_protocol::message::AssistantPart;
use rein_protocol::{CallId, ContextPart, ContextSection, EntryBody};

use super::size::{Ruler, Size};
use super::view::View;
use crate::prompt::{PromptPart, PromptSection};

/// A part of what stands before every conversation.
pub(crate) fn of_prompt(part: &PromptPart, ruler: Ruler) -> ContextPart {
    let section = match part.section {
        PromptSection::Head => ContextSection::Head,
        PromptSection::Instructions => ContextSection::Instructions,
        PromptSection::Environment => ContextSection::Environment,
        PromptSection::Tools => ContextSection::Tools,
    };
    let size = Size::of_text(&part.text);
    ContextPart {
        section,
        name: part.name.clone(),
        why: part.why.clone(),
        tokens: ruler.tokens(size),
        bytes: size.bytes,
    }
}

/// A kind of what is said in a conversation, in the order in which they are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind<'a> {
    Summary,
    User,
    Answers,
    Reasoning,
    Calls,
    Results(&'a str),
    Pruned,
}

/// The conversation, by kinds of what is said in it.
pub(crate) fn of_conversation(view: &View<'_>, ruler: Ruler) -> Vec<ContextPart> {
    let mut kinds: BTreeMap<Kind<'_>, (Size, u64)> = BTreeMap::new();
    let mut add = |kind, size: Size| {
        let (all, count) = kinds.entry(kind).or_default();
        *all += size;
        *count += 1;
    };
    if view.compaction.is_some() {
        add(Kind::Summary, view.preface());
    }
    let mut tools: HashMap<&CallId, &str> = HashMap::new();
    for entry in &view.kept {
        let size = view.size_of(entry);
        match &entry.body {
            EntryBody::User { .. } => add(Kind::User, size),
            EntryBody::Part { body: AssistantPart::Text { .. }, .. } => add(Kind::Answers, size),
            EntryBody::Part { body: AssistantPart::Reasoning { .. }, .. } => add(Kind::Reasoning, size),
            EntryBody::Part { body: AssistantPart::Call(call), .. } => {
                tools.insert(&call.id, &call.tool);
                add(Kind::Calls, size);
            }
            EntryBody::CallEnded { call, .. } if view.pruned.contains_key(call) => add(Kind::Pruned, size),
            EntryBody::CallEnded { call, .. } => {
                add(Kind::Results(tools.get(call).copied().unwrap_or("unknown")), size);
            }
            // What adds nothing is not a part; what others add is told by its size.
            _ if size == Size::default() => {}
            _ => add(Kind::User, size),
        }
    }
    let told = kinds.into_iter().map(|(kind, (size, count))| {
        let (name, why) = described(kind, count);
        ContextPart {
            section: ContextSection::Conversation,
            name,
            why,
            tokens: ruler.tokens(size),
            bytes: size.bytes,
        }
    });
    told.collect()
}

fn described(kind: Kind<'_>, count: u64) -> (String, String) {
    let of = |one: &str, many: &str| match count {
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    };
    let (name, why) = match kind {
        Kind::Summary => ("summary", "stands for the part that was compacted".to_owned()),
        Kind::User => ("user", of("message of the person", "messages of the person")),
        Kind::Answers => ("answers", of("answer of the model", "answers of the model")),
        Kind::Reasoning => {
            ("reasoning", of("thought that the provider wants back", "thoughts that the provider wants back"))
        }
        Kind::Calls => ("calls", of("call with its arguments", "calls with their arguments")),
        Kind::Results(tool) => return (format!("results of {tool}"), of("result", "results")),
        Kind::Pruned => ("pruned results", of("marker in place of a result", "markers in place of results")),
    };
    (name.to_owned(), why)
}

#[cfg(test)]
mod tests {
    use rein_protocol::{CallStatus, Delivery, Finish};

    use super::*;
    use crate::context::branch::{Branch, call_of, words};

    #[test]
    fn a_conversation_is_told_by_kinds_and_all_of_it_is_counted() {
        let mut branch = Branch::new();
        let (read, bash) = (call_of("read", serde_json::json!({})), call_of("bash", serde_json::json!({})));
        branch.user("go", Delivery::Prompt).step().part(words("looking"));
        let thought = AssistantPart::Reasoning { text: "hm".to_owned(), opaque: None };
        branch.part(thought).part(AssistantPart::Call(read.clone())).part(AssistantPart::Call(bash.clone()));
        branch.end(Finish::ToolCalls);
        branch.result(&read, &"x".repeat(700), CallStatus::Completed);
        branch.result(&bash, &"y".repeat(7_000), CallStatus::Failed).prune(&bash, "[left out]");
        let entries = branch.view();
        let view = View::of(&entries);
        let parts = of_conversation(&view, Ruler::default());
        let told: Vec<(&str, &str)> =
            parts.iter().map(|part| (part.name.as_str(), part.why.as_str())).collect();
        assert_eq!(
            told,
            [
                ("user", "1 message of the person"),
                ("answers", "1 answer of the model"),
                ("reasoning", "1 thought that the provider wants back"),
                ("calls", "2 calls with their arguments"),
                ("results of read", "1 result"),
                ("pruned results", "1 marker in place of a result"),
            ]
        );
        assert_eq!(parts.iter().map(|part| part.bytes).sum::<u64>(), view.size().bytes);
        assert!(parts[4].tokens >= 200 && parts[5].bytes < 50, "{parts:?}");
    }
}
