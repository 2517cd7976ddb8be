//! The model server when it behaves: what it says and what it records.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rein_testkit::{ModelServer, Said, SaidCall, Script, Turn};
use serde_json::{Value, json};

use crate::client::{Client, chat, chat_with_usage, content, events};

fn envelope(choices: &str) -> String {
    let common = r#""object":"chat.completion.chunk","created":1700000000,"model":"m""#;
    format!("data: {{\"id\":\"chatcmpl-1\",{common},\"choices\":{choices}}}\n\n")
}

fn panic_of(run: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(run)).expect_err("it should have panicked");
    panic.downcast_ref::<String>().expect("a message").clone()
}

#[test]
fn a_text_is_streamed_byte_for_byte_as_scripted() {
    let server = ModelServer::start_blocking(Script::new().turn(Turn::text("Héllo").delta_size(3)));
    let (head, body) = Client::ask(&server, &chat("hi"));
    assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")));
    let expected = [
        envelope(r#"[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]"#),
        envelope(r#"[{"index":0,"delta":{"content":"Hél"},"finish_reason":null}]"#),
        envelope(r#"[{"index":0,"delta":{"content":"lo"},"finish_reason":null}]"#),
        envelope(r#"[{"index":0,"delta":{},"finish_reason":"stop"}]"#),
        "data: [DONE]\n\n".to_owned(),
    ];
    assert_eq!(body, expected.concat());
    server.assert_done();
}

#[test]
fn parallel_calls_have_indexes_and_ids_that_no_other_turn_has() {
    let script = Script::new()
        .turn(
            Turn::call("read", json!({"path": "a"}))
                .and_call("bash", json!({"command": "ls"}))
                .arguments_whole(),
        )
        .turn(Turn::call("read", json!({"path": "b"})).arguments_whole());
    let server = ModelServer::start_blocking(script);
    let calls = |body: &str| -> Vec<Value> {
        let deltas =
            events(body).into_iter().map(|event| event["choices"][0]["delta"]["tool_calls"][0].clone());
        deltas.filter(|call| !call.is_null()).collect()
    };
    let call = |index: u64, id: &str, tool: &str, arguments: &str| {
        let function = json!({"name": tool, "arguments": arguments});
        json!({"index": index, "id": id, "type": "function", "function": function})
    };
    let (_, first) = Client::ask(&server, &chat("hi"));
    let (_, second) = Client::ask(&server, &chat("hi"));
    let expected =
        [call(0, "call_1", "read", r#"{"path":"a"}"#), call(1, "call_2", "bash", r#"{"command":"ls"}"#)];
    assert_eq!(calls(&first), expected);
    assert_eq!(calls(&second), [call(0, "call_3", "read", r#"{"path":"b"}"#)]);
    assert!(first.contains(r#""finish_reason":"tool_calls""#));
    server.assert_done();
}

#[test]
fn arguments_come_in_deltas_and_interleaved_where_told() {
    let turn = Turn::call_text("a", "1234").and_call_text("b", "56").arguments_every(2).interleaved();
    let server = ModelServer::start_blocking(Script::new().turn(turn));
    let (_, body) = Client::ask(&server, &chat("hi"));
    let deltas: Vec<(u64, String)> = events(&body)
        .iter()
        .map(|event| &event["choices"][0]["delta"]["tool_calls"][0])
        .filter_map(|call| {
            Some((call["index"].as_u64()?, call["function"]["arguments"].as_str()?.to_owned()))
        })
        .collect();
    let expected = [(0, ""), (1, ""), (0, "12"), (1, "56"), (0, "34")];
    assert_eq!(deltas, expected.map(|(index, text)| (index, text.to_owned())));
}

#[test]
fn usage_is_sent_only_to_those_who_ask_unless_told() {
    let script = Script::new()
        .turn(Turn::text("a").usage(50, 7, 30))
        .turn(Turn::text("a").usage(50, 7, 30))
        .turn(Turn::text("a").usage(50, 7, 30).usage_unasked())
        .turn(Turn::text("a").usage(50, 7, 30).usage_with_finish())
        .turn(Turn::text("a").no_usage());
    let server = ModelServer::start_blocking(script);
    let counts = json!({
        "prompt_tokens": 50, "completion_tokens": 7, "total_tokens": 57,
        "prompt_tokens_details": {"cached_tokens": 30},
    });
    let reported = |body: &Value| -> Vec<(usize, Value)> {
        let found =
            events(&Client::ask(&server, body).1).into_iter().filter(|event| event["usage"].is_object());
        found.map(|event| (event["choices"].as_array().unwrap().len(), event["usage"].clone())).collect()
    };
    assert_eq!(reported(&chat_with_usage("hi")), [(0, counts.clone())]);
    assert_eq!(reported(&chat("hi")), []);
    assert_eq!(reported(&chat("hi")), [(0, counts.clone())]);
    assert_eq!(reported(&chat("hi")), [(1, counts)]);
    assert_eq!(reported(&chat_with_usage("hi")), []);
    server.assert_done();
}

#[test]
fn a_request_that_does_not_stream_gets_one_json_body() {
    let turn = Turn::reasoning("hm").and_text("Hello").and_call("read", json!({"path": "a"})).usage(5, 6, 0);
    let server = ModelServer::start_blocking(Script::new().turn(turn));
    let (head, body) = Client::ask(&server, &json!({"model": "m", "stream": false, "messages": []}));
    assert_eq!(head.header("content-type"), Some("application/json"));
    let function = json!({"name": "read", "arguments": r#"{"path":"a"}"#});
    let expected = json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1_700_000_000, "model": "m",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": "Hello", "reasoning_content": "hm",
            "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
        }}],
        "usage": {
            "prompt_tokens": 5, "completion_tokens": 6, "total_tokens": 11,
            "prompt_tokens_details": {"cached_tokens": 0},
        },
    });
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), expected);
}

#[test]
fn a_connection_is_kept_for_the_next_request_unless_the_client_closes_it() {
    let server = ModelServer::start_blocking(Script::new().repeat(2, Turn::text("x")));
    let mut client = Client::connect(&server);
    client.post(&chat("one"));
    let head = client.head();
    assert_eq!(head.header("connection"), Some("keep-alive"));
    assert_eq!(content(&String::from_utf8(client.body(&head)).unwrap()), "x");
    client.post_with(&chat("two"), "connection: close\r\n");
    let head = client.head();
    assert_eq!(head.header("connection"), Some("close"));
    client.body(&head);
    assert_eq!(client.rest(), Ok(Vec::new()));
    server.block_on(server.wait_for_answers(2));
    assert_eq!(server.disconnects(), 0);
    server.assert_done();
}

#[test]
fn models_are_listed_without_using_a_turn() {
    let server = ModelServer::start_blocking(Script::new().models(["one", "two"]));
    for path in ["/v1/models", "/models"] {
        let mut client = Client::connect(&server);
        client.get(path);
        let head = client.head();
        let body: Value = serde_json::from_slice(&client.body(&head)).unwrap();
        let names: Vec<&str> =
            body["data"].as_array().unwrap().iter().filter_map(|m| m["id"].as_str()).collect();
        assert_eq!((head.status, names), (200, vec!["one", "two"]));
    }
    assert_eq!(server.requests(), []);
    assert_eq!(server.other_requests().len(), 2);
    server.assert_done();
}

#[test]
fn a_request_is_recorded_whole_with_the_conversation_in_it() {
    let server = ModelServer::start_blocking(Script::always(Turn::text("x")));
    let body = json!({
        "model": "big", "stream": true,
        "tools": [{"type": "function", "function": {"name": "read"}}],
        "messages": [
            {"role": "system", "content": "be good"},
            {"role": "user", "content": [{"type": "text", "text": "fix "}, {"type": "text", "text": "it"}]},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}},
            ]},
            {"role": "tool", "tool_call_id": "c1", "content": "text"},
        ],
    });
    let mut client = Client::connect(&server);
    client.post_with(&body, "Authorization: Bearer k\r\n");
    client.head();
    let request = server.block_on(server.wait_for_request(1));
    let call = SaidCall { id: "c1".to_owned(), tool: "read".to_owned(), arguments: "{}".to_owned() };
    let said = vec![
        Said::System("be good".to_owned()),
        Said::User("fix it".to_owned()),
        Said::Assistant { text: String::new(), calls: vec![call] },
        Said::Tool { id: "c1".to_owned(), text: "text".to_owned() },
    ];
    assert_eq!(request.said, said);
    assert_eq!(request.body, body);
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/v1/chat/completions"));
    assert_eq!((request.model(), request.header("authorization")), ("big", Some("Bearer k")));
    assert_eq!((request.assistant_messages(), request.tool_results()), (1, vec![("c1", "text")]));
    assert_eq!((request.last_user_text(), request.system_text().as_str()), ("fix it", "be good"));
    assert_eq!(request.tools, ["read"]);
    assert!(
        request.raw.starts_with(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nAuthorization: Bearer k")
    );
    assert!(request.raw.ends_with(&request.body_bytes));
    assert!(request.contains("Bearer k") && !request.contains("Bearer x"));
}

#[test]
fn a_chunked_request_and_one_that_waits_for_a_go_ahead_are_read() {
    let server = ModelServer::start_blocking(Script::always(Turn::text("x")));
    let mut client = Client::connect(&server);
    client.send("POST /v1/chat/completions HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n");
    client.send("9\r\n{\"model\":\r\n4;x=y\r\n\"m\"}\r\n0\r\n\r\n");
    let head = client.head();
    client.body(&head);
    client.send("POST /v1/chat/completions HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: 13\r\n\r\n");
    assert_eq!(client.head().status, 100);
    client.send("{\"model\":\"n\"}");
    assert_eq!(client.head().status, 200);
    let bodies: Vec<Value> = server.requests().into_iter().map(|request| request.body).collect();
    assert_eq!(bodies, [json!({"model": "m"}), json!({"model": "n"})]);
}

#[test]
fn a_request_without_a_turn_is_answered_with_500_and_remembered() {
    let server = ModelServer::start_blocking(Script::new());
    let (head, body) = Client::ask(&server, &chat("hi"));
    let message = "request 1: the script has no turn left for it";
    let error = json!({"error": {"message": message, "type": "server_error", "param": null, "code": null}});
    assert_eq!((head.status, serde_json::from_str::<Value>(&body).unwrap()), (500, error));
    assert_eq!(server.failures(), [message]);
    assert!(panic_of(|| server.assert_done()).contains(message));
}

#[test]
fn a_turn_that_nobody_asked_for_is_a_failure() {
    let server = ModelServer::start_blocking(Script::new().repeat(3, Turn::text("x")));
    Client::ask(&server, &chat("hi"));
    assert!(panic_of(|| server.assert_done()).contains("2 of the scripted turns were never asked for"));
}

#[test]
fn an_expectation_that_is_not_met_is_named_to_the_client_and_in_the_end() {
    let script = Script::new()
        .turn(Turn::text("a").expect(|request| assert_eq!(request.last_user_text(), "other", "the prompt")))
        .turn(Turn::text("b").expect(|request| request.model() == "other"))
        .turn(Turn::text("c").expect(|_| Err::<(), _>("because")))
        .turn(Turn::text("d").expect(|request| assert_eq!(request.model(), "m")))
        .expect(|request| assert!(request.path.starts_with("/v1/")));
    let server = ModelServer::start_blocking(script);
    let statuses: Vec<u16> = (0..4).map(|_| Client::ask(&server, &chat("hi")).0.status).collect();
    assert_eq!(statuses, [500, 500, 500, 200]);
    let failures = server.failures();
    assert!(
        failures[0]
            .starts_with("request 1: expectation not met: assertion `left == right` failed: the prompt")
    );
    assert_eq!(
        failures[1..],
        ["request 2: expectation not met: it returned false", "request 3: expectation not met: because"]
    );
}

#[test]
fn answers_can_be_a_function_of_the_conversation() {
    let script = Script::by_conversation([Turn::text("first"), Turn::text("second")]);
    let server = ModelServer::start_blocking(script);
    let asking = |assistants: usize| {
        let mut body = chat("hi");
        let said = std::iter::repeat_n(json!({"role": "assistant", "content": "x"}), assistants);
        body["messages"].as_array_mut().unwrap().extend(said);
        let (head, body) = Client::ask(&server, &body);
        (head.status, content_or_nothing(&body))
    };
    assert_eq!(asking(0), (200, "first".to_owned()));
    assert_eq!(asking(1), (200, "second".to_owned()));
    assert_eq!(asking(0), (200, "first".to_owned()));
    assert_eq!(asking(2).0, 500);
    assert_eq!(server.failures().len(), 1);
}

fn content_or_nothing(body: &str) -> String {
    if body.starts_with("data: ") { content(body) } else { String::new() }
}

#[test]
fn a_function_that_panics_is_a_failure_and_the_server_goes_on() {
    let script =
        Script::new().turn(Turn::text("a")).then_reply_with(|request| match request.last_user_text() {
            "good" => Turn::text("b"),
            other => panic!("no answer to {other}"),
        });
    let server = ModelServer::start_blocking(script);
    let statuses = ["any", "bad", "good"].map(|prompt| Client::ask(&server, &chat(prompt)).0.status);
    assert_eq!(statuses, [200, 500, 200]);
    assert_eq!(server.failures(), ["request 2: no answer to bad"]);
}

#[test]
fn an_unknown_path_and_a_malformed_request_are_failures() {
    let server = ModelServer::start_blocking(Script::new());
    let mut client = Client::connect(&server);
    client.get("/v2/other");
    assert_eq!(client.head().status, 404);
    let mut client = Client::connect(&server);
    client.send("nonsense\r\n\r\n");
    assert_eq!(client.head().status, 400);
    let expected = [
        "the model server does not know GET /v2/other",
        "malformed HTTP request: `nonsense` is not a request line",
    ];
    assert_eq!(server.failures(), expected);
}

#[test]
fn two_megabytes_in_small_deltas_arrive_whole() {
    let text = "0123456789abcdef".repeat(2_000_000 / 16);
    let server = ModelServer::start_blocking(Script::new().turn(Turn::text(&text)));
    let (_, body) = Client::ask(&server, &chat("hi"));
    // Read without a JSON parser: there are 100 000 events.
    let deltas: Vec<&str> = body
        .lines()
        .filter_map(|line| Some(line.split_once(r#""delta":{"content":""#)?.1.split_once('"')?.0))
        .collect();
    assert_eq!(deltas.len(), 100_000);
    assert!(deltas.concat() == text);
}

#[test]
fn when_it_is_dropped_connections_end_and_none_is_accepted() {
    let server = ModelServer::start_blocking(Script::new().turn(Turn::text("x").stall_after(10)));
    let address = server.address();
    let mut held = Client::asking(&server, &chat("hi"));
    server.block_on(server.wait_for_stall());
    held.head();
    assert_eq!(held.chunk().unwrap().len(), 10);
    drop(server);
    assert_eq!(held.rest(), Ok(Vec::new()));
    assert!(std::net::TcpStream::connect(address).is_err());
}

#[tokio::test]
async fn it_answers_while_the_tests_only_thread_blocks_and_can_be_awaited() {
    let server = ModelServer::start(Script::new().turn(Turn::text("x"))).await;
    assert_eq!(Client::ask(&server, &chat("hi")).0.status, 200);
    assert_eq!(server.wait_for_request(1).await.last_user_text(), "hi");
    server.wait_for_answers(1).await;
    server.assert_done();
}
