//! The list of all settings for people, generated from their schema.

use std::fmt::Write;

use serde_json::Value;

use crate::check::expected;
use crate::flag;
use crate::quote;
use crate::shape::{self, Choice, Node, ProjectMay, Shape};

const INTRODUCTION: &str = "\
# Settings

Settings are laid over each other; what comes later counts:

1. defaults
2. the user's file: `$XDG_CONFIG_HOME/rein/config.toml`, which is `~/.config/rein/config.toml` if the variable is not
   set, or `$REIN_HOME/config/config.toml`
3. the project's files: `.rein/config.toml` in the root of the repository and in each directory from there down to
   where rein is started
4. environment variables
5. flags, and `--config KEY=VALUE` for any key
6. the administrator's file: `/etc/rein/managed.toml`. It holds rules of permission, and in `mode` the freest mode that
   can be chosen

A project can only narrow: what it may not set is ignored with a warning. `rein config show --origin` prints what holds
and where it comes from. A key in capitals stands for a name of your choice.

Rules of permission are not laid over each other: each file's rules are judged, and the strictest answer counts. Within a
file, `allow` counts first, then the tables in their order, of which the last rule that matches counts; `ask` and `deny`
hold whatever else the file says. `rein permission list` prints every rule that holds.
";

/// All settings as a page of Markdown. The same on every call.
#[must_use]
pub fn reference() -> String {
    let mut page = Page { rows: String::new(), choices: String::new() };
    page.below(shape::tree(), &mut Vec::new(), ProjectMay::NotSet);
    format!(
        "{INTRODUCTION}\n\
         | Key | Type | Default | Variable | In a project | What it is |\n\
         | --- | --- | --- | --- | --- | --- |\n\
         {}{}",
        page.rows, page.choices
    )
}

struct Page {
    rows: String,
    choices: String,
}

impl Page {
    fn below(&mut self, node: &Node, path: &mut Vec<String>, project: ProjectMay) {
        let project = if node.project == ProjectMay::NotSet { project } else { node.project };
        match &node.shape {
            Shape::Table(fields) => {
                for (name, field) in fields {
                    path.push(name.clone());
                    self.below(field, path, project);
                    path.pop();
                }
            }
            Shape::Map { entry, node: below, .. } => {
                let described = Node { description: node.description.clone(), ..(**below).clone() };
                path.push(entry.clone());
                self.below(&described, path, project);
                path.pop();
            }
            Shape::Either(alternatives) => {
                let (maps, scalars): (Vec<&Node>, Vec<&Node>) = alternatives
                    .iter()
                    .partition(|alternative| matches!(alternative.shape, Shape::Map { .. }));
                let scalars = scalars.into_iter().cloned().collect::<Vec<_>>();
                let variable = variable(node, path);
                self.row(&Node { shape: one_or_either(scalars), ..node.clone() }, path, project, variable);
                for map in maps {
                    let description = format!("{} Only what matches the pattern.", node.description);
                    self.below(&Node { description, ..map.clone() }, path, project);
                }
            }
            Shape::Text { .. }
            | Shape::Choice(_)
            | Shape::Integer { .. }
            | Shape::Number { .. }
            | Shape::Boolean
            | Shape::List(_)
            | Shape::Each(_) => self.row(node, path, project, variable(node, path)),
        }
    }

    fn row(&mut self, node: &Node, path: &[String], project: ProjectMay, variable: Option<String>) {
        let key = quote::key(path);
        let default = match &node.default {
            Some(Value::String(text)) => format!("`{text}`"),
            Some(value) => format!("`{value}`"),
            None => "–".to_owned(),
        };
        let variable = variable.map_or("–".to_owned(), |name| format!("`{name}`"));
        let project = match project {
            ProjectMay::NotSet => "no",
            ProjectMay::Narrow => "only stricter",
            ProjectMay::Set => "yes",
        };
        let cells = [
            format!("`{key}`"),
            expected(&node.shape),
            default,
            variable,
            project.to_owned(),
            node.description.clone(),
        ];
        // Writing to a String cannot fail.
        let _ = writeln!(self.rows, "| {} |", cells.map(|cell| cell.replace('|', "\\|")).join(" | "));
        if let Shape::Choice(choices) = &node.shape {
            self.words(&key, choices);
        }
    }

    fn words(&mut self, key: &str, choices: &[Choice]) {
        let table = key.split('.').next().unwrap_or(key);
        let heading = if table == "permission" { "permission.*" } else { key };
        let heading = format!("\n## `{heading}`\n\n");
        if self.choices.contains(&heading) {
            return;
        }
        self.choices.push_str(&heading);
        for Choice { word, description } in choices {
            let _ = writeln!(self.choices, "- `{word}`: {description}");
        }
    }
}

/// The variable of a key that has no made-up name in it.
fn variable(node: &Node, path: &[String]) -> Option<String> {
    let is_placeholder = |part: &String| part.bytes().all(|byte| byte.is_ascii_uppercase());
    if path.iter().any(is_placeholder) { None } else { flag::variable(path, node) }
}

fn one_or_either(mut nodes: Vec<Node>) -> Shape {
    if nodes.len() == 1 { nodes.remove(0).shape } else { Shape::Either(nodes) }
}
