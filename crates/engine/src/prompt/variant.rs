//! Which head suits which models, as data: the catalog names a variant, and the
//! texts are files. A variant that is not known is the common head.

use super::{PromptPart, PromptSection};

const COMMON: &str = include_str!("../prompts/system.md");

/// What a variant makes of the common head.
enum Form {
    /// Words behind it.
    Added(&'static str),
    /// Other words.
    Whole(&'static str),
}

const VARIANTS: [(&str, Form); 4] = [
    ("claude", Form::Added(include_str!("../prompts/family/claude.md"))),
    ("gpt", Form::Added(include_str!("../prompts/family/gpt.md"))),
    ("gemini", Form::Added(include_str!("../prompts/family/gemini.md"))),
    ("open", Form::Whole(include_str!("../prompts/family/open.md"))),
];

/// The head for models that want this variant.
pub(super) fn head(variant: Option<&str>) -> Vec<PromptPart> {
    let part = |name: &str, why: &str, text: &str| {
        PromptPart::new(PromptSection::Head, name, why, text.trim_end().to_owned())
    };
    let common = || part("system", "what rein tells every model", COMMON);
    let form = VARIANTS.iter().find(|(name, _)| Some(*name) == variant);
    match form {
        None => vec![common()],
        Some((name, Form::Added(text))) => {
            vec![common(), part(name, "what suits the models of this family", text)]
        }
        Some((name, Form::Whole(text))) => {
            vec![part(name, "what rein tells the models of this family, in place of the common head", text)]
        }
    }
}
