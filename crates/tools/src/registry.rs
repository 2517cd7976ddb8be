//! The one list of tools. A new tool is a folder and a line here.

use std::fmt;
use std::sync::Arc;

use rein_protocol::ToolSpec;

use crate::ask::AskUser;
use crate::bash::Bash;
use crate::contract::{Complaint, Tool};
use crate::edit::{Edit, EditForm, form};
use crate::git::Git;
use crate::glob::Glob;
use crate::grep::Grep;
use crate::job::JobTool;
use crate::list::List;
use crate::near;
use crate::read::Read;
use crate::todo::Todo;
use crate::tool_search::ToolSearch;
use crate::write::Write;

/// Tools by name, in an order that does not change: it is part of what a provider caches.
#[derive(Clone)]
pub struct Registry {
    tools: Vec<(String, Arc<dyn Tool>)>,
    /// Callable, but not told: only their names are, by the tool that finds them.
    deferred: Vec<(String, Arc<dyn Tool>)>,
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.all().map(|(name, _)| name)).finish()
    }
}

impl Registry {
    /// The tools that come with rein.
    #[must_use]
    pub fn builtin() -> Self {
        Self::builtin_with(EditForm::default())
    }

    /// The same, with edits offered in this form.
    #[must_use]
    pub fn builtin_with(form: EditForm) -> Self {
        Self::of([
            Arc::new(Read) as Arc<dyn Tool>,
            Arc::new(Write),
            Arc::new(Edit(form)),
            Arc::new(Bash),
            Arc::new(JobTool),
            Arc::new(Glob),
            Arc::new(Grep),
            Arc::new(List),
            Arc::new(Todo),
            Arc::new(AskUser),
        ])
        .deferred([Arc::new(Git) as Arc<dyn Tool>])
    }

    /// The same tools, with edits offered in another form. Tools of other makers stay as they are.
    #[must_use]
    pub fn in_form(&self, form: EditForm) -> Self {
        let tool: Arc<dyn Tool> = Arc::new(Edit(form));
        let name = tool.spec().name;
        let mut changed = self.clone();
        if let Some(place) = changed.tools.iter_mut().find(|(known, _)| form::is_name(known)) {
            *place = (name, tool);
        }
        changed
    }

    /// These tools, in this order. Of two with one name the first counts.
    pub fn of(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        let mut named: Vec<(String, Arc<dyn Tool>)> = Vec::new();
        for tool in tools {
            let name = tool.spec().name;
            if named.iter().all(|(known, _)| *known != name) {
                named.push((name, tool));
            }
        }
        Self { tools: named, deferred: Vec::new() }
    }

    /// With one more tool, unless there is one of its name.
    #[must_use]
    pub fn with(mut self, tool: Arc<dyn Tool>) -> Self {
        let name = tool.spec().name;
        if self.all().all(|(known, _)| *known != name) {
            // What is found by searching comes last.
            let end = self.tools.iter().position(|(name, _)| name == ToolSearch::NAME);
            self.tools.insert(end.unwrap_or(self.tools.len()), (name, tool));
        }
        self
    }

    /// The names of all, also of those that are told of only when the model asks.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.all().map(|(name, _)| name.clone()).collect()
    }

    /// With tools whose schemas are told only when the model asks for them. They can be called by
    /// name at any time, so what a model is told of tools stays the same bytes for a whole session.
    #[must_use]
    pub fn deferred(mut self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        for tool in tools {
            let name = tool.spec().name;
            if self.all().all(|(known, _)| *known != name) {
                self.deferred.push((name, tool));
            }
        }
        self.tools.retain(|(name, _)| name != ToolSearch::NAME);
        if !self.deferred.is_empty() {
            let search = ToolSearch::over(self.deferred.iter().map(|(_, tool)| tool.spec()));
            self.tools.push((ToolSearch::NAME.to_owned(), Arc::new(search)));
        }
        self
    }

    /// A tool by the name that a model wrote: exactly, or but for its case and its dashes.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        let exact = self.all().find(|(known, _)| known == name);
        let similar = || self.all().find(|(known, _)| plain(known) == plain(name));
        // An edit under the name of another form is understood by the form that is offered.
        let other = || self.all().find(|(known, _)| form::is_name(&plain(name)) && form::is_name(known));
        exact.or_else(similar).or_else(other).map(|(_, tool)| tool)
    }

    /// What a model is told, in the order of the list.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|(_, tool)| tool.spec()).collect()
    }

    /// Names that somebody who wrote this one may have meant, the likeliest first.
    #[must_use]
    pub fn nearest(&self, name: &str) -> Vec<&str> {
        if let Some((_, meant)) = OTHER_NAMES.iter().find(|(other, _)| *other == plain(name)) {
            return self.all().map(|(known, _)| known.as_str()).filter(|known| known == meant).collect();
        }
        near::nearest(&plain(name), self.all().map(|(known, _)| known.as_str()))
    }

    fn all(&self) -> impl Iterator<Item = &(String, Arc<dyn Tool>)> {
        self.tools.iter().chain(&self.deferred)
    }

    /// What a model is told that called a tool that is not there.
    #[must_use]
    pub fn unknown(&self, name: &str) -> Complaint {
        let all: Vec<&str> = self.tools.iter().map(|(known, _)| known.as_str()).collect();
        let meant = match self.nearest(name).as_slice() {
            [] => String::new(),
            names => format!(" Did you mean `{}`?", names.join("` or `")),
        };
        let name: String = name.chars().take(100).collect();
        Complaint(format!("There is no tool `{name}`.{meant} The tools are: {}.", all.join(", ")))
    }
}

fn plain(name: &str) -> String {
    name.trim().to_lowercase().replace('-', "_")
}

/// What other programs call the same things.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("apply_patch", "edit"),
    ("cat", "read"),
    ("create_file", "write"),
    ("execute_command", "bash"),
    ("fetch", "webfetch"),
    ("find_files", "glob"),
    ("google", "web_search"),
    ("http_get", "webfetch"),
    ("list_dir", "list"),
    ("list_directory", "list"),
    ("ls", "list"),
    ("multi_edit", "edit"),
    ("open_file", "read"),
    ("read_file", "read"),
    ("replace", "edit"),
    ("run_command", "bash"),
    ("run_shell_command", "bash"),
    ("search", "grep"),
    ("search_files", "grep"),
    ("shell", "bash"),
    ("str_replace", "edit"),
    ("str_replace_editor", "edit"),
    ("terminal", "bash"),
    ("todo_write", "todo"),
    ("todowrite", "todo"),
    ("tree", "list"),
    ("update_plan", "todo"),
    ("view", "read"),
    ("view_file", "read"),
    ("web_fetch", "webfetch"),
    ("websearch", "web_search"),
    ("write_file", "write"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_whatever_its_case() {
        let registry = Registry::builtin();
        for name in ["read", "Read", "READ", " read "] {
            assert_eq!(registry.get(name).map(|tool| tool.spec().name), Some("read".to_owned()), "{name:?}");
        }
        assert!(registry.get("rea").is_none());
    }

    #[test]
    fn an_unknown_name_gets_the_nearest_ones() {
        let registry = Registry::builtin();
        assert_eq!(registry.nearest("gerp"), ["grep"]);
        assert_eq!(registry.nearest("Shell"), ["bash"]);
        let all: Vec<String> = registry.specs().into_iter().map(|spec| spec.name).collect();
        let all = all.join(", ");
        assert_eq!(
            registry.unknown("read_fiel").0,
            format!("There is no tool `read_fiel`. Did you mean `read`? The tools are: {all}.")
        );
        assert_eq!(registry.unknown("browse").0, format!("There is no tool `browse`. The tools are: {all}."));
    }

    #[test]
    fn the_first_of_two_tools_with_one_name_counts() {
        let registry = Registry::of([Arc::new(Read) as Arc<dyn Tool>, Arc::new(Read)]);
        assert_eq!(registry.specs().len(), 1);
    }
}
