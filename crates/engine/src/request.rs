//! A request for a model, put together: the system prompt and the tools in the
//! form that suits the model, and the conversation.

use rein_llm::{ModelRequest, Models};
use rein_protocol::{ContextPart, Entry, ModelRef, ToolSpec};
use rein_tools::{EditForm, Registry};

use crate::context::breakdown;
use crate::context::budget;
use crate::context::cache::Fingerprint;
use crate::context::size::Size;
use crate::context::view::View;
use crate::context::{self};
use crate::prompt::{PromptPart, PromptSection, SystemPrompt};
use crate::service::Parts;
use crate::session::link::StepStart;
use crate::turn::{Turn, Workbench};

/// What a step sends, and what to know it by.
pub(crate) async fn of_step(turn: &Turn, start: &StepStart) -> (ModelRequest, Fingerprint) {
    let messages = context::messages(start.history.iter().map(AsRef::as_ref));
    let bench = &turn.bench;
    let (sections, system) =
        bench.prompt.blocks(variant(&bench.models, &start.model).as_deref()).into_iter().unzip();
    let sections: Vec<PromptSection> = sections;
    let request = ModelRequest {
        images: bench.pictures.of(&messages).await,
        model: start.model.model.clone(),
        system,
        tools: specs(&bench.tools, &bench.models, Some(&start.model)),
        messages,
        max_output: None,
        effort: start.effort.or_else(|| turn.chain.as_ref().and_then(|chain| chain.current().effort)),
        ..ModelRequest::default()
    };
    let sent = Fingerprint::of(&start.model, &request, &sections);
    (request, sent)
}

/// What stands before every conversation with a model.
pub(crate) fn base(bench: &Workbench, model: &ModelRef) -> Size {
    base_of(&bench.prompt, &bench.tools, &bench.models, Some(model))
}

pub(crate) fn base_of(
    prompt: &SystemPrompt,
    tools: &Registry,
    models: &Models,
    model: Option<&ModelRef>,
) -> Size {
    let variant = model.and_then(|model| variant(models, model));
    let system: Vec<String> = prompt.blocks(variant.as_deref()).into_iter().map(|(_, text)| text).collect();
    Size::of_base(&system, &specs(tools, models, model))
}

/// Everything that is sent before the conversation, and why.
pub(crate) fn prompt_parts(
    prompt: &SystemPrompt,
    parts: &Parts,
    model: Option<&ModelRef>,
) -> Vec<PromptPart> {
    let variant = model.and_then(|model| variant(&parts.models, model));
    let mut told = prompt.parts(variant.as_deref());
    for tool in specs(&parts.tools, &parts.models, model) {
        let text = format!("{}\n{}\n{}", tool.name, tool.description, tool.input_schema);
        told.push(PromptPart::new(PromptSection::Tools, &tool.name, "a tool that the model may call", text));
    }
    told
}

/// Everything that the next request of a session would consist of, in the order in which it is sent.
pub(crate) fn breakdown(
    prompt: &SystemPrompt,
    parts: &Parts,
    branch: &[&Entry],
    model: Option<&ModelRef>,
) -> Vec<ContextPart> {
    let view = View::of(branch);
    let limits = model.map(|model| parts.models.limits(model)).unwrap_or_default();
    let base = base_of(prompt, &parts.tools, &parts.models, model);
    let ruler = budget::measure(&view, base, limits).ruler;
    let mut told: Vec<ContextPart> =
        prompt_parts(prompt, parts, model).iter().map(|part| breakdown::of_prompt(part, ruler)).collect();
    told.sort_by_key(|part| part.section);
    told.extend(breakdown::of_conversation(&view, ruler));
    told
}

/// The tools, as a model is told of them.
fn specs(tools: &Registry, models: &Models, model: Option<&ModelRef>) -> Vec<ToolSpec> {
    let form = model.map(|model| edit_form(models, model)).unwrap_or_default();
    tools.in_form(form).specs()
}

/// Which head suits a model, which the catalog says.
fn variant(models: &Models, model: &ModelRef) -> Option<String> {
    models.info(model).prompt
}

/// The form in which a model writes edits best, which the catalog says.
pub(crate) fn edit_form(models: &Models, model: &ModelRef) -> EditForm {
    match models.info(model).edit {
        Some(rein_llm::EditForm::Hashline) => EditForm::Hashline,
        Some(rein_llm::EditForm::Patch) => EditForm::Patch,
        Some(rein_llm::EditForm::Replace) | None => EditForm::Replace,
    }
}
