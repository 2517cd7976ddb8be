//! From a connection to answers: accepts, routes, picks the turn, renders.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::conduct::Framing;
use super::connection::{Connection, Persistence};
use super::delta::{self, Delta};
use super::play::{BodyFraming, Broken, Player, ResponseHead};
use super::request::RecordedRequest;
use super::script::{Then, guarded};
use super::sse::SseWriter;
use super::state::Shared;
use super::turn::{Kind, Piece, StatusBody, Turn};
use super::wire::{self, Delivery, Reply, Wire};

/// Bytes of events collected before they are handed on.
const RENDER_SIZE: usize = 32 * 1024;

/// Serves connections until told to stop; ends with every task of its own.
pub(crate) async fn accept(listener: std::net::TcpListener, shared: Arc<Shared>, stop: CancellationToken) {
    let listener = match TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return shared.fail(format!("the listening socket cannot be used: {error}")),
    };
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => { connections.spawn(serve(stream, shared.clone())); }
                Err(error) => shared.fail(format!("a connection could not be accepted: {error}")),
            },
            Some(ended) = connections.join_next() => if let Err(error) = ended {
                shared.fail(format!("the model server itself failed: {error}"));
            },
        }
    }
    connections.shutdown().await;
}

async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    let Ok(mut connection) = Connection::new(stream) else { return };
    loop {
        let (chosen, persistence) = match connection.next_request().await {
            Ok(None) => return,
            Ok(Some((request, persistence))) => (choose(&shared, request), persistence),
            Err(malformed) => {
                shared.fail(malformed.to_string());
                (Chosen::aside(Turn::status(400, malformed.to_string())), Persistence::Close)
            }
        };
        let exchange = Exchange::new(&shared, &chosen, persistence);
        match exchange.play(&mut connection).await {
            Ok(Persistence::KeepAlive) => {}
            Ok(Persistence::Close) | Err(Broken::Cut) => return,
            Err(Broken::ClientGone) => return shared.update(|state| state.disconnects += 1),
        }
    }
}

/// A request for an answer: which one, and on which wire.
struct Question {
    request: RecordedRequest,
    number: usize,
    wire: &'static dyn Wire,
}

/// The answer to a request, and what was asked if a turn answers it.
struct Chosen {
    turn: Turn,
    question: Option<Question>,
}

impl Chosen {
    fn aside(turn: Turn) -> Self {
        Self { turn, question: None }
    }
}

/// The answer to a request, which is recorded here.
fn choose(shared: &Shared, mut request: RecordedRequest) -> Chosen {
    let Some(wire) = wire::of(&request) else {
        shared.update(|state| state.others.push(request.clone()));
        return Chosen::aside(aside(shared, &request));
    };
    request.said = wire.conversation(&request.body);
    request.tools = wire.tools(&request.body);
    let (number, turn, then, checks) = shared.update(|state| {
        state.requests.push(request.clone());
        (state.requests.len(), state.turns.pop_front(), state.then.clone(), state.checks.clone())
    });
    let decided = match (turn, then) {
        _ if request.body.is_null() => Err("its body is not JSON".to_owned()),
        (Some(turn), _) => Ok(turn),
        (None, Then::Fail) => Err("the script has no turn left for it".to_owned()),
        (None, Then::Decide(decide)) => guarded(|| decide(&request)).and_then(|decided| decided),
    };
    let checked = decided.and_then(|turn| {
        let mut all = checks.iter().chain(&turn.checks);
        all.try_for_each(|check| {
            check.run(&request).map_err(|error| format!("expectation not met: {error}"))
        })?;
        Ok(turn)
    });
    let turn = checked.unwrap_or_else(|message| {
        let message = format!("request {number}: {message}");
        shared.fail(message.clone());
        Turn::error(500, message).header("x-should-retry", "false")
    });
    Chosen { turn, question: Some(Question { request, number, wire }) }
}

/// Answers that no turn is used for.
fn aside(shared: &Shared, request: &RecordedRequest) -> Turn {
    if request.method == "GET" && matches!(request.path.as_str(), "/v1/models" | "/v1beta/models" | "/models")
    {
        let names = shared.read(|state| state.models.clone());
        let data: Vec<Value> = names
            .iter()
            .map(|name| json!({"id": name, "object": "model", "created": 1_700_000_000, "owned_by": "rein-testkit"}))
            .collect();
        return Turn::status(200, json!({"object": "list", "data": data}));
    }
    let message = format!("the model server does not know {} {}", request.method, request.path);
    shared.fail(message.clone());
    Turn::status(404, json!({"error": {"message": message, "type": "invalid_request_error"}}))
}

/// One request and its answer.
struct Exchange<'a> {
    shared: &'a Shared,
    turn: &'a Turn,
    wire: Option<&'static dyn Wire>,
    reply: Reply<'a>,
    delivery: Delivery,
    persistence: Persistence,
}

impl<'a> Exchange<'a> {
    fn new(shared: &'a Shared, chosen: &'a Chosen, persistence: Persistence) -> Self {
        let Chosen { turn, question } = chosen;
        let question = question.as_ref();
        let fresh = shared.update(|state| state.call_ids(turn.calls()));
        let reply = Reply {
            turn,
            number: question.map_or(0, |question| question.number),
            model: question.map(|question| question.request.model().to_owned()).unwrap_or_default(),
            call_ids: delta::call_ids(turn, fresh),
            usage_asked: question
                .is_some_and(|question| question.wire.asks_for_usage(&question.request.body)),
        };
        let delivery = match (question, &turn.kind) {
            (Some(question), Kind::Says(_)) => question.wire.delivery(&question.request),
            _ => Delivery::Whole,
        };
        let persistence = match turn.conduct.framing {
            Framing::Usual => persistence,
            Framing::UntilClose => Persistence::Close,
        };
        Self { shared, turn, wire: question.map(|question| question.wire), reply, delivery, persistence }
    }

    async fn play(&self, connection: &mut Connection) -> Result<Persistence, Broken> {
        match (self.wire, self.delivery) {
            (Some(wire), Delivery::Stream) => self.stream(wire, connection).await?,
            (None, _) | (_, Delivery::Whole) => self.whole(connection).await?,
        }
        if self.wire.is_some() {
            self.shared.update(|state| state.answers += 1);
        }
        Ok(self.persistence)
    }

    async fn stream(&self, wire: &dyn Wire, connection: &mut Connection) -> Result<(), Broken> {
        let head = self.head(200, "text/event-stream", BodyFraming::Chunked);
        let mut player = Player::begin(connection, self.shared, &self.turn.conduct, &head).await?;
        let mut sse = SseWriter::new(&self.turn.conduct);
        let mut encoder = wire.encoder(&self.reply);
        encoder.open(&mut sse);
        for delta in delta::deltas(self.turn, &self.reply.call_ids) {
            match delta {
                Delta::Gate(name) => {
                    player.push(&sse.take()).await?;
                    player.gate(name).await?;
                }
                Delta::Raw(bytes) => sse.raw(bytes),
                Delta::Data(data) => sse.data(data),
                said => encoder.delta(&said, &mut sse),
            }
            if sse.len() >= RENDER_SIZE {
                player.push(&sse.take()).await?;
            }
        }
        encoder.close(&mut sse);
        player.push(&sse.take()).await?;
        player.finish().await
    }

    async fn whole(&self, connection: &mut Connection) -> Result<(), Broken> {
        let (status, content_type, body) = self.whole_body();
        let head = self.head(status, content_type, BodyFraming::Length(body.len()));
        let mut player = Player::begin(connection, self.shared, &self.turn.conduct, &head).await?;
        for piece in self.turn.pieces() {
            if let Piece::Gate(name) = piece {
                player.gate(name).await?;
            }
        }
        player.push(body.as_bytes()).await?;
        player.finish().await
    }

    fn whole_body(&self) -> (u16, &'static str, String) {
        let json = "application/json";
        match &self.turn.kind {
            Kind::Status { status, body: StatusBody::Json(value) } => (*status, json, value.to_string()),
            Kind::Status { status, body: StatusBody::Text(text) } => (*status, "text/plain", text.clone()),
            Kind::Error { status, message } => {
                let body = self.wire.map(|wire| wire.error(*status, message));
                (*status, json, body.unwrap_or_else(|| json!({"error": message})).to_string())
            }
            Kind::Says(_) => {
                let body = self.wire.map(|wire| wire.whole(&self.reply));
                (200, json, body.unwrap_or_default().to_string())
            }
        }
    }

    fn head(&self, status: u16, content_type: &'static str, usual: BodyFraming) -> ResponseHead<'_> {
        let framing = match self.turn.conduct.framing {
            Framing::Usual => usual,
            Framing::UntilClose => BodyFraming::UntilClose,
        };
        ResponseHead {
            status,
            content_type,
            headers: &self.turn.headers,
            framing,
            persistence: self.persistence,
        }
    }
}
