//! The gate of a call: what the gatekeeper decides is recorded, and only then
//! does the call hear of it.

use rein_protocol::EntryBody;
use tokio::sync::oneshot;

use super::Actor;
use crate::session::gatekeeper::{Settled, Verdict};
use crate::session::link::{Gate, GateRequest};

impl Actor {
    pub(super) async fn gate(&mut self, request: GateRequest, answer: oneshot::Sender<Gate>) {
        if self.activity.is_nudged() || self.failed {
            let _ = answer.send(Gate::Withdrawn);
            return;
        }
        match self.gatekeeper.judge(&request) {
            Verdict::Settled { decision, gate } => {
                self.settle(vec![Settled { request, answer, decision, gate }]).await;
            }
            Verdict::Ask(ask) => {
                if self.append(vec![EntryBody::Asked { ask: ask.clone() }]).await.is_ok() {
                    self.gatekeeper.wait(ask, request, answer);
                }
            }
        }
    }

    /// Records decisions, and only then lets the calls know.
    pub(super) async fn settle(&mut self, settled: Vec<Settled>) {
        for Settled { request, answer, decision, gate } in settled {
            let mut bodies = vec![EntryBody::Decided { call: request.call.clone(), decision }];
            if matches!(gate, Gate::Go { .. }) {
                bodies.push(EntryBody::CallStarted { call: request.call, intent: request.intent });
            }
            if self.append(bodies).await.is_ok() {
                let _ = answer.send(gate);
            }
        }
    }
}
