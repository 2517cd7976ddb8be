//! The providers that come with rein. A new one is a file and a line here.

use super::Provider;

/// In the order in which they are preferred.
const FILES: [(&str, &str); 19] = [
    ("openai", include_str!("../../catalog/openai.toml")),
    ("anthropic", include_str!("../../catalog/anthropic.toml")),
    ("google", include_str!("../../catalog/google.toml")),
    ("openrouter", include_str!("../../catalog/openrouter.toml")),
    ("groq", include_str!("../../catalog/groq.toml")),
    ("together", include_str!("../../catalog/together.toml")),
    ("deepseek", include_str!("../../catalog/deepseek.toml")),
    ("mistral", include_str!("../../catalog/mistral.toml")),
    ("xai", include_str!("../../catalog/xai.toml")),
    ("fireworks", include_str!("../../catalog/fireworks.toml")),
    ("cerebras", include_str!("../../catalog/cerebras.toml")),
    ("bedrock", include_str!("../../catalog/bedrock.toml")),
    ("vertex", include_str!("../../catalog/vertex.toml")),
    ("azure", include_str!("../../catalog/azure.toml")),
    ("azure-deployments", include_str!("../../catalog/azure-deployments.toml")),
    ("ollama", include_str!("../../catalog/ollama.toml")),
    ("llamacpp", include_str!("../../catalog/llamacpp.toml")),
    ("lmstudio", include_str!("../../catalog/lmstudio.toml")),
    ("vllm", include_str!("../../catalog/vllm.toml")),
];

/// Reads them. A file that cannot be read is left out; a test keeps that from happening.
pub(super) fn providers() -> Vec<Provider> {
    FILES
        .iter()
        .filter_map(|(name, text)| match toml::from_str(text) {
            Ok(provider) => Some(provider),
            Err(error) => {
                tracing::error!(name, %error, "a bundled provider cannot be read");
                None
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_file_is_a_provider_with_its_name_and_sound_values() {
        for (name, text) in FILES {
            let provider: Provider = toml::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(provider.name, name);
            assert!(!provider.title.is_empty(), "{name}");
            assert!(!provider.base_url.ends_with('/'), "{name}");
            let local = provider.base_url.starts_with("http://127.0.0.1:");
            assert!(local || provider.base_url.starts_with("https://"), "{name}");
            assert_eq!(local, provider.local_port.is_some(), "{name}");
            assert_eq!(local, provider.key_env.is_empty(), "{name}");
            if let Some(port) = provider.local_port {
                assert!(provider.base_url.contains(&format!(":{port}/")), "{name}");
            }
            if let Some(model) = &provider.default_model {
                assert!(provider.model(model).is_some(), "{name}: {model} is not among its models");
            }
            let mut seen = HashSet::new();
            for model in &provider.models {
                assert!(seen.insert(&model.id), "{name}: {} twice", model.id);
                let (context, output) = (model.context.unwrap_or(u64::MAX), model.output.unwrap_or(0));
                assert!(output <= context, "{name}: {}", model.id);
                if let Some(prices) = &model.prices {
                    assert!(prices.cached_input.unwrap_or(0.0) <= prices.input, "{name}: {}", model.id);
                    assert!(prices.input <= prices.output, "{name}: {}", model.id);
                    assert!(prices.as_of.is_some(), "{name}: {} has prices without a date", model.id);
                }
            }
        }
    }
}
