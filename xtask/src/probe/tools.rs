//! Operations of the tools crate.

use std::collections::BTreeMap;

use rein_tools::apply_patch;
use rein_tools::bound::{self, Keep};
use rein_tools::edit::{self, ReplaceAll};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Answer, Failure, typed};

/// `truncate`.
pub fn truncate(input: &Value) -> Answer {
    #[derive(Deserialize)]
    struct Input {
        text: String,
        max_lines: Option<u64>,
        max_bytes: Option<u64>,
        #[serde(default)]
        keep: Kept,
    }
    #[derive(Deserialize, Default)]
    #[serde(rename_all = "snake_case")]
    enum Kept {
        #[default]
        Head,
        Tail,
        #[serde(alias = "ends", alias = "middle")]
        Both,
    }
    let input: Input = typed(input)?;
    let keep = match input.keep {
        Kept::Head => Keep::Head,
        Kept::Tail => Keep::Tail,
        Kept::Both => Keep::Both,
    };
    let limit = |given: Option<u64>, default: usize| {
        given.map_or(default, |limit| usize::try_from(limit).unwrap_or(usize::MAX))
    };
    let lines = limit(input.max_lines, bound::OUTPUT_LINES);
    let bytes = limit(input.max_bytes, bound::OUTPUT_BYTES);
    let cut = bound::truncate(&input.text, lines, bytes, keep);
    Ok(json!({
        "text": cut.text,
        "truncated": cut.truncated,
        "removed_lines": cut.removed_lines,
        "removed_bytes": cut.removed_bytes,
    }))
}

/// `edit.replace`.
pub fn replace(input: &Value) -> Answer {
    #[derive(Deserialize)]
    struct Input {
        content: String,
        old: String,
        new: String,
        #[serde(default)]
        replace_all: bool,
    }
    let input: Input = typed(input)?;
    let all = if input.replace_all { ReplaceAll::Yes } else { ReplaceAll::No };
    let content = edit::replace(&input.content, &input.old, &input.new, all).map_err(Failure::wrong)?;
    Ok(json!({ "content": content }))
}

/// `patch.apply`.
pub fn patch(input: &Value) -> Answer {
    #[derive(Deserialize)]
    struct Input {
        files: BTreeMap<String, String>,
        patch: String,
    }
    let input: Input = typed(input)?;
    let files = apply_patch::apply(&input.files, &input.patch).map_err(Failure::wrong)?;
    Ok(json!({ "files": files }))
}

#[cfg(test)]
mod tests {
    use super::super::call;
    use super::*;

    #[test]
    fn a_text_is_cut_at_the_end_that_is_not_kept() {
        let cut = |keep: &str| {
            call("truncate", &json!({"text": "a\nb\nc\n", "max_lines": 1, "keep": keep})).unwrap()
        };
        assert_eq!((&cut("head")["text"], &cut("head")["removed_lines"]), (&json!("a"), &json!(2)));
        assert_eq!(cut("tail")["truncated"], true);
        assert!(call("truncate", &json!({"text": "a", "keep": "nothing"})).is_err());
    }

    #[test]
    fn a_patch_is_applied_whole_or_declined() {
        let patch = |line: &str| {
            let patch = format!("*** Begin Patch\n*** Update File: a\n@@\n-{line}\n+new\n*** End Patch");
            call("patch.apply", &json!({"files": {"a": "old\n"}, "patch": patch}))
        };
        assert_eq!(patch("old"), Ok(json!({"files": {"a": "new\n"}})));
        assert!(matches!(patch("other"), Err(Failure::Wrong(_))));
    }

    #[test]
    fn a_replacement_is_made_or_declined_in_words() {
        let input = |old: &str| json!({"content": "a b a", "old": old, "new": "c"});
        assert_eq!(call("edit.replace", &input("b")), Ok(json!({"content": "a c a"})));
        assert!(matches!(call("edit.replace", &input("a")), Err(Failure::Wrong(_))));
        assert!(matches!(call("edit.replace", &json!({})), Err(Failure::Wrong(_))));
    }
}
