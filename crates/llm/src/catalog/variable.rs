//! Names in a provider's addresses, and what they stand for: the resource, the
//! project or the place that an account has there.

use std::collections::BTreeMap;

use serde::Deserialize;

/// What a name in an address stands for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Variable {
    /// Environment variables that say so, the first that is set.
    pub env: Vec<String>,
    /// What it is if none is set. Absent: one has to be.
    pub usual: Option<String>,
    /// What is written for a value, with `{}` for the value itself; the value if absent.
    pub form: Option<String>,
    /// What is written instead for certain values.
    pub except: BTreeMap<String, String>,
}

impl Variable {
    /// What is written, if that is known.
    #[must_use]
    pub fn written(&self, environment: impl Fn(&str) -> Option<String>) -> Option<String> {
        let value = self.env.iter().find_map(|name| environment(name)).or_else(|| self.usual.clone())?;
        // It becomes a piece of an address.
        let sound = value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte));
        if value.is_empty() || !sound {
            return None;
        }
        let except = self.except.get(&value).cloned();
        Some(except.unwrap_or_else(|| match &self.form {
            Some(form) => form.replace("{}", &value),
            None => value,
        }))
    }
}

/// A text in which names stand for what is written for them. Names that nobody knows stay.
pub(crate) fn filled_in(
    text: &str,
    variables: &BTreeMap<String, Variable>,
    environment: impl Fn(&str) -> Option<String>,
) -> String {
    variables.iter().fold(text.to_owned(), |text, (name, variable)| {
        let place = format!("{{{name}}}");
        match variable.written(&environment).filter(|_| text.contains(&place)) {
            Some(written) => text.replace(&place, &written),
            None => text,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_for_a_value_in_its_form() {
        let host = Variable {
            env: vec!["PLACE".to_owned()],
            usual: Some("global".to_owned()),
            form: Some("{}-api.example".to_owned()),
            except: [("global".to_owned(), "api.example".to_owned())].into(),
        };
        let project = Variable { env: vec!["PROJECT".to_owned()], ..Variable::default() };
        let variables = [("host".to_owned(), host), ("project".to_owned(), project)].into();
        let filled = |set: &[(&str, &str)]| {
            filled_in("https://{host}/{project}/{other}", &variables, |name| {
                set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(filled(&[("PROJECT", "p-1")]), "https://api.example/p-1/{other}");
        assert_eq!(filled(&[("PLACE", "east"), ("PROJECT", "p")]), "https://east-api.example/p/{other}");
        assert_eq!(filled(&[("PROJECT", "a/../b")]), "https://api.example/{project}/{other}");
        assert_eq!(filled(&[]), "https://api.example/{project}/{other}");
    }
}
