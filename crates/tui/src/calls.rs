//! Asks the service and the host what a [`Request`] wants to know.
//!
//! Everything that goes wrong becomes an [`Answer`] too: a person is told, and
//! nothing else changes.

use std::sync::Arc;

use rein_protocol::{EntryBody, EntryId, OpenSession, Service, ServiceError, SessionId};

use crate::host::{Host, HostError};
use crate::model::request::{Answer, Request};
use crate::model::text_of;

/// Asks, and waits for the answer.
pub async fn answer(
    service: &dyn Service,
    host: Option<Arc<dyn Host>>,
    session: Option<SessionId>,
    request: Request,
) -> Answer {
    let asked = match request {
        Request::Models => on_host(host, |host| host.models()).await.map(Answer::Models),
        Request::Doctor => on_host(host, |host| host.doctor()).await.map(Answer::Doctor),
        Request::Settings => on_host(host, |host| host.settings()).await.map(Answer::Settings),
        Request::Themes => {
            Ok(Answer::Themes(on_host(host, |host| Ok(host.themes())).await.unwrap_or_default()))
        }
        Request::Set { key, value } => {
            on_host(host, move |host| host.set(&key, value.as_deref())).await.map(Answer::Said)
        }
        request => match session {
            Some(session) => of_session(service, host, session, request).await,
            None => Err("no session is open yet".to_owned()),
        },
    };
    asked.unwrap_or_else(Answer::Failed)
}

async fn on_host<T: Send + 'static>(
    host: Option<Arc<dyn Host>>,
    ask: impl FnOnce(&dyn Host) -> Result<T, HostError> + Send + 'static,
) -> Result<T, String> {
    let host = host.ok_or("that cannot be seen from here: use the command line of rein")?;
    match tokio::task::spawn_blocking(move || ask(&*host)).await {
        Ok(answer) => answer.map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

async fn of_session(
    service: &dyn Service,
    host: Option<Arc<dyn Host>>,
    session: SessionId,
    request: Request,
) -> Result<Answer, String> {
    let failed = |error: ServiceError| error.to_string();
    Ok(match request {
        Request::Tree => Answer::Tree(service.tree(&session).await.map_err(failed)?),
        Request::Permissions => {
            let grants = service.grants(&session).await.map_err(failed)?;
            let rules = match host {
                Some(host) => on_host(Some(host), |host| host.rules()).await?,
                None => Vec::new(),
            };
            Answer::Permissions(grants, rules)
        }
        Request::Context => {
            let parts = service.context(&session).await.map_err(failed)?;
            Answer::Context(parts, service.get(&session).await.map_err(failed)?.context)
        }
        Request::Look(purpose) => {
            Answer::Looked(purpose, Box::new(service.get(&session).await.map_err(failed)?))
        }
        Request::Compact { focus } => {
            service.compact(&session, focus).await.map_err(failed)?;
            Answer::Done
        }
        Request::Handoff { focus } => {
            Answer::Began(service.handoff(&session, focus).await.map_err(failed)?, "handed off")
        }
        Request::Fork { session: other, at } => {
            let from = other.unwrap_or(session);
            Answer::Began(service.fork(&from, at).await.map_err(failed)?, "forked")
        }
        Request::Rename { session: other, title } => {
            let named = other.unwrap_or_else(|| session.clone());
            rename(service, &session, &named, &title).await.map_err(failed)?;
            Answer::Renamed(named, title)
        }
        Request::Travel(to) => {
            service.travel(&session, Some(to)).await.map_err(failed)?;
            Answer::Done
        }
        Request::Revisit(entry) => revisit(service, &session, entry).await.map_err(failed)?,
        Request::TakeBack { queued, text } => {
            service.requeue(&session, &queued, None).await.map_err(failed)?;
            Answer::ToEdit(text)
        }
        Request::Revoke(grant) => {
            service.revoke(&session, grant).await.map_err(failed)?;
            Answer::Said("taken back: from now on it is asked for again".to_owned())
        }
        Request::Export { file } => {
            let snapshot = service.get(&session).await.map_err(failed)?;
            let written = on_host(host, move |host| host.export(&snapshot, file)).await?;
            Answer::Said(format!("written to {}", written.display()))
        }
        Request::Models | Request::Doctor | Request::Settings | Request::Set { .. } | Request::Themes => {
            Answer::Done
        }
    })
}

/// Goes to before a message and hands out what it said.
async fn revisit(service: &dyn Service, session: &SessionId, entry: EntryId) -> Result<Answer, ServiceError> {
    let mut entries = service.get(session).await?.entries;
    if !entries.iter().any(|known| known.id == entry) {
        // On another branch: its words are known once one is there.
        service.travel(session, Some(entry.clone())).await?;
        entries = service.get(session).await?.entries;
    }
    let Some(found) = entries.iter().find(|known| known.id == entry) else { return Ok(Answer::Done) };
    let EntryBody::User { content, queued, .. } = &found.body else { return Ok(Answer::Done) };
    // A message that had waited follows on the entry with which it waited; both go.
    let waited = queued.as_ref().filter(|queued| found.parent.as_ref() == Some(*queued));
    let first = waited.and_then(|waited| entries.iter().find(|known| known.id == *waited)).unwrap_or(found);
    service.travel(session, first.parent.clone()).await?;
    Ok(Answer::ToEdit(text_of(content)))
}

/// Names a session; one that is not open is opened for it and closed again.
async fn rename(
    service: &dyn Service,
    open: &SessionId,
    named: &SessionId,
    title: &str,
) -> Result<(), ServiceError> {
    if open == named {
        return service.rename(named, title.to_owned()).await;
    }
    service.open(OpenSession { session: Some(named.clone()), ..OpenSession::default() }).await?;
    let done = service.rename(named, title.to_owned()).await;
    service.close(named).await?;
    done
}
