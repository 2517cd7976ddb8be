//! A model's answer while it arrives.

use std::fmt;
use std::time::Duration;

use rein_http::{HttpError, Response};

use crate::auth::{Another, is_about_the_key};
use crate::dialect::Stage;
use crate::endpoint::Endpoint;
use crate::error::{Advice, ModelError, NextKey};
use crate::event::{ModelEvent, condense};
use crate::guard::{Guard, Heard};
use crate::models::Models;
use crate::opened::{Begins, OpenedThinking};
use crate::scrub::Scrubber;
use crate::wire::{AnswerDecoder, Wire};

/// How long trifles are waited for once an answer is complete.
const TRIFLE_TIMEOUT: Duration = Duration::from_secs(10);

/// An answer that arrives. Dropping it closes the connection.
pub struct ModelStream {
    response: Option<Response>,
    decoder: AnswerDecoder,
    scrubber: Scrubber,
    advice: Advice,
    guard: Guard,
    pending: Option<ModelError>,
    opened: Option<OpenedThinking>,
    stage: Option<Stage>,
    asked_as: Option<AskedAs>,
}

/// Who asked, to be told what the provider thinks of them.
struct AskedAs {
    models: Models,
    endpoint: Endpoint,
}

impl fmt::Debug for ModelStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelStream").field("provider", &self.advice.provider).finish_non_exhaustive()
    }
}

impl ModelStream {
    pub(crate) fn new(
        wire: Wire,
        response: Response,
        scrubber: Scrubber,
        advice: Advice,
        guard: Guard,
    ) -> Self {
        let decoder = AnswerDecoder::new(wire);
        Self {
            response: Some(response),
            decoder,
            scrubber,
            advice,
            guard,
            pending: None,
            opened: None,
            stage: None,
            asked_as: None,
        }
    }

    /// With a stage that finds calls in text.
    pub(crate) fn with_stage(mut self, stage: Option<Stage>) -> Self {
        self.stage = stage;
        self
    }

    /// An answer that begins so.
    pub(crate) fn beginning(mut self, begins: Begins) -> Self {
        self.opened = (begins == Begins::Thinking).then(OpenedThinking::default);
        self
    }

    /// With who asked: a key that is turned away in the middle of an answer makes room for the next, too.
    pub(crate) fn with_key(mut self, models: Models, endpoint: Endpoint) -> Self {
        self.asked_as = Some(AskedAs { models, endpoint });
        self
    }

    /// The events of the next piece that arrives, deltas of one part joined;
    /// nothing after the end. An error comes after everything that was decoded
    /// before it. May be dropped while it waits without losing anything.
    pub async fn next(&mut self) -> Result<Option<Vec<ModelEvent>>, ModelError> {
        loop {
            if let Some(error) = self.pending.take() {
                return Err(error);
            }
            let Some(response) = &mut self.response else { return Ok(None) };
            let read = response.chunk().await;
            let mut events = Vec::new();
            let result = match read {
                Ok(Some(bytes)) => {
                    let pushed = self.decoder.push(&bytes, &mut events);
                    let heard = if events.is_empty() { Heard::Nothing } else { Heard::Words };
                    pushed.and_then(|()| self.guard.check(bytes.len(), heard))
                }
                Ok(None) => {
                    self.response = None;
                    self.decoder.finish(&mut events)
                }
                Err(error) => {
                    self.response = None;
                    match (error, self.decoder.settled()) {
                        (HttpError::Cancelled, _) => Err(HttpError::Cancelled.into()),
                        // Only trifles are missing.
                        (_, true) => self.decoder.finish(&mut events),
                        (error, false) => Err(error.into()),
                    }
                }
            };
            if self.decoder.ended() {
                self.response = None;
            } else if let (true, Some(response)) = (self.decoder.settled(), &mut self.response) {
                response.set_idle_timeout(TRIFLE_TIMEOUT);
            }
            let events = self.closed(events, &result);
            let mut events = self.staged(events);
            if let Err(error) = result {
                self.response = None;
                if let Some(stage) = &mut self.stage {
                    stage.fail(&mut events);
                }
                let error = self.turned_away(self.guard.judge(self.advice.add_to(error)));
                self.pending = Some(self.scrubber.clean_error(error));
            }
            if let Some(error) = self.guard.overflow(&mut events) {
                self.pending = Some(self.guard.judge(self.advice.add_to(error)));
            }
            if !events.is_empty() {
                return Ok(Some(condense(events)));
            }
        }
    }

    /// The error, with whether another key takes over.
    fn turned_away(&self, error: ModelError) -> ModelError {
        let Some(AskedAs { models, endpoint }) = self.asked_as.as_ref() else { return error };
        if !is_about_the_key(error.kind) || models.turned_away_by(endpoint, &error) == Another::None {
            return error;
        }
        let error = ModelError { retry_after: Some(Duration::ZERO), next: NextKey::Another, ..error };
        error.with_hint("the next key is used")
    }

    /// With what came before the end of thinking told as that.
    fn closed(&mut self, events: Vec<ModelEvent>, result: &Result<(), ModelError>) -> Vec<ModelEvent> {
        let Some(opened) = &mut self.opened else { return events };
        let mut told = Vec::with_capacity(events.len());
        for event in events {
            opened.push(event, &mut told);
        }
        if result.is_err() {
            opened.fail(&mut told);
        }
        told
    }

    fn staged(&mut self, events: Vec<ModelEvent>) -> Vec<ModelEvent> {
        let Some(stage) = &mut self.stage else { return events };
        let mut staged = Vec::with_capacity(events.len());
        for event in events {
            stage.push(event, &mut staged);
        }
        staged
    }
}
