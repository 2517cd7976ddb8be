//! What can go wrong when a model is asked.
//!
//! An error has a kind, for the program, and the provider's own words, for the
//! person. A provider's status code is only one hint at the kind: [`classify`]
//! looks at the whole answer. No error holds a key.

mod body;
mod classify;
mod hint;
mod phrases;

use std::time::Duration;

use rein_http::HttpError;

use crate::retry;

pub use classify::classify;
pub(crate) use hint::Advice;

/// What kind of thing went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The conversation does not fit into the model's window.
    Overflow,
    /// Too much was asked in too short a time.
    RateLimit,
    /// The provider has trouble of its own.
    Overloaded,
    /// The key is missing, wrong, or not good enough.
    Auth,
    /// The account has no money or allowance left.
    Quota,
    /// There is no such model or address.
    NotFound,
    /// The provider does not accept the request as it is.
    BadRequest,
    /// The provider could not be reached.
    Network,
    /// The provider fell silent.
    Stalled,
    /// The answer broke off.
    Cut,
    /// The answer makes no sense.
    Protocol,
    /// The caller did not want it any more.
    Cancelled,
    /// There is no model to ask.
    NoModel,
    /// Anything else.
    Other,
}

impl ErrorKind {
    /// Whether the same request may succeed later.
    #[must_use]
    pub fn retryable(self) -> bool {
        match self {
            Self::RateLimit | Self::Overloaded | Self::Network | Self::Stalled | Self::Cut => true,
            Self::Overflow
            | Self::Auth
            | Self::Quota
            | Self::NotFound
            | Self::BadRequest
            | Self::Protocol
            | Self::Cancelled
            | Self::NoModel
            | Self::Other => false,
        }
    }

    /// The word in machine formats.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Overflow => "overflow",
            Self::RateLimit => "rate_limit",
            Self::Overloaded => "overloaded",
            Self::Auth => "auth",
            Self::Quota => "quota",
            Self::NotFound => "not_found",
            Self::BadRequest => "bad_request",
            Self::Network => "network",
            Self::Stalled => "stalled",
            Self::Cut => "cut",
            Self::Protocol => "protocol",
            Self::Cancelled => "cancelled",
            Self::NoModel => "no_model",
            Self::Other => "other",
        }
    }
}

/// Why a model was not asked, or did not answer to the end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// What kind of thing went wrong.
    pub kind: ErrorKind,
    /// What went wrong, in the provider's words where there are any.
    pub message: String,
    /// The status of the answer, if there was one.
    pub status: Option<u16>,
    /// How long the provider wants not to be asked.
    pub retry_after: Option<Duration>,
    /// The longest wait after which the same request is tried again by itself.
    pub longest_wait: Duration,
    /// What to do about it.
    pub hint: Option<String>,
    /// The provider's name for the request, for its support.
    pub request_id: Option<String>,
    /// Who asks if the same request is made again.
    pub next: NextKey,
}

/// Who asks if a request is made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NextKey {
    /// The same.
    #[default]
    Same,
    /// Another key takes the place of the one that was turned away.
    Another,
}

impl ModelError {
    /// An error of a kind, in words.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            status: None,
            retry_after: None,
            longest_wait: retry::LONGEST_WAIT,
            hint: None,
            request_id: None,
            next: NextKey::Same,
        }
    }

    /// With what to do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Whether the same request should be tried again by itself: it may
    /// succeed, and not only after a wait that nobody sits through.
    #[must_use]
    pub fn retryable(&self) -> bool {
        self.next == NextKey::Another
            || self.kind.retryable() && self.retry_after.is_none_or(|wait| wait <= self.longest_wait)
    }
}

impl From<HttpError> for ModelError {
    fn from(error: HttpError) -> Self {
        let kind = match &error {
            HttpError::Dns { .. }
            | HttpError::Refused { .. }
            | HttpError::Unreachable { .. }
            | HttpError::Proxy { .. }
            | HttpError::ConnectTimeout { .. } => ErrorKind::Network,
            HttpError::Stalled { .. } => ErrorKind::Stalled,
            HttpError::Cut { .. } => ErrorKind::Cut,
            HttpError::Protocol { .. } | HttpError::EventTooLarge { .. } => ErrorKind::Protocol,
            HttpError::InvalidUrl { .. } | HttpError::InvalidHeader { .. } => ErrorKind::BadRequest,
            HttpError::Cancelled => ErrorKind::Cancelled,
            // A certificate does not become valid by asking again.
            HttpError::Tls { .. }
            | HttpError::CertificateFile { .. }
            | HttpError::Setup { .. }
            | HttpError::Recording { .. }
            | HttpError::Replay { .. }
            | HttpError::RecordFile { .. }
            | HttpError::Listen { .. } => ErrorKind::Other,
        };
        Self::new(kind, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_and_more_is_not_waited_for() {
        let mut error = ModelError::new(ErrorKind::RateLimit, "slow down");
        assert!(error.retryable());
        error.retry_after = Some(Duration::from_secs(900));
        assert!(error.retryable());
        error.retry_after = Some(Duration::from_secs(19_380));
        assert!(!error.retryable());
        assert!(!ModelError::new(ErrorKind::Overflow, "too long").retryable());
    }
}
