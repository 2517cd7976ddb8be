//! Which session is meant by what a person typed.

use std::path::Path;

use rein_protocol::{Service, SessionFilter, SessionId, SessionInfo};

use crate::error::CommandError;

/// Ids begin with the time: a few letters at the end tell sessions apart, and
/// fewer than these would hit by chance.
const SHORTEST: usize = 4;
/// How many candidates are named when a name is not unique.
const CANDIDATES: usize = 5;

/// The session with this id, or the only one whose id begins or ends so.
pub async fn by_name(service: &dyn Service, name: &str) -> Result<SessionInfo, CommandError> {
    let name = name.trim();
    let all = service.list(SessionFilter::default()).await?;
    if name.len() < SHORTEST {
        return Err(CommandError::usage(format!(
            "`{name}` is too short to name a session: give at least {SHORTEST} letters"
        ))
        .hint("`rein sessions list --all` shows every session"));
    }
    let mut matching: Vec<SessionInfo> = all.into_iter().filter(|info| is_meant(&info.id, name)).collect();
    match matching.len() {
        1 => Ok(matching.remove(0)),
        0 => Err(CommandError::usage(format!("there is no session `{name}`"))
            .hint("`rein sessions list --all` shows every session")),
        many => {
            let candidates: Vec<String> = matching
                .iter()
                .take(CANDIDATES)
                .map(|info| format!("{}  {}", info.id, crate::terminal::one_line(&info.title, 60)))
                .collect();
            Err(CommandError::usage(format!("`{name}` is the beginning or end of {many} sessions"))
                .hint(format!("give more of it; the last used are\n{}", candidates.join("\n"))))
        }
    }
}

/// The session that was last used in a directory.
pub async fn last_of(service: &dyn Service, workspace: &Path) -> Result<SessionInfo, CommandError> {
    let filter = SessionFilter { workspace: Some(workspace.to_owned()), limit: Some(1) };
    service.list(filter).await?.into_iter().next().ok_or_else(|| {
        CommandError::usage(format!("there is no session of {} yet", workspace.display()))
            .hint("leave --continue out to begin one, or name another with --resume; `rein sessions list --all` shows every session")
    })
}

fn is_meant(id: &SessionId, name: &str) -> bool {
    let id = id.as_str();
    let body = id.split_once('_').map_or(id, |(_, body)| body);
    id.starts_with(name) || body.starts_with(name) || body.ends_with(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;
    use rein_testkit::{Act, FakeService, FakeSession};

    #[tokio::test]
    async fn a_session_is_found_by_its_id_and_by_either_end_of_it() {
        let (one, other) = (FakeSession::new(), FakeSession::new());
        let (wanted, also) = (one.id(), other.id());
        let service = FakeService::new().session(one).session(other);
        let id = wanted.as_str();
        for name in [id, &id[4..], &id[id.len() - 8..], &format!(" {id} ")] {
            assert_eq!(by_name(&service, name).await.unwrap().id, wanted, "{name}");
        }
        assert_eq!(by_name(&service, also.as_str()).await.unwrap().id, also);
        // Both began within the same second, so that their beginnings are the same.
        for name in [&id[..8], "abc", "", "ses_", "../../x", "zzzz"] {
            assert_eq!(by_name(&service, name).await.unwrap_err().exit(), Exit::Usage, "{name}");
        }
    }

    #[tokio::test]
    async fn the_last_session_is_that_of_the_directory() {
        let here = FakeSession::in_workspace("/here").turn("a", [Act::say("b")]);
        let elsewhere = FakeSession::in_workspace("/elsewhere").turn("a", [Act::say("b")]);
        let wanted = here.id();
        let service = FakeService::new().session(here).session(elsewhere);
        assert_eq!(last_of(&service, Path::new("/here")).await.unwrap().id, wanted);
        assert_eq!(last_of(&service, Path::new("/nowhere")).await.unwrap_err().exit(), Exit::Usage);
    }
}
