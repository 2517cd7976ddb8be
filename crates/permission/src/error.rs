//! What can be wrong with a rule that a person wrote or an answer that a face sent.

use rein_protocol::AskId;

/// Why a rule or a reply was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PermissionError {
    /// The part before the colon names no permission.
    #[error(
        "`{spec}` names no known permission: `{permission}` is not one of {known}{}",
        .nearest.as_ref().map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default()
    )]
    UnknownPermission {
        /// The rule as written.
        spec: String,
        /// The part that should have named a permission.
        permission: String,
        /// The permissions there are, separated by commas.
        known: String,
        /// The rule that was probably meant, in full.
        nearest: Option<String>,
    },
    /// There is a colon and nothing after it.
    #[error(
        "`{spec}` has no pattern after the colon: write `{permission}` for everything, or `{permission}:PATTERN`"
    )]
    EmptyPattern {
        /// The rule as written.
        spec: String,
        /// The permission it names.
        permission: String,
    },
    /// The ask was never made or has been settled.
    #[error("ask {ask} is not waiting for an answer")]
    UnknownAsk {
        /// The ask replied to.
        ask: AskId,
    },
    /// An "always" names something that the ask was not about.
    #[error("the answer to ask {ask} allows `{grant}` for good, which is not what was asked")]
    ForeignGrant {
        /// The ask replied to.
        ask: AskId,
        /// The grant, as `permission:pattern`.
        grant: String,
    },
    /// A question was answered with yes, a permission with words, or with a choice that was not there.
    #[error(
        "the answer does not fit ask {ask}: a question takes its choices or words, anything else once, always or reject"
    )]
    WrongAnswer {
        /// The ask replied to.
        ask: AskId,
    },
}
