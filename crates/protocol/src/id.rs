//! Names of things. Each is a newtype, so that a turn cannot be passed where a
//! call is meant. Ids that rein makes are time-ordered: sorting them as text
//! sorts them by creation, also within one millisecond of one process.

use std::fmt;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a text is not an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no {kind} id: those look like `{prefix}_` followed by 26 letters and digits")]
pub struct InvalidId {
    /// The text as given.
    pub text: String,
    /// What it should have named.
    pub kind: &'static str,
    /// The prefix of such ids.
    pub prefix: &'static str,
}

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const BODY: usize = 26;

/// 128 bits, most significant first, as 26 characters whose order is that of the bits.
fn encode(bits: u128) -> String {
    (0..BODY).rev().map(|place| ALPHABET[((bits >> (place * 5)) & 31) as usize] as char).collect()
}

fn is_body(text: &str) -> bool {
    // A resumed session reads tens of thousands of ids: ranges are ten times as quick as a search in the alphabet.
    let is_letter = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'h' | b'j' | b'k' | b'm' | b'n' | b'p'..=b't' | b'v'..=b'z');
    text.len() == BODY && text.bytes().all(is_letter)
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident, $kind:literal, $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// A new id, later than every one made before it in this process.
            #[must_use]
            #[allow(clippy::new_without_default)]
            pub fn new() -> Self {
                Self(format!("{}_{}", $prefix, encode(uuid::Uuid::now_v7().as_u128())))
            }

            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;
            fn from_str(text: &str) -> Result<Self, InvalidId> {
                match text.strip_prefix($prefix).and_then(|rest| rest.strip_prefix('_')) {
                    Some(body) if is_body(body) => Ok(Self(text.to_owned())),
                    _ => Err(InvalidId { text: text.to_owned(), kind: $kind, prefix: $prefix }),
                }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}

ids! {
    /// A conversation.
    SessionId, "session", "ses";
    /// One line of a session's journal.
    EntryId, "entry", "ent";
    /// From a prompt to the moment the agent is idle again.
    TurnId, "turn", "trn";
    /// One tool call. Ours: a provider's own id is kept beside it, because providers repeat theirs.
    CallId, "call", "cal";
    /// A piece of a model's answer, while it streams and afterwards.
    PartId, "part", "prt";
    /// A question to a person.
    AskId, "ask", "ask";
    /// A tool's whole output, kept outside the context.
    ArtifactId, "artifact", "art";
}

/// Content by its BLAKE3 hash, in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct BlobId(pub String);

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Place of an event in its session. Strictly increasing, with gaps.
///
/// The upper part counts openings of the session, the lower part events since
/// then: numbers that a dead process gave to deltas, which are not kept, are
/// never given again.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Seq(pub u64);

impl Seq {
    /// Before everything.
    pub const START: Seq = Seq(0);
    const EPOCH_BITS: u32 = 32;

    /// The place before the first event of the opening after the one that `self` belongs to.
    #[must_use]
    pub fn next_epoch(self) -> Seq {
        Seq(((self.0 >> Self::EPOCH_BITS) + 1) << Self::EPOCH_BITS)
    }

    /// The place right after this one.
    #[must_use]
    pub fn next(self) -> Seq {
        Seq(self.0 + 1)
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Milliseconds since the Unix epoch.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// What the clock says.
    #[must_use]
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

impl EntryId {
    /// Sorts before every id that is made at this moment or later.
    #[must_use]
    pub fn earliest(at: Timestamp) -> Self {
        let milliseconds = u128::try_from(at.0).unwrap_or_default() & 0xffff_ffff_ffff;
        Self(format!("ent_{}", encode(milliseconds << 80)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_creation_also_within_a_millisecond() {
        let made: Vec<EntryId> = (0..5_000).map(|_| EntryId::new()).collect();
        assert!(made.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn what_is_made_from_a_moment_on_sorts_after_it() {
        let before = EntryId::earliest(Timestamp(Timestamp::now().0 - 1));
        let made = EntryId::new();
        let after = EntryId::earliest(Timestamp(Timestamp::now().0 + 1));
        assert!(before < made && made < after, "{before} {made} {after}");
        assert_eq!(before.as_str().parse::<EntryId>().as_ref(), Ok(&before));
        assert!(EntryId::earliest(Timestamp(i64::MIN)) <= EntryId::earliest(Timestamp(0)));
    }

    #[test]
    fn an_id_reads_back_and_rejects_another_kind() {
        let id = SessionId::new();
        assert_eq!(id.as_str().parse::<SessionId>(), Ok(id.clone()));
        let error = id.as_str().parse::<CallId>().unwrap_err();
        assert_eq!(error.prefix, "cal");
        for bad in ["", "ses_", "ses_short", "../etc/passwd", "ses_0000000000000000000000000/"] {
            assert!(bad.parse::<SessionId>().is_err(), "{bad}");
            assert!(serde_json::from_value::<SessionId>(bad.into()).is_err(), "{bad}");
        }
    }

    #[test]
    fn exactly_the_letters_of_the_alphabet_are_accepted() {
        for byte in 0..=127_u8 {
            let text = char::from(byte).to_string().repeat(BODY);
            assert_eq!(is_body(&text), ALPHABET.contains(&byte), "{text}");
        }
    }

    #[test]
    fn an_epoch_begins_after_all_of_the_one_before() {
        let late = Seq(u64::from(u32::MAX));
        assert!(late < Seq(5).next_epoch());
        assert_eq!(Seq::START.next_epoch(), Seq(1 << 32));
    }
}
