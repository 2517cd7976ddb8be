//! Paths as JSON text. A path that is not UTF-8 is written with replacement
//! characters rather than not at all: an entry must never fail to be recorded
//! because of a file's name. Inside one process paths stay exact.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serializer};

pub(crate) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    String::deserialize(deserializer).map(PathBuf::from)
}
