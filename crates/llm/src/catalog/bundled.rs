//! The providers that come with rein. A new one is a file and a line here.

use super::Provider;

/// In the order in which they are preferred.
const FILES: &[(&str, &str)] = &[
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
    ("moonshot", include_str!("../../catalog/moonshot.toml")),
    ("zai", include_str!("../../catalog/zai.toml")),
    ("alibaba", include_str!("../../catalog/alibaba.toml")),
    ("minimax", include_str!("../../catalog/minimax.toml")),
    ("sambanova", include_str!("../../catalog/sambanova.toml")),
    ("deepinfra", include_str!("../../catalog/deepinfra.toml")),
    ("novita", include_str!("../../catalog/novita.toml")),
    ("nebius", include_str!("../../catalog/nebius.toml")),
    ("cohere", include_str!("../../catalog/cohere.toml")),
    ("perplexity", include_str!("../../catalog/perplexity.toml")),
    ("nvidia", include_str!("../../catalog/nvidia.toml")),
    ("baseten", include_str!("../../catalog/baseten.toml")),
    ("ovhcloud", include_str!("../../catalog/ovhcloud.toml")),
    ("vercel", include_str!("../../catalog/vercel.toml")),
    ("bedrock", include_str!("../../catalog/bedrock.toml")),
    ("vertex", include_str!("../../catalog/vertex.toml")),
    ("azure", include_str!("../../catalog/azure.toml")),
    ("azure-deployments", include_str!("../../catalog/azure-deployments.toml")),
    ("github", include_str!("../../catalog/github.toml")),
    ("github-copilot", include_str!("../../catalog/github-copilot.toml")),
    ("huggingface", include_str!("../../catalog/huggingface.toml")),
    ("cloudflare", include_str!("../../catalog/cloudflare.toml")),
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
mod tests;
