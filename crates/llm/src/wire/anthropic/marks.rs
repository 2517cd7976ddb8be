//! Tells the provider what to keep: `cache_control` behind what will come again.

use serde_json::{Value, json};

use crate::catalog::{CacheStyle, Quirks};
use crate::request::{CacheLifetime, CachePlan};

/// The provider takes no more.
const MOST: usize = 4;

/// Puts marks into what is about to be sent.
pub(super) fn place(
    plan: &CachePlan,
    quirks: &Quirks,
    system: &mut [Value],
    tools: &mut [Value],
    messages: &mut [Value],
) {
    if quirks.cache == CacheStyle::Automatic {
        return;
    }
    let mark = match plan.lifetime {
        CacheLifetime::Minutes5 => json!({"type": "ephemeral"}),
        CacheLifetime::Hour1 => json!({"type": "ephemeral", "ttl": "1h"}),
    };
    let mut left = MOST;
    let mut put = |block: Option<&mut Value>| {
        if let Some(fields) = block.and_then(Value::as_object_mut)
            && left > 0
        {
            left -= 1;
            fields.insert("cache_control".to_owned(), mark.clone());
        }
    };
    if plan.tools && quirks.cache != CacheStyle::MarksWithoutTools {
        put(tools.last_mut());
    }
    if plan.system {
        put(system.last_mut());
    }
    for message in messages.iter_mut().rev().take(plan.messages) {
        let blocks = message.get_mut("content").and_then(Value::as_array_mut);
        put(blocks.and_then(|blocks| blocks.iter_mut().rev().find(|block| takes_mark(block))));
    }
}

/// Thinking takes no mark, and blocks that go back verbatim get none.
fn takes_mark(block: &Value) -> bool {
    let kind = block.get("type").and_then(Value::as_str).unwrap_or_default();
    matches!(kind, "text" | "image" | "tool_use" | "tool_result")
}
