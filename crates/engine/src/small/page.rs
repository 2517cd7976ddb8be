//! A web page, read by a small model for a question.
//!
//! The page comes fenced and stays data: the model is told so, and its answer
//! is fenced again before the agent sees it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use rein_llm::{ModelRequest, Models, Role};
use rein_protocol::{Content, Message, ModelRef};
use rein_tools::webfetch::Summarise;
use tokio_util::sync::CancellationToken;

use crate::spending;

const SYSTEM: &str = include_str!("../prompts/page.md");
const PATIENCE: Duration = Duration::from_secs(60);
const MOST_TOKENS: u64 = 4_000;

/// Reads pages for questions with the model of the role `small`.
pub struct PageReader {
    models: Arc<Models>,
    current: ModelRef,
    patience: Duration,
}

impl PageReader {
    /// For sessions that work with this model.
    #[must_use]
    pub fn new(models: Arc<Models>, current: ModelRef) -> Self {
        Self { models, current, patience: PATIENCE }
    }

    /// With another limit of time.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }
}

#[async_trait]
impl Summarise for PageReader {
    async fn summarise(&self, question: &str, page: &str) -> Result<String, String> {
        let text = format!("{page}\n<question>\n{}\n</question>", question.trim());
        let request = ModelRequest {
            system: vec![SYSTEM.trim_end().to_owned()],
            messages: vec![Message::User { content: vec![Content::text(text)] }],
            max_output: Some(MOST_TOKENS),
            ..ModelRequest::default()
        };
        let payer = spending::payer();
        let small = self.models.role(Role::Small, &self.current).model;
        if let Some(payer) = &payer
            && spending::refusal(payer, &self.models, &small).await.is_some()
        {
            return Err("what may be spent does not permit it".to_owned());
        }
        // Dropping this future ends the call.
        let cancel = CancellationToken::new();
        let answer = self.models.small(Role::Small, &self.current, &request, self.patience, &cancel).await;
        if let (Some(payer), Some(answer)) = (payer, &answer) {
            payer.add(answer.usage, answer.cost);
        }
        answer
            .map(|answer| answer.text)
            .ok_or_else(|| "the small model gave no whole answer in time".to_owned())
    }
}
