//! Which model is used when nobody says, and what is said when there is none.

use rein_http::CancellationToken;
use rein_llm::{Catalog, ErrorKind, ModelError, ModelInfo, Models, ProviderConfig};

use crate::server::{answer, answer_always, listen, models};

async fn choose(models: &Models, wanted: Option<&str>) -> Result<String, ModelError> {
    models.choose(wanted, &CancellationToken::new()).await.map(|model| model.to_string())
}

fn at(name: &str, url: &str) -> ProviderConfig {
    ProviderConfig { name: name.to_owned(), base_url: Some(url.to_owned()), ..ProviderConfig::default() }
}

/// An address where nobody listens.
async fn nowhere() -> String {
    listen().await.1
}

/// The bundled catalog with local servers moved to where nobody listens.
async fn without_local_servers() -> Catalog {
    let mut catalog = Catalog::empty();
    for provider in Catalog::bundled().providers().iter().filter(|provider| provider.local_port.is_none()) {
        let config = ProviderConfig {
            key_env: provider.key_env.clone(),
            default_model: provider.default_model.clone(),
            models: provider.models.clone(),
            ..at(&provider.name, &provider.base_url)
        };
        catalog = catalog.with_provider(config).unwrap();
    }
    catalog
}

fn list(ids: &[&str]) -> String {
    let data: Vec<String> = ids.iter().map(|id| format!("{{\"id\":\"{id}\"}}")).collect();
    answer("200 OK", "", &format!("{{\"object\":\"list\",\"data\":[{}]}}", data.join(",")))
}

#[tokio::test]
async fn a_named_model_is_taken_if_its_provider_can_be_used() {
    let keyed = models(Catalog::bundled(), &[("OPENAI_API_KEY", "k")]);
    assert_eq!(choose(&keyed, Some("openai/anything")).await.unwrap(), "openai/anything");
    assert_eq!(choose(&keyed, Some("ollama/qwen3:8b")).await.unwrap(), "ollama/qwen3:8b");
    assert_eq!(choose(&keyed, Some("groq/llama-3.3-70b-versatile")).await.unwrap_err().kind, ErrorKind::Auth);
    assert_eq!(choose(&keyed, Some("opnai/gpt-5")).await.unwrap_err().kind, ErrorKind::NotFound);
}

#[tokio::test]
async fn a_bare_name_is_taken_if_one_usable_provider_has_it() {
    let catalog = without_local_servers().await;
    let one = models(catalog.clone(), &[("OPENAI_API_KEY", "k")]);
    assert_eq!(choose(&one, Some("gpt-5")).await.unwrap(), "openai/gpt-5");
    let two = models(catalog.clone(), &[("GROQ_API_KEY", "k"), ("TOGETHER_API_KEY", "k")]);
    let error = choose(&two, Some("openai/gpt-oss-120b")).await;
    // `openai` is a provider, so this names one of its models.
    assert_eq!(error.unwrap_err().kind, ErrorKind::Auth);
    let other = at("other", "http://127.0.0.1:9/v1");
    let model = ModelInfo { id: "gpt-5".to_owned(), ..ModelInfo::default() };
    let both = catalog.clone().with_provider(ProviderConfig { models: vec![model], ..other }).unwrap();
    let error = choose(&models(both, &[("OPENAI_API_KEY", "k")]), Some("gpt-5")).await.unwrap_err();
    assert_eq!(error.message, "more than one provider has the model `gpt-5`: openai/gpt-5, other/gpt-5");
    let none = models(catalog.clone(), &[]);
    let error = choose(&none, Some("gpt-5-nano")).await.unwrap_err();
    assert_eq!(error.message, "no key is set for a provider of `gpt-5-nano`: openai (OPENAI_API_KEY)");
    assert_eq!(choose(&one, Some("unheard-of")).await.unwrap_err().kind, ErrorKind::NotFound);
}

#[tokio::test]
async fn a_key_in_the_environment_is_enough() {
    let openai = models(Catalog::bundled(), &[("OPENAI_API_KEY", "k"), ("GROQ_API_KEY", "k")]);
    assert_eq!(choose(&openai, None).await.unwrap(), "openai/gpt-6.1-sol");
    let groq = models(Catalog::bundled(), &[("GROQ_API_KEY", "k")]);
    assert_eq!(choose(&groq, None).await.unwrap(), "groq/openai/gpt-oss-120b");
}

#[tokio::test]
async fn an_address_in_the_environment_is_asked_for_its_models() {
    let (url, server) = answer_always(list(&["own-model", "second"])).await;
    let custom = models(Catalog::bundled(), &[("OPENAI_BASE_URL", &url)]);
    assert_eq!(choose(&custom, None).await.unwrap(), "openai/own-model");
    assert_eq!(choose(&custom, Some("whatever")).await.unwrap(), "openai/whatever");
    server.abort();
    let silent = models(Catalog::bundled(), &[("OPENAI_BASE_URL", &nowhere().await)]);
    assert_eq!(choose(&silent, None).await.unwrap(), "openai/gpt-6.1-sol");
}

#[tokio::test]
async fn a_provider_in_settings_comes_before_others_with_keys() {
    let (url, server) = answer_always(list(&["listed"])).await;
    let catalog = Catalog::bundled().with_provider(at("mine", &url)).unwrap();
    let asked = models(catalog.clone(), &[("GROQ_API_KEY", "k")]);
    assert_eq!(choose(&asked, None).await.unwrap(), "mine/listed");
    let default = ProviderConfig {
        name: "mine".to_owned(),
        default_model: Some("named".to_owned()),
        ..ProviderConfig::default()
    };
    let named = models(catalog.with_provider(default).unwrap(), &[]);
    assert_eq!(choose(&named, None).await.unwrap(), "mine/named");
    server.abort();
}

#[tokio::test]
async fn a_server_on_this_machine_is_found() {
    let (url, server) = answer_always(list(&["qwen3:latest"])).await;
    let mut catalog = Catalog::bundled();
    for name in ["ollama", "llamacpp", "lmstudio", "vllm"] {
        let address = if name == "ollama" { url.clone() } else { nowhere().await };
        catalog = catalog.with_provider(at(name, &address)).unwrap();
    }
    let found = models(catalog, &[]);
    assert_eq!(choose(&found, None).await.unwrap(), "ollama/qwen3:latest");
    assert_eq!(choose(&found, Some("qwen3")).await.unwrap(), "ollama/qwen3");
    server.abort();
}

#[tokio::test]
async fn without_any_model_it_is_said_what_to_do() {
    let error = choose(&models(without_local_servers().await, &[]), None).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::NoModel);
    let hint = error.hint.unwrap();
    for way in
        ["export OPENAI_API_KEY=", "GROQ_API_KEY", "OPENAI_BASE_URL", "provider.NAME.base_url", "rein demo"]
    {
        assert!(hint.contains(way), "{way} is not in {hint}");
    }
}
