//! A session that begins as a copy of another one's branch. Pure: what is to be
//! created comes out.
//!
//! Every entry and artifact gets a name of its own, and whatever named the old
//! ones names the new ones: also the words in which a model was told where the
//! rest of an output is. The mode, the model and the effort are those of now.

use std::collections::HashMap;

use rein_protocol::transcript::Transcript;
use rein_protocol::{ArtifactId, Entry, EntryBody, EntryId, Seq, ServiceError, SessionId, Timestamp, Titler};
use rein_store::{LONGEST_TITLE, NewSession, SessionCopy, SessionRecord, one_line};
use serde_json::Value;

use super::place::{self, Now};

/// How the names of artifacts begin.
const ARTIFACT: &str = "art_";
const WHY: &str = "the session was forked here";

/// The copy of a settled branch of a session.
pub(crate) fn copy(record: &SessionRecord, branch: &[Entry], now: Now) -> Result<SessionCopy, ServiceError> {
    let session = NewSession {
        id: SessionId::new(),
        workspace: record.workspace.clone(),
        model: now.model.clone(),
        mode: now.mode,
        at: Timestamp::now(),
    };
    let now = Now { title: Some((title(record), Titler::Person)), queue: Vec::new(), ..now };
    // There are no other branches to have come from.
    let copied = branch.iter().filter(|entry| !matches!(entry.body, EntryBody::Travelled { .. }));
    let mut names = Names::new(&record.id, &session.id);
    let mut scribe = Scribe { session: session.id.clone(), parent: None, seq: Seq::START.next_epoch() };
    let mut entries = Vec::with_capacity(branch.len());
    for entry in copied {
        names.artifact_of(&entry.body);
        let body = names.renamed(&entry.body)?;
        let copy = scribe.entry(entry.at, body);
        names.entries.insert(entry.id.to_string(), copy.id.to_string());
        entries.push(copy);
    }
    let there = Transcript::of(&entries);
    let rest = place::brought_up_to_date(&there, &now, WHY).into_iter();
    entries.extend(rest.map(|body| scribe.entry(Timestamp::now(), body)).collect::<Vec<_>>());
    Ok(SessionCopy {
        session,
        from: record.id.clone(),
        artifacts: names.artifacts.into_iter().collect(),
        entries,
    })
}

fn title(record: &SessionRecord) -> String {
    let name = if record.title.is_empty() { record.id.as_str() } else { &record.title };
    one_line(&format!("fork of {name}"), LONGEST_TITLE)
}

/// Writes entries that follow each other.
struct Scribe {
    session: SessionId,
    parent: Option<EntryId>,
    seq: Seq,
}

impl Scribe {
    fn entry(&mut self, at: Timestamp, body: EntryBody) -> Entry {
        self.seq = self.seq.next();
        let id = EntryId::new();
        let parent = self.parent.replace(id.clone());
        Entry { id, session: self.session.clone(), parent, seq: self.seq, at, body }
    }
}

/// What things were called and what they are called in the copy.
struct Names {
    /// Entries, which are named by entries after them only, and the session.
    entries: HashMap<String, String>,
    artifacts: HashMap<ArtifactId, ArtifactId>,
}

impl Names {
    fn new(old: &SessionId, new: &SessionId) -> Self {
        Self { entries: HashMap::from([(old.to_string(), new.to_string())]), artifacts: HashMap::new() }
    }

    fn artifact_of(&mut self, body: &EntryBody) {
        if let EntryBody::CallEnded { result, .. } | EntryBody::PersonRan { result, .. } = body
            && let Some(artifact) = &result.artifact
        {
            self.artifacts.entry(artifact.clone()).or_insert_with(ArtifactId::new);
        }
    }

    fn renamed(&self, body: &EntryBody) -> Result<EntryBody, ServiceError> {
        let failed = |error: serde_json::Error| ServiceError::Store {
            message: format!("an entry cannot be copied: {error}"),
        };
        let mut value = serde_json::to_value(body).map_err(failed)?;
        self.rename(&mut value);
        serde_json::from_value(value).map_err(failed)
    }

    /// A text with the artifacts in it named anew, in one pass. Nothing if it names none.
    fn with_artifacts(&self, text: &str) -> Option<String> {
        let mut renamed = String::new();
        let mut done = 0;
        for (at, _) in text.match_indices(ARTIFACT) {
            let rest = text.get(at..).unwrap_or_default();
            let word = rest.find(|next: char| next != '_' && !next.is_ascii_alphanumeric());
            let name = rest.get(..word.unwrap_or(rest.len())).and_then(|name| name.parse().ok());
            let Some((old, new)) = name.and_then(|name: ArtifactId| self.artifacts.get_key_value(&name))
            else {
                continue;
            };
            renamed.push_str(text.get(done..at).unwrap_or_default());
            renamed.push_str(new.as_str());
            done = at + old.as_str().len();
        }
        (done > 0).then(|| renamed + text.get(done..).unwrap_or_default())
    }

    fn rename(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Some(name) = self.entries.get(text.as_str()) {
                    text.clone_from(name);
                } else if let Some(renamed) = self.with_artifacts(text) {
                    *text = renamed;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.rename(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.rename(field)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn artifacts_are_named_anew_wherever_a_text_names_them_and_nothing_else_is() {
        let (old, new, other) = (ArtifactId::new(), ArtifactId::new(), ArtifactId::new());
        let names = Names { entries: HashMap::new(), artifacts: HashMap::from([(old.clone(), new.clone())]) };
        let told = |name: &ArtifactId| format!("é{name}: read artifact://{name}.\n{other} art_ art_{name}");
        // What goes on after a name is another name.
        let longer = format!("{old}x");
        assert_eq!(names.with_artifacts(&longer), None);
        assert_eq!(names.with_artifacts(&told(&old)), Some(told(&new)));
        assert_eq!(names.with_artifacts(&format!("{other} art_")), None);
    }

    #[test]
    fn many_artifacts_are_renamed_in_one_pass() {
        let artifacts: HashMap<ArtifactId, ArtifactId> =
            (0..20_000).map(|_| (ArtifactId::new(), ArtifactId::new())).collect();
        let names = Names { entries: HashMap::new(), artifacts };
        let (old, new): (Vec<&str>, Vec<&str>) =
            names.artifacts.iter().map(|(old, new)| (old.as_str(), new.as_str())).unzip();
        // With a look for each name in each text this would be hours.
        let filler = "x".repeat(10_000);
        for (old, new) in old.iter().zip(&new) {
            assert_eq!(names.with_artifacts(&format!("{filler} {old}")), Some(format!("{filler} {new}")));
        }
    }
}
