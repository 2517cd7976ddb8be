//! Token counts. Each count of a later event replaces that of an earlier one:
//! they are sums, not what was added.

use rein_protocol::Usage;
use serde_json::Value;

/// Counts as far as they are known.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Tally {
    usage: Usage,
    known: bool,
}

impl Tally {
    /// Takes a `usage` object. The usage if something changed.
    pub(super) fn take(&mut self, value: Option<&Value>) -> Option<Usage> {
        let value = value.filter(|value| value.is_object())?;
        let before = self.known.then_some(self.usage);
        let usage = &mut self.usage;
        let count = |name: &str| value.get(name).and_then(Value::as_u64);
        let within = |name: &str, inner: &str| value.get(name)?.get(inner)?.as_u64();
        let fields = [
            (count("input_tokens"), &mut usage.input),
            (count("output_tokens"), &mut usage.output),
            (count("cache_read_input_tokens"), &mut usage.cache_read),
            (count("cache_creation_input_tokens"), &mut usage.cache_write),
            (within("output_tokens_details", "thinking_tokens"), &mut usage.reasoning),
            (within("cache_creation", "ephemeral_1h_input_tokens"), &mut usage.cache_write_hour),
        ];
        for (said, field) in fields {
            if let Some(said) = said {
                *field = said;
                self.known = true;
            }
        }
        let now = self.known.then_some(self.usage);
        if now == before { None } else { now }
    }
}
