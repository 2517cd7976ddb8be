//! The model server when it misbehaves: every byte where it was told.

use std::io::ErrorKind;

use rein_testkit::{ModelServer, Script, Turn};
use serde_json::{Value, json};

use crate::client::{Client, chat, content, events};

fn server(turn: Turn) -> ModelServer {
    ModelServer::start_blocking(Script::new().turn(turn))
}

/// The whole body of a turn when nothing goes wrong.
fn whole(turn: Turn) -> String {
    Client::ask(&server(turn), &chat("hi")).1
}

#[test]
fn a_split_stream_comes_in_pieces_of_exactly_that_size_also_inside_characters() {
    let turn = Turn::text("añ€𝄞").delta_size(1);
    let expected = whole(turn.clone());
    for size in [1, 2, 3, 7] {
        let server = server(turn.clone().split_every(size));
        let mut client = Client::asking(&server, &chat("hi"));
        client.head();
        let chunks: Vec<Vec<u8>> = std::iter::from_fn(|| client.chunk()).collect();
        let (last, others) = chunks.split_last().unwrap();
        assert!(others.iter().all(|chunk| chunk.len() == size) && last.len() <= size, "{size}");
        assert_eq!(String::from_utf8(chunks.concat()).unwrap(), expected);
    }
}

#[test]
fn a_cut_stream_ends_after_exactly_those_bytes_and_without_a_last_chunk() {
    let turn = Turn::text("héllo");
    let expected = whole(turn.clone());
    let inside_character = expected.find('é').unwrap() + 1;
    for place in [0, 1, inside_character, expected.len()] {
        let chunked = server(turn.clone().cut_after(place));
        let mut client = Client::asking(&chunked, &chat("hi"));
        client.head();
        let framed = match place {
            0 => Vec::new(),
            _ => [format!("{place:x}\r\n").as_bytes(), &expected.as_bytes()[..place], b"\r\n"].concat(),
        };
        assert_eq!(client.rest(), Ok(framed));
        let plain = server(turn.clone().cut_after(place).until_close());
        let mut client = Client::asking(&plain, &chat("hi"));
        client.head();
        assert_eq!(client.rest(), Ok(expected.as_bytes()[..place].to_vec()));
        plain.assert_done();
    }
}

#[test]
fn a_cut_body_with_a_length_is_shorter_than_it_promised() {
    let server = server(Turn::status(200, "0123456789").cut_after(4));
    let mut client = Client::asking(&server, &chat("hi"));
    assert_eq!(client.head().header("content-length"), Some("10"));
    assert_eq!(client.rest(), Ok(b"0123".to_vec()));
}

#[test]
fn a_reset_is_an_error_of_the_connection() {
    let server = server(Turn::text("hello").gate_after(20, "read").reset_after(20).until_close());
    let mut client = Client::asking(&server, &chat("hi"));
    client.head();
    client.exactly(20);
    server.open_gate("read");
    assert_eq!(client.rest(), Err(ErrorKind::ConnectionReset));
}

#[test]
fn a_place_that_the_body_never_reaches_is_a_failure() {
    let server = server(Turn::text("x").cut_after(1_000_000));
    let length = Client::ask(&server, &chat("hi")).1.len();
    let expected = format!("Cut after 1000000 bytes was never reached: the body has {length}");
    assert_eq!(server.failures(), [expected]);
}

#[test]
fn a_stalled_stream_sends_nothing_until_it_is_released() {
    let turn = Turn::text("hello").until_close();
    let expected = whole(turn.clone());
    let server = server(turn.stall_after(25));
    let mut client = Client::asking(&server, &chat("hi"));
    client.head();
    server.block_on(server.wait_for_stall());
    assert_eq!(client.exactly(25), &expected.as_bytes()[..25]);
    assert!(client.is_quiet());
    server.release();
    assert_eq!(client.rest(), Ok(expected.as_bytes()[25..].to_vec()));
    server.assert_done();
}

#[test]
fn a_client_that_leaves_a_stalled_stream_or_a_closed_gate_is_noticed() {
    let script = Script::new()
        .turn(Turn::text("x").stall_after(5))
        .turn(Turn::text("x").gate("never"))
        .turn(Turn::text("x").gate_before_head("head"))
        .turn(Turn::text("x").delay(std::time::Duration::from_secs(3600)));
    let server = ModelServer::start_blocking(script);
    for count in 1..=4 {
        let client = Client::asking(&server, &chat("hi"));
        server.block_on(server.wait_for_request(count));
        drop(client);
        server.block_on(server.wait_for_disconnects(count));
    }
    server.assert_done();
}

#[test]
fn a_client_that_leaves_a_stream_under_way_is_noticed() {
    let server = server(Turn::text("x".repeat(20_000_000)).delta_size(1000));
    let mut client = Client::asking(&server, &chat("hi"));
    client.head();
    drop(client);
    server.block_on(server.wait_for_disconnect());
}

#[test]
fn a_client_that_leaves_after_its_answer_is_not_a_disconnect() {
    let server = ModelServer::start_blocking(Script::new().repeat(2, Turn::text("x")));
    Client::ask(&server, &chat("hi"));
    Client::ask(&server, &chat("hi"));
    server.block_on(server.wait_for_answers(2));
    assert_eq!(server.disconnects(), 0);
}

#[test]
fn a_gate_holds_everything_after_it_and_nothing_before_it() {
    let server = server(Turn::text("before").gate("middle").and_text("after").until_close());
    let mut client = Client::asking(&server, &chat("hi"));
    client.head();
    server.block_on(server.wait_for_gate("middle"));
    let open = whole(Turn::text("before"));
    let before = open.split_inclusive("\n\n").take(2).collect::<String>();
    assert_eq!(client.exactly(before.len()), before.as_bytes());
    assert!(client.is_quiet());
    server.open_gate("other");
    assert!(client.is_quiet());
    server.open_gate("middle");
    assert_eq!(content(&String::from_utf8(client.rest().unwrap()).unwrap()), "after");
    server.assert_done();
}

#[test]
fn two_streams_are_interleaved_by_their_gates() {
    let script = Script::reply_with(|request| {
        let name = request.last_user_text();
        Turn::text(name).gate(name).until_close()
    });
    let server = ModelServer::start_blocking(script);
    let mut one = Client::asking(&server, &chat("one"));
    let mut two = Client::asking(&server, &chat("two"));
    for name in ["one", "two"] {
        server.block_on(server.wait_for_gate(name));
    }
    server.open_gate("two");
    two.head();
    assert_eq!(content(&String::from_utf8(two.rest().unwrap()).unwrap()), "two");
    server.open_gate("one");
    one.head();
    assert_eq!(content(&String::from_utf8(one.rest().unwrap()).unwrap()), "one");
}

#[test]
fn a_gate_before_the_head_holds_the_head() {
    let server = server(Turn::text("x").gate_before_head("head"));
    let mut client = Client::asking(&server, &chat("hi"));
    server.block_on(server.wait_for_gate("head"));
    assert!(client.is_quiet());
    server.open_gate("head");
    assert_eq!(client.head().status, 200);
}

#[test]
fn hanging_up_sends_nothing_at_all() {
    let server = server(Turn::hang_up());
    assert_eq!(Client::asking(&server, &chat("hi")).rest(), Ok(Vec::new()));
    server.assert_done();
}

#[test]
fn endings_can_be_missing_or_wrong() {
    let call = || Turn::call("read", json!({}));
    let finish = |turn: Turn| -> Vec<Value> {
        let reasons =
            events(&whole(turn)).into_iter().map(|event| event["choices"][0]["finish_reason"].clone());
        reasons.filter(|reason| !reason.is_null()).collect()
    };
    assert_eq!(finish(call()), ["tool_calls"]);
    assert_eq!(finish(call().finish("stop")), ["stop"]);
    assert_eq!(finish(call().no_finish()), [Value::Null; 0]);
    assert!(whole(call()).ends_with("data: [DONE]\n\n"));
    assert!(!whole(call().no_done()).contains("[DONE]"));
}

#[test]
fn garbage_comments_and_line_ends_are_sent_as_told() {
    let body = whole(Turn::text("a").garbage("{not json").raw("junk\n").no_finish().comments().crlf());
    assert_eq!(body.matches(": keep-alive\r\n\r\n").count(), 4);
    assert!(body.contains("data: {not json\r\n\r\njunk\n: keep-alive\r\n\r\ndata: [DONE]\r\n\r\n"));
}

#[test]
fn ids_can_be_the_same_or_empty_and_reasoning_in_another_field() {
    let calls = Turn::call("a", json!({})).and_call("b", json!({})).arguments_whole();
    let ids = |turn: Turn| -> Vec<String> {
        let events = events(&whole(turn));
        let ids =
            events.iter().filter_map(|event| event["choices"][0]["delta"]["tool_calls"][0]["id"].as_str());
        ids.map(str::to_owned).collect()
    };
    assert_eq!(ids(calls.clone().duplicate_ids()), ["call_duplicate", "call_duplicate"]);
    assert_eq!(ids(calls.empty_ids()), ["", ""]);
    assert!(whole(Turn::reasoning("hm")).contains(r#""delta":{"reasoning_content":"hm"}"#));
    assert!(
        whole(Turn::reasoning("hm").reasoning_field("reasoning")).contains(r#""delta":{"reasoning":"hm"}"#)
    );
}

#[test]
fn a_status_comes_with_its_body_and_headers() {
    let script = Script::new()
        .turn(Turn::status(429, json!({"error": "slow down"})).header("Retry-After", "3"))
        .turn(Turn::status(502, "<html>").header("content-type", "text/html"))
        .turn(Turn::error(529, "overloaded"));
    let server = ModelServer::start_blocking(script);
    let (head, body) = Client::ask(&server, &chat("hi"));
    assert_eq!(
        (head.status, head.header("Retry-After"), body.as_str()),
        (429, Some("3"), r#"{"error":"slow down"}"#)
    );
    let (head, body) = Client::ask(&server, &chat("hi"));
    assert_eq!((head.status, head.header("content-type"), body.as_str()), (502, Some("text/html"), "<html>"));
    let (head, body) = Client::ask(&server, &chat("hi"));
    let error = json!({"message": "overloaded", "type": "server_error", "param": null, "code": null});
    assert_eq!((head.status, serde_json::from_str::<Value>(&body).unwrap()), (529, json!({"error": error})));
    server.assert_done();
}
