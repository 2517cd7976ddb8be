//! What is written down about rein itself, and that nothing leaves the machine.

use std::io::Read;
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex};

use rein_testkit::{Project, Rein, Turn};
use serde_json::json;

use crate::{asking, server};

/// A run with a call that needs no permission.
fn turns() -> [Turn; 2] {
    [Turn::call("read", json!({"path": "a.txt"})), Turn::text("Done.")]
}

fn log(project: &Project) -> String {
    std::fs::read_to_string(project.rein_home().join("state/log/rein.log")).unwrap_or_default()
}

#[test]
fn the_log_says_how_long_things_took_and_nothing_of_it_is_printed() {
    let (project, server) = (Project::new().file("a.txt", "secret words"), server(turns()));
    let quiet = asking(&project, &server).args(["-p", "read a.txt"]).run();
    quiet.assert_success();
    assert_eq!(log(&project), "", "nothing was wrong");
    let server = crate::server(turns());
    let output = asking(&project, &server).args(["-p", "read a.txt", "--log-level", "info"]).run();
    output.assert_success();
    assert_eq!((output.stdout.trim(), output.stderr.contains("took")), ("Done.", false));
    let log = log(&project);
    for span in ["turn took", "step took", "model_call took", "gate took", "tool took"] {
        assert!(log.contains(span), "{span}: {log}");
    }
    for field in
        ["turn=trn_", "call=cal_", "session=ses_", "first_token_ms=", "output_tokens=", "stop=end_turn"]
    {
        assert!(log.contains(field), "{field}: {log}");
    }
    assert!(
        !log.contains("secret words") && !log.contains("read a.txt"),
        "no text of the conversation: {log}"
    );
}

/// Takes requests and answers each; what came is kept.
fn collector() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let came = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&came);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let kept = Arc::clone(&kept);
            std::thread::spawn(move || {
                let mut text = Vec::new();
                let mut chunk = [0; 4096];
                while let Ok(length @ 1..) = stream.read(&mut chunk) {
                    text.extend_from_slice(&chunk[..length]);
                    if is_whole(&text) {
                        break;
                    }
                }
                kept.lock().unwrap().push(String::from_utf8(text).unwrap());
                let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
                let _ = std::io::Write::write_all(&mut stream, answer);
            });
        }
    });
    (address, came)
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_ascii_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
    length.is_some_and(|length| body.len() >= length)
}

#[test]
fn a_collector_that_was_named_gets_spans_that_belong_together() {
    let (project, server) = (Project::new().file("a.txt", "words"), server(turns()));
    let (address, came) = collector();
    let run = asking(&project, &server).args(["-p", "x"]).env("OTEL_EXPORTER_OTLP_ENDPOINT", &address).run();
    run.assert_success();
    let came = came.lock().unwrap().clone();
    assert!(came[0].starts_with("POST /v1/traces HTTP/1.1"), "{came:?}");
    let body: serde_json::Value = serde_json::from_str(came[0].split_once("\r\n\r\n").unwrap().1).unwrap();
    let spans = body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap();
    let named = |name: &str| spans.iter().find(|span| span["name"] == name).unwrap();
    let (turn, step, tool) = (named("turn"), named("step"), named("tool"));
    assert!(spans.iter().all(|span| span["traceId"] == turn["traceId"]));
    assert_eq!(turn["parentSpanId"], serde_json::Value::Null);
    assert_eq!((&step["parentSpanId"], &tool["parentSpanId"]), (&turn["spanId"], &step["spanId"]));
    assert_eq!(named("model_call")["parentSpanId"], step["spanId"]);
}

#[test]
fn a_collector_that_is_down_costs_nothing() {
    let (project, server) = (Project::new().file("a.txt", "words"), server(turns()));
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let endpoint = format!("otlp.endpoint=\"http://{closed}\"");
    let run = asking(&project, &server).args(["-p", "x", "--config", &endpoint]).run();
    run.assert_success();
    assert_eq!((run.stdout.trim(), run.stderr.contains("otlp")), ("Done.", false), "{run}");
    assert!(log(&project).contains("spans cannot be sent"));
}

/// Every connection to a network address, as the kernel saw it.
fn connections(trace: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(trace).unwrap();
    let lines = text.lines().filter(|line| line.contains("AF_INET"));
    lines.map(str::to_owned).collect()
}

#[test]
fn nothing_but_the_model_server_is_ever_contacted() {
    let project = Project::new().file("a.txt", "words").git();
    let tracer = Path::new("/usr/bin/strace");
    let trace = project.home().join("connections");
    let works = tracer.exists()
        && std::process::Command::new(tracer)
            .args(["-f", "-o", "/dev/null", "true"])
            .status()
            .is_ok_and(|status| status.success());
    let binary = Path::new(env!("CARGO_BIN_EXE_rein"));
    let command = json!({"command": "git status --short; git log | head"});
    let turns = [
        Turn::call("read", json!({"path": "a.txt"})).and_call("bash", command),
        Turn::call("grep", json!({"pattern": "words"})),
        Turn::text("Done."),
    ];
    let server = server(turns);
    // Whoever asks a proxy is heard here and gets no answer.
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    proxy.set_nonblocking(true).unwrap();
    let address = format!("http://{}", proxy.local_addr().unwrap());
    let run = match works {
        true => {
            let file = trace.to_str().unwrap().to_owned();
            let traced = ["-f", "-qq", "-e", "trace=connect,sendto,sendmsg", "-o", &file];
            Rein::with_binary(tracer, &project).args(traced).arg(binary)
        }
        false => Rein::with_binary(binary, &project),
    };
    let run = run.server(&server).args(["--model", "openai/test-model", "--mode", "free", "-p", "go"]);
    let names = ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];
    let run = names.iter().fold(run, |run, name| run.env(name, &address));
    let port = server.base_url().rsplit(':').next().unwrap().split('/').next().unwrap().to_owned();
    let output = run.run();
    output.assert_success();
    assert_eq!(server.requests().len(), 3);
    assert!(proxy.accept().is_err(), "somebody wanted to go out through the proxy");
    if works {
        let made = connections(&trace);
        let model = format!("sin_port=htons({port})");
        assert!(made.iter().any(|line| line.contains(&model)), "{made:?}");
        let others: Vec<&String> = made.iter().filter(|line| !line.contains(&model)).collect();
        assert_eq!(others, Vec::<&String>::new());
    }
}
