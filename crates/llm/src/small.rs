//! Small calls by the way: titles, summaries. Asked of the model for small
//! work, bounded in time, and never a reason for the main work to fail: what
//! does not come is simply not there.

use std::time::Duration;

use rein_http::CancellationToken;
use rein_protocol::{Cost, Finish, ModelRef, Usage};

use crate::error::{ErrorKind, ModelError};
use crate::event::ModelEvent;
use crate::models::Models;
use crate::request::{Effort, ModelRequest};
use crate::role::{Role, RoleModel};

/// More than that is no small answer.
const LONGEST_ANSWER: usize = 64 * 1024;

/// What a small call brought.
#[derive(Debug, Clone, PartialEq)]
pub struct SmallAnswer {
    /// Who answered.
    pub model: ModelRef,
    /// Its words, without blanks around them; not empty.
    pub text: String,
    /// What it used, if the provider said so.
    pub usage: Option<Usage>,
    /// What it cost.
    pub cost: Cost,
}

impl Models {
    /// Asks the model of a small role, in a session that works with `current`, and those behind it if it cannot answer.
    /// Nothing if no whole answer came in time, or if the caller did not want it any more. Nobody is asked twice.
    pub async fn small(
        &self,
        role: Role,
        current: &ModelRef,
        request: &ModelRequest,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Option<SmallAnswer> {
        let own = cancel.child_token();
        // However this ends, nothing is left to run.
        let _guard = own.clone().drop_guard();
        match tokio::time::timeout(timeout, self.small_answer(role, current, request, &own)).await {
            Ok(answer) => answer,
            Err(_) => {
                tracing::debug!(role = role.name(), "a small call took too long");
                None
            }
        }
    }

    async fn small_answer(
        &self,
        role: Role,
        current: &ModelRef,
        request: &ModelRequest,
        cancel: &CancellationToken,
    ) -> Option<SmallAnswer> {
        let mut chain = self.chain(role, self.role(role, current));
        loop {
            let asked = chain.current().clone();
            let error = match self.ask_once(&asked, request, cancel).await {
                Ok(answer) => return Some(answer),
                Err(error) => error,
            };
            tracing::debug!(model = %asked.model, kind = error.kind.name(), "a small call failed");
            chain.advance(&error)?;
        }
    }

    async fn ask_once(
        &self,
        asked: &RoleModel,
        request: &ModelRequest,
        cancel: &CancellationToken,
    ) -> Result<SmallAnswer, ModelError> {
        let effort = asked.effort.or(request.effort).or(Some(Effort::Off));
        let request = ModelRequest { effort, ..request.clone() };
        let mut stream = self.stream(&asked.model, &request, cancel.clone()).await?;
        let mut text = String::new();
        let mut usage = None;
        let mut finish = None;
        while let Some(events) = stream.next().await? {
            for event in events {
                match event {
                    ModelEvent::TextDelta { delta, .. } => text.push_str(&delta),
                    ModelEvent::Usage(used) => usage = Some(used),
                    ModelEvent::Finished(how) => finish = Some(how),
                    ModelEvent::ReasoningDelta { .. }
                    | ModelEvent::ReasoningOpaque { .. }
                    | ModelEvent::CallStarted { .. }
                    | ModelEvent::CallDelta { .. }
                    | ModelEvent::CallCompleted { .. } => {}
                }
            }
            if text.len() > LONGEST_ANSWER {
                return Err(ModelError::new(
                    ErrorKind::Protocol,
                    "the answer to a small question has no end",
                ));
            }
        }
        let text = text.trim().to_owned();
        match finish {
            Some(Finish::Stop) if !text.is_empty() => {
                let cost = usage.map_or(Cost::Unknown, |usage| self.cost(&asked.model, &usage));
                Ok(SmallAnswer { model: asked.model.clone(), text, usage, cost })
            }
            _ => Err(ModelError::new(ErrorKind::Other, "no whole answer came")),
        }
    }
}
