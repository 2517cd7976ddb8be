//! `rein sessions list`.

use std::fmt::Write as _;
use std::path::Path;

use rein_protocol::{Service, SessionFilter, SessionInfo, SessionState};

use super::{Form, moment};
use crate::error::CommandError;
use crate::stdout;
use crate::terminal::one_line;

const TITLE: usize = 60;

pub(super) async fn list(
    service: &dyn Service,
    workspace: Option<&Path>,
    limit: Option<usize>,
    form: Form,
) -> Result<(), CommandError> {
    let filter = SessionFilter { workspace: workspace.map(Path::to_owned), limit };
    let sessions = service.list(filter).await?;
    match form {
        Form::Json => stdout::print_json(&sessions),
        Form::Text => {
            let text = table(&sessions, workspace);
            stdout::print(|out| out.write_all(text.as_bytes()))
        }
    }
}

/// One line a session; with their directories where those differ.
fn table(sessions: &[SessionInfo], workspace: Option<&Path>) -> String {
    let mut text = String::new();
    if sessions.is_empty() {
        text.push_str(match workspace {
            Some(_) => "no sessions here yet (--all shows those of every directory)\n",
            None => "no sessions yet\n",
        });
    }
    for info in sessions {
        let state = match info.state {
            SessionState::Idle => "",
            SessionState::Running { .. } => "  [running]",
            SessionState::Broken { .. } => "  [broken off]",
        };
        let place = match workspace {
            Some(_) => String::new(),
            None => format!("  {}", one_line(&info.workspace.display().to_string(), TITLE)),
        };
        let (updated, title) = (moment(info.updated), one_line(&info.title, TITLE));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}  {updated}{place}  {title}{state}", info.id);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use rein_protocol::{Mode, SessionId, Timestamp, TurnId};

    fn session(title: &str, state: SessionState) -> SessionInfo {
        SessionInfo {
            id: "ses_00000000000000000000000001".parse::<SessionId>().unwrap(),
            workspace: "/w".into(),
            title: title.to_owned(),
            model: None,
            mode: Mode::Tight,
            effort: None,
            created: Timestamp(0),
            updated: Timestamp(i64::MAX),
            entries: 3,
            seq: rein_protocol::Seq::START,
            state,
        }
    }

    #[test]
    fn a_session_takes_one_line_whatever_its_title_contains() {
        let sessions = [
            session("fix\n\u{1b}[2Jit", SessionState::Idle),
            session("go", SessionState::Broken { turn: TurnId::new() }),
        ];
        assert_eq!(
            table(&sessions, None),
            "ses_00000000000000000000000001  -  /w  fix…\nses_00000000000000000000000001  -  /w  go  [broken off]\n"
        );
        assert_eq!(
            table(&sessions[1..], Some(Path::new("/w"))),
            "ses_00000000000000000000000001  -  go  [broken off]\n"
        );
    }

    #[test]
    fn an_empty_list_says_so() {
        assert!(table(&[], Some(Path::new("/w"))).contains("--all"));
    }
}
