//! Servers on this machine, real and pretended.

use std::time::Duration;

use rein_http::{Client, ClientOptions};
use rein_llm::discovery::local;
use rein_llm::window::ServerKind;
use rein_llm::{Catalog, LocalServer, LocalWindow, ModelInfo, ProviderConfig, Wire};
use tokio::io::AsyncWriteExt;

use crate::server::{answer, answer_always, listen, models, read_request};

#[tokio::test]
async fn only_servers_with_a_list_of_models_are_found_in_order() {
    let (models, first) =
        answer_always(answer("200 OK", "", r#"{"object":"list","data":[{"id":"a"},{"id":"b"}]}"#)).await;
    let (page, second) = answer_always(answer("200 OK", "", "<html>my app</html>")).await;
    let (missing, third) = answer_always(answer("404 Not Found", "", "{}")).await;
    let (garbage, fourth) = answer_always("SSH-2.0-OpenSSH_9.9\r\n".to_owned()).await;
    let (empty, fifth) = answer_always(answer("200 OK", "", r#"{"object":"list","data":[]}"#)).await;
    let (silent_listener, silent) = listen().await;
    let (closed_listener, closed) = listen().await;
    drop(closed_listener);
    let candidates: Vec<(String, String)> = [&silent, &empty, &page, &missing, &garbage, &closed, &models]
        .iter()
        .enumerate()
        .map(|(place, url)| (format!("p{place}"), (*url).clone()))
        .collect();
    let http = Client::new(ClientOptions::default()).unwrap();
    let found = local(&http, &candidates, Duration::from_secs(2)).await;
    let server = |place: usize, url: &str, models: &[&str]| LocalServer {
        provider: format!("p{place}"),
        base_url: url.to_owned(),
        models: models.iter().map(|id| (*id).to_owned()).collect(),
    };
    assert_eq!(found, [server(1, &empty, &[]), server(6, &models, &["a", "b"])]);
    drop(silent_listener);
    for task in [first, second, third, fourth, fifth] {
        task.abort();
    }
}

/// A server that answers each path with its own JSON, and everything else with 404.
async fn answer_paths(
    paths: &'static [(&'static str, &'static str)],
) -> (String, tokio::task::JoinHandle<()>) {
    let (listener, url) = listen().await;
    let task = tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let request = read_request(&mut stream).await;
            let found = paths.iter().find(|(path, _)| request.starts_with(path));
            let bytes = found.map_or_else(
                || answer("404 Not Found", "connection: close\r\n", "{}"),
                |(_, body)| answer("200 OK", "connection: close\r\n", body),
            );
            let _ = stream.write_all(bytes.as_bytes()).await;
            let _ = stream.shutdown().await;
        }
    });
    (url, task)
}

async fn window_at(url: &str) -> (Option<LocalWindow>, Option<u64>) {
    let config = ProviderConfig {
        name: "here".to_owned(),
        base_url: Some(url.to_owned()),
        ..ProviderConfig::default()
    };
    let models = models(Catalog::empty().with_provider(config).unwrap(), &[]);
    let model = "here/m".parse().unwrap();
    (models.local_window(&model).await, models.limits(&model).context)
}

#[tokio::test]
async fn the_window_that_a_server_has_set_up_is_read_from_each_kind() {
    let ollama: &[(&str, &str)] = &[
        (
            "GET /v1/models ",
            r#"{"object":"list","data":[{"id":"m:latest","object":"model","owned_by":"library"}]}"#,
        ),
        (
            "GET /api/ps ",
            r#"{"models":[{"name":"m:latest","model":"m:latest","size":1,"context_length":4096}]}"#,
        ),
        (
            "POST /api/show ",
            r#"{"parameters":"stop \"x\"","model_info":{"general.architecture":"qwen2","qwen2.context_length":32768},"capabilities":["completion","tools"]}"#,
        ),
    ];
    let idle: &[(&str, &str)] = &[
        ("GET /api/ps ", r#"{"models":[]}"#),
        (
            "POST /api/show ",
            r#"{"parameters":"num_ctx                        8192","model_info":{"llama.context_length":131072}}"#,
        ),
    ];
    let unset: &[(&str, &str)] = &[
        ("GET /api/ps ", r#"{"models":[]}"#),
        ("POST /api/show ", r#"{"model_info":{"llama.context_length":131072}}"#),
    ];
    let llama: &[(&str, &str)] =
        &[("GET /props ", r#"{"default_generation_settings":{"n_ctx":16384,"params":{}},"total_slots":1}"#)];
    let listed: &[(&str, &str)] = &[(
        "GET /v1/models ",
        r#"{"data":[{"id":"m","owned_by":"llamacpp","meta":{"n_ctx":16384,"n_ctx_train":32768}}]}"#,
    )];
    let studio: &[(&str, &str)] = &[(
        "GET /api/v0/models ",
        r#"{"data":[{"id":"m","type":"llm","state":"loaded","max_context_length":131072,"loaded_context_length":4096}]}"#,
    )];
    let vllm: &[(&str, &str)] =
        &[("GET /v1/models ", r#"{"object":"list","data":[{"id":"m","max_model_len":40960}]}"#)];
    let none: &[(&str, &str)] = &[("GET /v1/models ", r#"{"data":[{"id":"m"}]}"#)];
    let window = |context, trained, server| Some(LocalWindow { context, trained, server });
    for (paths, expected) in [
        (ollama, window(Some(4096), Some(32768), ServerKind::Ollama)),
        (idle, window(Some(8192), Some(131_072), ServerKind::Ollama)),
        (unset, window(None, Some(131_072), ServerKind::Ollama)),
        (llama, window(Some(16384), None, ServerKind::LlamaCpp)),
        (listed, window(Some(16384), Some(32768), ServerKind::LlamaCpp)),
        (studio, window(Some(4096), Some(131_072), ServerKind::LmStudio)),
        (vllm, window(Some(40960), None, ServerKind::Vllm)),
        (none, None),
    ] {
        let (url, server) = answer_paths(paths).await;
        let context = expected.as_ref().and_then(|window| window.context);
        assert_eq!(window_at(&url).await, (expected, context));
        server.abort();
    }
}

#[test]
fn a_server_that_has_a_window_of_its_own_is_known_by_its_port_or_by_the_settings() {
    let at = |url: &str| {
        let models = models(Catalog::bundled(), &[("OPENAI_BASE_URL", url), ("OPENAI_API_KEY", "k")]);
        models.has_own_window(&"openai/m".parse().unwrap())
    };
    assert!(at("http://127.0.0.1:11434/v1") && at("http://localhost:11434"));
    assert!(
        !at("http://127.0.0.1:9/v1") && !at("https://api.example.com:11434/v1") && !at("http://127.0.0.1")
    );
    let bundled = models(Catalog::bundled(), &[]);
    assert!(bundled.has_own_window(&"ollama/m".parse().unwrap()));
    assert!(!bundled.has_own_window(&"nobody/m".parse().unwrap()));
    let set = |url: &str, wire, context| {
        let config = ProviderConfig {
            name: "mine".to_owned(),
            wire,
            base_url: Some(url.to_owned()),
            models: vec![ModelInfo { context, ..ModelInfo::unlisted("m") }],
            ..ProviderConfig::default()
        };
        let catalog = Catalog::bundled().with_provider(config).unwrap();
        models(catalog, &[]).has_own_window(&"mine/m".parse().unwrap())
    };
    for near in ["http://127.0.0.1:9000/v1", "http://192.168.1.7:8123/v1", "http://box.local/v1"] {
        assert!(set(near, None, None), "{near}");
        assert!(!set(near, None, Some(5)) && !set(near, Some(Wire::Anthropic), None), "{near}");
    }
    assert!(set("http://192.168.1.7:11434/v1", None, Some(5)));
    assert!(!set("https://models.example.com/v1", None, None));
}

#[test]
fn a_window_that_is_too_small_is_told_with_its_remedy() {
    let warning = |context, trained, server| LocalWindow { context, trained, server }.warning("m");
    assert_eq!(
        warning(Some(4096), Some(32768), ServerKind::Ollama).unwrap(),
        "`m` has a window of 4096 tokens, and Ollama cuts longer prompts without a word; start the server with \
         OLLAMA_CONTEXT_LENGTH=32768 ollama serve, or make a model that has it: printf 'FROM m\\nPARAMETER num_ctx \
         32768\\n' | ollama create m-large-window -f /dev/stdin"
    );
    assert!(warning(None, Some(131_072), ServerKind::Ollama).unwrap().contains("not loaded"));
    assert_eq!(
        warning(Some(8192), None, ServerKind::LlamaCpp).unwrap(),
        "`m` has a window of 8192 tokens; start llama-server with -c 32768"
    );
    assert_eq!(warning(Some(8192), Some(8192), ServerKind::Vllm), None);
    assert_eq!(warning(Some(40_000), None, ServerKind::Vllm), None);
    assert_eq!(warning(None, None, ServerKind::Unknown), None);
}
