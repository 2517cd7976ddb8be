//! Tells from a server's error that it takes no tools for a model.
//!
//! Then the model is asked again with the tools described in words.

use crate::error::ModelError;

/// What servers say, in small letters.
const PHRASES: [&str; 7] = [
    "does not support tools",
    "does not support tool use",
    "does not support function calling",
    "tools param requires --jinja",
    "tool choice requires --enable-auto-tool-choice",
    "no endpoints found that support tool use",
    "tool calling is not supported",
];

/// Whether it was the tools that were refused.
pub(crate) fn refuses_tools(error: &ModelError) -> bool {
    let message = error.message.to_lowercase();
    error.status.is_some_and(|status| status >= 400) && PHRASES.iter().any(|phrase| message.contains(phrase))
}
