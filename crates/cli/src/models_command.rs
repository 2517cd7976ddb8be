//! `rein models`: what models there are, what they cost and can do, whether
//! they can be used now and if not, why not. `refresh` lays a newer table over
//! the bundled one; `table` is the form of the list.

mod refresh;
mod table;

pub use table::figures;

use std::io;

use rein_llm::{ListedModel, ListedProvider, Usability};
use serde_json::{Value, json};

use crate::args::{ModelsArguments, ModelsCommand};
use crate::error::CommandError;
use crate::stdout;
use crate::terminal::{Target, one_line};
use crate::wiring::Setup;
pub use table::width;

/// Does what was asked.
pub async fn execute(setup: &Setup, arguments: &ModelsArguments) -> Result<(), CommandError> {
    match &arguments.command {
        Some(ModelsCommand::Refresh { source }) => refresh::execute(setup, source).await,
        None => list(setup, arguments).await,
    }
}

async fn list(setup: &Setup, arguments: &ModelsArguments) -> Result<(), CommandError> {
    setup.print_warnings();
    let mut providers = filtered(setup.all_models()?.listing().await, &arguments.filter);
    if arguments.usable {
        providers.retain(|provider| provider.usability == Usability::Ready);
    }
    // Stable: otherwise the order of the catalog stays.
    providers.sort_by_key(|provider| provider.usability != Usability::Ready);
    if arguments.json {
        let rows = |provider: &ListedProvider| -> Vec<Value> {
            provider.models.iter().map(|model| row(provider, model)).collect()
        };
        return stdout::print_json(&providers.iter().flat_map(rows).collect::<Vec<Value>>());
    }
    if providers.is_empty() {
        return Err(nothing(arguments));
    }
    let target = Target::of(&io::stdout());
    stdout::print(|out| table::write(out, &providers, target.ink(), table::width(target)))
}

fn nothing(arguments: &ModelsArguments) -> CommandError {
    let filter = one_line(&arguments.filter.join(" "), 60);
    let what = if arguments.usable { "model that can be used now" } else { "model" };
    let failed = match filter.is_empty() {
        true => CommandError::failure(format!("no {what} is known")),
        false => CommandError::failure(format!("no {what} has a name like `{filter}`")),
    };
    failed.hint("`rein models` lists every model, and why those that cannot be used cannot")
}

/// What every word of the filter is found in: as it is, or if that finds nothing, letter by letter.
fn filtered(providers: Vec<ListedProvider>, words: &[String]) -> Vec<ListedProvider> {
    let words: Vec<String> =
        words.iter().flat_map(|text| text.split_whitespace()).map(str::to_lowercase).collect();
    if words.is_empty() {
        return providers;
    }
    let plainly = keep(providers.clone(), &words, |name, word| name.contains(word));
    if plainly.is_empty() { keep(providers, &words, holds_letters) } else { plainly }
}

fn keep(
    mut providers: Vec<ListedProvider>,
    words: &[String],
    found: impl Fn(&str, &str) -> bool,
) -> Vec<ListedProvider> {
    for provider in &mut providers {
        provider.models.retain(|listed| {
            let name = listed.model.to_string().to_lowercase();
            words.iter().all(|word| found(&name, word))
        });
    }
    providers.retain(|provider| {
        let names = [provider.name.to_lowercase(), provider.title.to_lowercase()];
        // One without models is there to say why.
        let meant = words.iter().all(|word| names.iter().any(|name| found(name, word)));
        !provider.models.is_empty() || (meant && provider.usability != Usability::Ready)
    });
    providers
}

/// Whether a name has the letters of a word in their order.
fn holds_letters(name: &str, word: &str) -> bool {
    let mut letters = name.chars();
    word.chars().all(|wanted| letters.any(|letter| letter == wanted))
}

fn row(provider: &ListedProvider, listed: &ListedModel) -> Value {
    let info = &listed.info;
    let ready = provider.usability == Usability::Ready;
    json!({
        "model": listed.model.to_string(),
        "provider": provider.name,
        "id": listed.model.model,
        "context": info.context,
        "output": info.output,
        "prices": info.prices,
        "tools": info.tools,
        "images": table::sees(info),
        "reasoning": info.reasoning,
        "family": info.family,
        "edit": info.edit,
        "prompt": info.prompt,
        "dialect": info.dialect.or(info.family().and_then(|family| family.dialect)),
        "promote": info.promote,
        "usable": ready,
        "status": provider.usability.name(),
        "reason": (!ready).then(|| provider.usability.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_count_in_their_order() {
        assert!(holds_letters("openai/gpt-5-mini", "gpt5m"));
        assert!(holds_letters("x", ""));
        assert!(!holds_letters("openai/gpt-5", "5tpg"));
    }
}
