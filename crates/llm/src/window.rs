//! How much really fits into a model that a server on this machine runs.
//!
//! Such servers set a window of their own when they load a model, often a small
//! one, and some cut what is longer without a word. Each says it in its own place;
//! all of them are looked at, so that no name has to be known. Nothing is sent but
//! the name of the model, and no key.

use std::time::Duration;

use rein_http::{BodyEnd, CancellationToken, Client, Method, Request};
use serde_json::{Value, json};

/// How much of a server's answer is read.
const LONGEST_ANSWER: usize = 4 * 1024 * 1024;
/// A window with which an agent gets somewhere.
const ENOUGH: u64 = 32_768;

/// How much fits into a model on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LocalWindow {
    /// Tokens that fit as the server runs it now, if that can be told.
    pub context: Option<u64>,
    /// Tokens that the model was made for, if that can be told.
    pub trained: Option<u64>,
    /// Who says so, and so what changes it.
    pub server: ServerKind,
}

/// A kind of server, told by what it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ServerKind {
    /// Any.
    #[default]
    Unknown,
    /// Ollama.
    Ollama,
    /// llama.cpp.
    LlamaCpp,
    /// LM Studio.
    LmStudio,
    /// vLLM, or another that says it as vLLM does.
    Vllm,
}

impl LocalWindow {
    /// What to tell the person if the window is too small for an agent, with what to do.
    #[must_use]
    pub fn warning(&self, model: &str) -> Option<String> {
        let wanted = self.trained.unwrap_or(ENOUGH).min(ENOUGH);
        let problem = match (self.context, self.server) {
            (Some(context), _) if context >= wanted => return None,
            (Some(context), ServerKind::Ollama) => {
                format!(
                    "`{model}` has a window of {context} tokens, and Ollama cuts longer prompts without a word"
                )
            }
            (Some(context), _) => format!("`{model}` has a window of {context} tokens"),
            (None, ServerKind::Ollama) => format!(
                "Ollama has not loaded `{model}` yet: its window may be as small as 4096 tokens, and longer prompts \
                 are cut without a word"
            ),
            (None, _) => return None,
        };
        let remedy = match self.server {
            ServerKind::Ollama => format!(
                "start the server with OLLAMA_CONTEXT_LENGTH={wanted} ollama serve, or make a model that has it: \
                 printf 'FROM {model}\\nPARAMETER num_ctx {wanted}\\n' | ollama create {} -f /dev/stdin",
                larger(model)
            ),
            ServerKind::LlamaCpp => format!("start llama-server with -c {wanted}"),
            ServerKind::LmStudio => format!(
                "load the model with a context length of {wanted} (lms load {model} --context-length {wanted})"
            ),
            ServerKind::Vllm => format!("start vllm serve with --max-model-len {wanted}"),
            ServerKind::Unknown => format!("let the server load it with {wanted} tokens"),
        };
        Some(format!("{problem}; {remedy}"))
    }
}

/// The name of the same model with a larger window.
fn larger(model: &str) -> String {
    let name = model.rsplit('/').next().unwrap_or(model);
    format!("{}-large-window", name.replace(':', "-"))
}

/// Asks a server how much fits into a model, for no longer than `timeout`. `base_url` is where its API for chats begins.
pub async fn of(http: &Client, base_url: &str, model: &str, timeout: Duration) -> Option<LocalWindow> {
    let root = base_url.trim_end_matches('/').trim_end_matches("/v1");
    let get = |address: String| ask(http, Method::Get, address, None, timeout);
    let show = json!({"model": model}).to_string();
    let (list, props, studio, running, shown) = tokio::join!(
        get(format!("{root}/v1/models")),
        get(format!("{root}/props")),
        get(format!("{root}/api/v0/models")),
        get(format!("{root}/api/ps")),
        ask(http, Method::Post, format!("{root}/api/show"), Some(show), timeout),
    );
    studio
        .and_then(|answer| from_studio(&answer, model))
        .or_else(|| from_ollama(running.as_ref(), shown.as_ref(), model))
        .or_else(|| list.as_ref().and_then(|answer| from_list(answer, model)))
        .or_else(|| props.and_then(|answer| from_props(&answer)))
}

async fn ask(
    http: &Client,
    method: Method,
    address: String,
    body: Option<String>,
    timeout: Duration,
) -> Option<Value> {
    let mut request = Request::new(method, &address).ok()?.with_idle_timeout(timeout);
    if let Some(body) = body {
        request = request.with_header("content-type", "application/json").ok()?.with_body(body);
    }
    let answered = async {
        let mut response = http.send(request, &CancellationToken::new()).await.ok()?;
        if response.status != 200 {
            return None;
        }
        match response.read_limited(LONGEST_ANSWER).await {
            (body, BodyEnd::Whole) => serde_json::from_slice(&body).ok(),
            (_, BodyEnd::Truncated | BodyEnd::Broken(_)) => None,
        }
    };
    tokio::time::timeout(timeout, answered).await.ok().flatten()
}

/// What the list of models says: vLLM its limit, llama.cpp what it was started with.
pub(crate) fn from_list(answer: &Value, model: &str) -> Option<LocalWindow> {
    let entry = named(answer.get("data")?, "id", model)?;
    let number = |value: Option<&Value>| value.and_then(Value::as_u64).filter(|number| *number > 0);
    if let Some(context) = number(entry.get("max_model_len")) {
        return Some(LocalWindow { context: Some(context), trained: None, server: ServerKind::Vllm });
    }
    let meta = entry.get("meta")?;
    let (context, trained) = (number(meta.get("n_ctx")), number(meta.get("n_ctx_train")));
    context?;
    Some(LocalWindow { context, trained, server: ServerKind::LlamaCpp })
}

/// llama.cpp's settings, for each of its slots.
fn from_props(answer: &Value) -> Option<LocalWindow> {
    let settings = answer.get("default_generation_settings")?;
    let context = settings.get("n_ctx").and_then(Value::as_u64).filter(|number| *number > 0)?;
    Some(LocalWindow { context: Some(context), trained: None, server: ServerKind::LlamaCpp })
}

/// LM Studio's own list, where the window is that of a model that is loaded.
fn from_studio(answer: &Value, model: &str) -> Option<LocalWindow> {
    let entry = named(answer.get("data")?, "id", model)?;
    let trained = entry.get("max_context_length").and_then(Value::as_u64)?;
    let context = entry.get("loaded_context_length").and_then(Value::as_u64);
    Some(LocalWindow { context, trained: Some(trained), server: ServerKind::LmStudio })
}

/// Ollama's loaded models, and what it knows of one that is not loaded.
fn from_ollama(running: Option<&Value>, shown: Option<&Value>, model: &str) -> Option<LocalWindow> {
    let loaded = running
        .and_then(|answer| answer.get("models"))
        .and_then(|models| named(models, "name", model).or_else(|| named(models, "model", model)))
        .and_then(|entry| entry.get("context_length"))
        .and_then(Value::as_u64)
        .filter(|number| *number > 0);
    let set = shown
        .and_then(|answer| answer.get("parameters"))
        .and_then(Value::as_str)
        .and_then(|text| text.lines().find_map(|line| line.trim().strip_prefix("num_ctx")))
        .and_then(|number| number.trim().parse().ok());
    let trained = shown
        .and_then(|answer| answer.get("model_info"))
        .and_then(Value::as_object)
        .and_then(|info| info.iter().find(|(name, _)| name.ends_with(".context_length")))
        .and_then(|(_, value)| value.as_u64());
    if loaded.is_none() && trained.is_none() {
        return None;
    }
    Some(LocalWindow { context: loaded.or(set), trained, server: ServerKind::Ollama })
}

/// The entry of a list with a name, with its tag or without.
fn named<'a>(list: &'a Value, field: &str, name: &str) -> Option<&'a Value> {
    list.as_array()?.iter().find(|entry| {
        let id = entry.get(field).and_then(Value::as_str);
        id.is_some_and(|id| id == name || id.strip_suffix(":latest") == Some(name))
    })
}
