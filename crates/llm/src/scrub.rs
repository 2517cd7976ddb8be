//! Takes secrets out of texts. Providers echo keys in their error messages.

use secrecy::{ExposeSecret, SecretString};

use crate::error::ModelError;

const MASK: &str = "***";
/// Shorter values are placeholders, and masking them would garble texts.
const SHORTEST: usize = 6;

/// The secrets of one request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scrubber(Vec<SecretString>);

impl Scrubber {
    /// Knows the given secrets.
    pub(crate) fn new(secrets: impl IntoIterator<Item = SecretString>) -> Self {
        let mut secrets: Vec<SecretString> =
            secrets.into_iter().filter(|secret| secret.expose_secret().len() >= SHORTEST).collect();
        // A secret may hold another one: `Bearer KEY` and `KEY`.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.expose_secret().len()));
        Self(secrets)
    }

    /// The text without them.
    pub(crate) fn clean(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret.expose_secret(), MASK))
    }

    /// The error without them.
    pub(crate) fn clean_error(&self, error: ModelError) -> ModelError {
        ModelError {
            message: self.clean(&error.message),
            hint: error.hint.map(|hint| self.clean(&hint)),
            request_id: error.request_id.map(|id| self.clean(&id)),
            ..error
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_wherever_they_are_and_placeholders_are_not() {
        let scrubber = Scrubber::new(["sk-123456".into(), "Bearer sk-123456".into(), "none".into()]);
        assert_eq!(scrubber.clean("none: Bearer sk-123456 and sk-123456 again"), "none: *** and *** again");
        assert!(!format!("{scrubber:?}").contains("123456"));
    }
}
