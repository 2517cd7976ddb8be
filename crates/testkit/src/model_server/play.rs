//! Sends a response: each byte at its moment, until the end, a cut, or the
//! departure of the client.
//!
//! Knows HTTP's framing and a turn's conduct, and nothing of what is said.
//! Invariant: when a gate or a stall is reported as reached, every byte before
//! it has been written to the socket and none after it.

use std::collections::VecDeque;

use super::conduct::{Conduct, Fault, Trigger};
use super::connection::{ClientGone, Connection, Persistence};
use super::state::Shared;

/// Bytes in one write, unless the turn splits finer.
const WRITE_SIZE: usize = 32 * 1024;

/// Why a response did not come to its end.
#[derive(Debug)]
pub(crate) enum Broken {
    ClientGone,
    Cut,
}

impl From<ClientGone> for Broken {
    fn from(_: ClientGone) -> Self {
        Self::ClientGone
    }
}

/// How the end of the body is found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum BodyFraming {
    Chunked,
    Length(usize),
    UntilClose,
}

/// The head of a response.
pub(crate) struct ResponseHead<'a> {
    pub(crate) status: u16,
    pub(crate) content_type: &'a str,
    pub(crate) headers: &'a [(String, String)],
    pub(crate) framing: BodyFraming,
    pub(crate) persistence: Persistence,
}

impl ResponseHead<'_> {
    fn render(&self) -> String {
        let mut headers: Vec<(&str, String)> = vec![("content-type", self.content_type.to_owned())];
        match self.framing {
            BodyFraming::Chunked => headers.push(("transfer-encoding", "chunked".to_owned())),
            BodyFraming::Length(length) => headers.push(("content-length", length.to_string())),
            BodyFraming::UntilClose => {}
        }
        let connection = match self.persistence {
            Persistence::KeepAlive => "keep-alive",
            Persistence::Close => "close",
        };
        headers.push(("connection", connection.to_owned()));
        headers.retain(|(name, _)| !self.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name)));
        headers.extend(self.headers.iter().map(|(name, value)| (name.as_str(), value.clone())));
        let mut text = format!("HTTP/1.1 {} {}\r\n", self.status, reason(self.status));
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str("\r\n");
        text
    }
}

/// Sends one response.
pub(crate) struct Player<'a> {
    connection: &'a mut Connection,
    shared: &'a Shared,
    framing: BodyFraming,
    split: Option<usize>,
    triggers: VecDeque<Trigger>,
    /// Bytes of the body taken so far, those that wait in `pending` included.
    taken: usize,
    pending: Vec<u8>,
}

impl<'a> Player<'a> {
    /// Waits as the conduct says and sends the head.
    pub(crate) async fn begin(
        connection: &'a mut Connection,
        shared: &'a Shared,
        conduct: &Conduct,
        head: &ResponseHead<'_>,
    ) -> Result<Self, Broken> {
        if let Some(delay) = conduct.delay {
            connection.hold(tokio::time::sleep(delay)).await?;
        }
        if let Some(gate) = &conduct.held_at {
            pass_gate(connection, shared, gate).await?;
        }
        if conduct.hangs_up {
            return Err(Broken::Cut);
        }
        connection.send(head.render().as_bytes()).await?;
        let (framing, split, triggers) = (head.framing, conduct.split, conduct.triggers().into());
        let mut player = Self { connection, shared, framing, split, triggers, taken: 0, pending: Vec::new() };
        player.push(&[]).await?;
        Ok(player)
    }

    /// Takes more of the body.
    pub(crate) async fn push(&mut self, mut bytes: &[u8]) -> Result<(), Broken> {
        while let Some(trigger) = self.triggers.pop_front_if(|next| next.offset <= self.taken + bytes.len()) {
            let (before, after) = bytes.split_at(trigger.offset.saturating_sub(self.taken));
            self.take(before);
            bytes = after;
            self.flush().await?;
            self.fire(trigger.fault).await?;
        }
        self.take(bytes);
        let unit = self.split.unwrap_or(WRITE_SIZE);
        let whole = self.pending.len() / unit * unit;
        self.write_out(whole).await
    }

    /// Waits at a gate, after everything before it.
    pub(crate) async fn gate(&mut self, name: &str) -> Result<(), Broken> {
        self.flush().await?;
        Ok(pass_gate(self.connection, self.shared, name).await?)
    }

    /// Sends what is left and ends the body.
    pub(crate) async fn finish(mut self) -> Result<(), Broken> {
        self.flush().await?;
        for Trigger { offset, fault } in std::mem::take(&mut self.triggers) {
            let taken = self.taken;
            self.shared
                .fail(format!("{fault:?} after {offset} bytes was never reached: the body has {taken}"));
        }
        if self.framing == BodyFraming::Chunked {
            self.connection.send(b"0\r\n\r\n").await?;
        }
        Ok(())
    }

    fn take(&mut self, bytes: &[u8]) {
        self.taken += bytes.len();
        self.pending.extend_from_slice(bytes);
    }

    async fn flush(&mut self) -> Result<(), Broken> {
        self.write_out(self.pending.len()).await
    }

    /// Writes the first `count` of the pending bytes, in pieces of the size that the turn wants.
    async fn write_out(&mut self, count: usize) -> Result<(), Broken> {
        let rest = self.pending.split_off(count);
        let ready = std::mem::replace(&mut self.pending, rest);
        for piece in ready.chunks(self.split.unwrap_or(WRITE_SIZE)) {
            match self.framing {
                BodyFraming::Chunked => {
                    let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
                    chunk.extend_from_slice(piece);
                    chunk.extend_from_slice(b"\r\n");
                    self.connection.send(&chunk).await?;
                }
                BodyFraming::Length(_) | BodyFraming::UntilClose => self.connection.send(piece).await?,
            }
            if self.split.is_some() {
                tokio::task::yield_now().await;
            }
        }
        Ok(())
    }

    async fn fire(&mut self, fault: Fault) -> Result<(), Broken> {
        match fault {
            Fault::Stall => {
                self.shared.update(|state| state.stalls += 1);
                let released = self.shared.until(|state| state.released.then_some(()));
                Ok(self.connection.hold(released).await?)
            }
            Fault::Gate(name) => Ok(pass_gate(self.connection, self.shared, &name).await?),
            Fault::Cut => Err(Broken::Cut),
            Fault::Reset => {
                self.connection.reset_on_drop();
                Err(Broken::Cut)
            }
        }
    }
}

async fn pass_gate(connection: &mut Connection, shared: &Shared, name: &str) -> Result<(), ClientGone> {
    shared.update(|state| state.reached_gates.insert(name.to_owned()));
    connection.hold(shared.until(|state| state.open_gates.contains(name).then_some(()))).await
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        408 => "Request Timeout",
        413 => "Content Too Large",
        422 => "Unprocessable Content",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        529 => "Overloaded",
        _ => "Scripted",
    }
}
