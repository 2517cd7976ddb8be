//! What a person does in a session beside talking: commands of their own, names,
//! settings, and taking back what they allowed.

use rein_protocol::{
    CallId, CallResult, EntryBody, EventBody, GivenGrant, ServiceError, SessionChange, Titler,
};
use rein_store::{LONGEST_TITLE, one_line};
use tokio_util::sync::CancellationToken;

use super::Actor;
use crate::dispatch::PersonCommand;

/// Commands of the person that run at once.
const MOST_COMMANDS: usize = 16;

impl Actor {
    /// That the session is neither closed nor broken.
    pub(super) fn check_working(&self) -> Result<(), ServiceError> {
        match self.closing.is_some() || self.failed {
            true => Err(ServiceError::NotOpen { session: self.session.clone() }),
            false => Ok(()),
        }
    }

    /// Runs a command of the person, also while a turn is under way.
    pub(super) fn shell(&mut self, command: String) -> Result<CallId, ServiceError> {
        self.check_working()?;
        rein_tools::bash::person::check(&command)
            .map_err(|complaint| ServiceError::Invalid { message: complaint.0 })?;
        if self.commands.len() >= MOST_COMMANDS {
            let message = format!("{MOST_COMMANDS} of your commands run already: wait for one, or interrupt");
            return Err(ServiceError::Invalid { message });
        }
        let (call, cancel) = (CallId::new(), CancellationToken::new());
        self.hub.emit(EventBody::PersonRuns { call: call.clone(), command: command.clone() });
        let (link, bench) = (self.link.clone(), std::sync::Arc::clone(&self.bench));
        let task = PersonCommand { call: call.clone(), command, link, bench, cancel: cancel.clone() };
        self.commands.insert(call.clone(), cancel);
        tokio::spawn(task.run_and_report());
        Ok(call)
    }

    /// A command of the person is over.
    pub(super) async fn person_ran(&mut self, call: CallId, command: String, result: CallResult) {
        self.commands.remove(&call);
        // A store that fails ends the session; there is nobody else to tell.
        let _ = self.append(vec![EntryBody::PersonRan { call, command, result }]).await;
    }

    /// Ends the commands of the person. They report when they are over.
    pub(super) fn end_commands(&self) {
        self.commands.values().for_each(CancellationToken::cancel);
    }

    pub(super) async fn rename(&mut self, title: &str) -> Result<(), ServiceError> {
        self.check_working()?;
        let title = given_title(title)?;
        self.append_for_service(vec![EntryBody::Titled {
            title,
            by: Titler::Person,
            usage: None,
            cost: None,
        }])
        .await
    }

    pub(super) async fn grants(&self) -> Result<Vec<GivenGrant>, ServiceError> {
        self.gatekeeper.grants().await
    }

    pub(super) async fn revoke(&mut self, given: &GivenGrant) -> Result<(), ServiceError> {
        self.gatekeeper.revoke(given).await
    }

    /// Changes the model, the mode or the effort.
    pub(super) async fn change(&mut self, change: SessionChange) -> Result<(), ServiceError> {
        let mut bodies = Vec::new();
        if let Some(model) = change.model.filter(|model| self.model.as_ref() != Some(model)) {
            self.parts
                .models
                .resolve(&model)
                .map_err(|error| ServiceError::Model { message: crate::turn::describe(&error) })?;
            self.model = Some(model.clone());
            bodies.push(EntryBody::ModelChanged { model });
        }
        let limit = self.parts.options.mode_limit.as_ref();
        let wanted = change.mode.map(|mode| limit.map_or(mode, |limit| limit.applied_to(mode)));
        let mode = wanted.filter(|mode| *mode != self.gatekeeper.mode());
        bodies.extend(mode.map(|mode| EntryBody::ModeChanged { mode }));
        let effort = change.effort.filter(|effort| self.effort != Some(*effort));
        bodies.extend(effort.map(|effort| EntryBody::EffortChanged { effort: Some(effort) }));
        self.append_for_service(bodies).await?;
        self.effort = effort.or(self.effort);
        if let Some(mode) = mode {
            let settled = self.gatekeeper.set_mode(mode);
            self.settle(settled).await;
        }
        Ok(())
    }
}

/// A name for a session as it is kept.
pub(crate) fn given_title(title: &str) -> Result<String, ServiceError> {
    let title = one_line(title, LONGEST_TITLE);
    match title.is_empty() {
        true => Err(ServiceError::Invalid { message: "the name is empty".to_owned() }),
        false => Ok(title),
    }
}
