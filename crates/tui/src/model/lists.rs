//! The lists: what stands in them, and in which order.

use rein_protocol::{
    Author, Effort, Entry, EntryBody, EntryId, GivenGrant, JobInfo, Mode, ModelRef, Scope, SessionId,
    SessionInfo, Snapshot, Timestamp, TreeKind, TreeNode,
};

use super::overlay::{Choice, Extra, List, Overlay};
use super::{Queued, text_of};
use crate::host::{ModelChoice, OwnTheme, RuleLine, Setting};
use crate::line::{Line, Style};
use crate::neutral::neutral_line;
use crate::picker::Item;
use crate::theme::BUILTIN;
use crate::view::{mode_about, one_line};

/// Branches that are further in are shown no further in.
const DEEPEST: usize = 12;

impl Overlay {
    fn of(list: List) -> Self {
        Self::List(Box::new(list))
    }

    /// Pointing at the first one that is not open already.
    pub(crate) fn sessions(sessions: &[SessionInfo], now: Timestamp, open: Option<&SessionId>) -> Self {
        let item = |info: &SessionInfo| {
            let title = match neutral_line(&info.title) {
                title if title.is_empty() => "(nothing said yet)".to_owned(),
                title => title,
            };
            let here = if Some(&info.id) == open { "now · " } else { "" };
            let age = age(now.0.saturating_sub(info.updated.0));
            let detail = format!("{here}{age} · {} entries", info.entries);
            Item::new(title, detail, Choice::Session { id: info.id.clone(), title: info.title.clone() })
        };
        let at = sessions.iter().position(|info| Some(&info.id) != open).unwrap_or(0);
        let items = sessions.iter().map(item).collect();
        let list = List::new("sessions", "opens it", items).with(&[Extra::Fork, Extra::Rename]);
        Self::of(list.pointing_at(at))
    }

    /// Those that can be used first.
    pub(crate) fn models(mut models: Vec<ModelChoice>, now: Option<&ModelRef>) -> Self {
        models.sort_by_key(|choice| choice.unusable.is_some());
        let at = models.iter().position(|choice| Some(&choice.model) == now).unwrap_or(0);
        let item = |choice: ModelChoice| {
            let mark = if Some(&choice.model) == now { "now · " } else { "" };
            let detail = format!("{mark}{}", neutral_line(&choice.detail));
            let mut item = Item::new(
                choice.model.to_string(),
                detail.trim_end_matches(" · "),
                Choice::Model(choice.model),
            );
            item.disabled = choice.unusable.map(|why| one_line(&why, 200));
            item
        };
        let items = models.into_iter().map(item).collect();
        Self::of(List::new("model", "takes it", items).pointing_at(at))
    }

    pub(crate) fn modes(now: Mode) -> Self {
        let item = |mode: Mode| Item::new(mode.name(), mode_about(mode), Choice::Mode(mode));
        let at = Mode::ALL.iter().position(|mode| *mode == now).unwrap_or(0);
        Self::of(List::new("mode", "takes it", Mode::ALL.into_iter().map(item).collect()).pointing_at(at))
    }

    pub(crate) fn efforts(now: Option<Effort>) -> Self {
        let about = |effort: Effort| match effort {
            Effort::Off => "does not think before it answers",
            Effort::Minimal => "as little as it can",
            Effort::Low => "little: quick and cheap",
            Effort::Medium => "some",
            Effort::High => "much: for what is hard",
            Effort::Max => "as much as it can: slow and dear",
        };
        let item = |effort: Effort| Item::new(effort.name(), about(effort), Choice::Effort(effort));
        let at = Effort::ALL.iter().position(|effort| Some(*effort) == now).unwrap_or(3);
        let items = Effort::ALL.into_iter().map(item).collect();
        Self::of(List::new("effort: how much the model thinks", "takes it", items).pointing_at(at))
    }

    pub(crate) fn tree(nodes: &[TreeNode]) -> Self {
        let rows = rows(nodes);
        let last = rows.iter().rposition(|(node, _)| node.active).unwrap_or(0);
        let item = |(node, depth): (&TreeNode, usize)| {
            let mark = if node.active { "●" } else { "○" };
            let kind = match node.kind {
                TreeKind::User => "you",
                TreeKind::Agent => "rein",
                TreeKind::Compacted => "summary",
                TreeKind::Travelled => "",
            };
            let indent = "  ".repeat(depth.min(DEEPEST));
            let text = one_line(&node.text, 200);
            let title = match kind.is_empty() {
                true => format!("{indent}{mark} {text}"),
                false => format!("{indent}{mark} {kind}: {text}"),
            };
            Item::new(title, "", Choice::Place { entry: node.entry.clone(), kind: node.kind })
        };
        let items = rows.into_iter().map(item).collect();
        Self::of(List::new("tree", "goes there", items).with(&[Extra::Fork]).pointing_at(last))
    }

    /// What the person said, the last first.
    pub(crate) fn messages(snapshot: &Snapshot) -> Option<Self> {
        let said = |entry: &Entry| {
            let EntryBody::User { content, author: Author::Person, .. } = &entry.body else { return None };
            let choice = Choice::Words { entry: entry.id.clone() };
            Some(Item::new(one_line(&text_of(content), 300), "", choice))
        };
        let items: Vec<_> = snapshot.entries.iter().rev().filter_map(said).collect();
        (!items.is_empty())
            .then(|| Self::of(List::new("go back to before", "edits it and goes on from there", items)))
    }

    pub(crate) fn permissions(mode: Mode, grants: Vec<GivenGrant>, rules: Vec<RuleLine>) -> Self {
        let scope = |scope: Scope| match scope {
            Scope::Session => "for this session",
            Scope::Project => "for this project",
            Scope::Everywhere => "everywhere",
        };
        let grant = |given: GivenGrant| {
            let title = format!("always {}: {}", given.grant.permission, given.grant.pattern);
            Item::new(one_line(&title, 300), scope(given.scope), Choice::Grant(given))
        };
        let rule = |rule: RuleLine| {
            let text = one_line(&rule.text, 300);
            let mut item = Item::new(text.clone(), one_line(&rule.origin, 200), Choice::Text(text));
            item.disabled = Some("a rule: change it in its file".to_owned());
            item
        };
        let mut items: Vec<_> = grants.into_iter().map(grant).collect();
        items.extend(rules.into_iter().map(rule));
        if items.is_empty() {
            let text = "nothing is allowed for longer than once".to_owned();
            items.push(Item::new(text.clone(), "", Choice::Text(text)));
        }
        let title = format!("permissions · mode {}: {}", mode.name(), mode_about(mode));
        Self::of(List::new(&title, "closes", items).with(&[Extra::Remove]))
    }

    pub(crate) fn settings(settings: Vec<Setting>) -> Self {
        let item = |setting: Setting| {
            let value = setting.value.as_deref().map_or("not set".to_owned(), |value| one_line(value, 200));
            let detail = format!("{value}  ← {}", one_line(&setting.origin, 120));
            Item::new(setting.key.clone(), detail, Choice::Setting(setting))
        };
        let mut list = List::new("settings", "changes it", settings.into_iter().map(item).collect())
            .with(&[Extra::Remove]);
        list.picker = list.picker.with_preview(Box::new(setting_preview));
        Self::of(list)
    }

    pub(crate) fn values(setting: &Setting) -> Self {
        let item = |value: &String| {
            let choice = Choice::Value { key: setting.key.clone(), value: value.clone() };
            Item::new(value.clone(), "", choice)
        };
        let now = setting.value.as_deref().map(|value| value.trim_matches('"'));
        let at = setting.choices.iter().position(|value| Some(value.as_str()) == now).unwrap_or(0);
        let items = setting.choices.iter().map(item).collect();
        Self::of(List::new(&setting.key, "takes it", items).pointing_at(at))
    }

    pub(crate) fn themes(own: &[OwnTheme], now: &str) -> Self {
        let mut items: Vec<Item<Choice>> = BUILTIN
            .iter()
            .map(|(name, about)| Item::new(*name, *about, Choice::Theme((*name).to_owned())))
            .collect();
        for theme in own {
            let mut item =
                Item::new(one_line(&theme.name, 60), "your own", Choice::Theme(theme.name.clone()));
            item.disabled = theme.theme.as_ref().err().map(|why| one_line(why, 200));
            items.push(item);
        }
        let is_now = |item: &Item<Choice>| item.value == Choice::Theme(now.to_owned());
        let at = items.iter().position(is_now).unwrap_or(0);
        Self::of(List::new("theme", "takes it", items).pointing_at(at))
    }

    pub(crate) fn jobs(jobs: &[JobInfo]) -> Self {
        let item = |job: &JobInfo| {
            let command = one_line(&job.command, 300);
            let detail = format!("{} · {} · {} bytes", job.id, job.state, job.output_bytes);
            Item::new(command, detail, Choice::Text(job.command.clone()))
        };
        let mut items: Vec<_> = jobs.iter().map(item).collect();
        if items.is_empty() {
            let text = "no command runs in the background".to_owned();
            items.push(Item::new(text.clone(), "", Choice::Text(String::new())));
        }
        Self::of(List::new("jobs", "shows the whole command", items))
    }

    pub(crate) fn queue(queue: &[Queued]) -> Self {
        let item = |queued: &Queued| {
            let choice = Choice::Queued { entry: queued.entry.clone(), text: queued.text.clone() };
            Item::new(one_line(&queued.text, 300), "", choice)
        };
        let items = queue.iter().map(item).collect();
        Self::of(List::new("queued messages", "takes it back to edit", items).with(&[Extra::Remove]))
    }
}

/// Places below each other as they follow on each other; only a branch is further in.
fn rows(nodes: &[TreeNode]) -> Vec<(&TreeNode, usize)> {
    let mut children: std::collections::HashMap<Option<&EntryId>, Vec<&TreeNode>> = Default::default();
    let known: std::collections::HashSet<&EntryId> = nodes.iter().map(|node| &node.entry).collect();
    for node in nodes {
        let parent = node.parent.as_ref().filter(|parent| known.contains(parent));
        children.entry(parent).or_default().push(node);
    }
    let mut rows = Vec::with_capacity(nodes.len());
    let mut open: Vec<(&TreeNode, usize)> =
        children.remove(&None).unwrap_or_default().into_iter().rev().map(|node| (node, 0)).collect();
    while let Some((node, depth)) = open.pop() {
        rows.push((node, depth));
        let below = children.remove(&Some(&node.entry)).unwrap_or_default();
        let deeper = depth + usize::from(below.len() > 1);
        open.extend(below.into_iter().rev().map(|child| (child, deeper)));
    }
    rows
}

fn setting_preview(item: &Item<Choice>, width: u16) -> Vec<Line> {
    let Choice::Setting(setting) = &item.value else { return Vec::new() };
    let cells = usize::from(width);
    let mut lines = Line::styled(setting.key.clone(), Style::heavy()).wrapped(cells, 2);
    lines.extend(Line::plain(one_line(&setting.about, 2000)).wrapped(cells, 0));
    lines.push(Line::empty());
    let value = setting.value.as_deref().unwrap_or("not set");
    for (name, text) in [("is", value), ("from", &setting.origin), ("takes", &setting.takes)] {
        let line =
            Line::styled(format!("{name}: "), Style::dimmed()).with(one_line(text, 1000), Style::default());
        lines.extend(line.wrapped(cells, 2));
    }
    lines
}

fn age(milliseconds: i64) -> String {
    let seconds = milliseconds.max(0) / 1000;
    match seconds {
        0..60 => "just now".to_owned(),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..86_400 => format!("{} h ago", seconds / 3600),
        _ => format!("{} d ago", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(entry: &EntryId, parent: Option<&EntryId>, text: &str) -> TreeNode {
        TreeNode {
            entry: entry.clone(),
            parent: parent.cloned(),
            at: Timestamp(0),
            kind: TreeKind::User,
            text: text.to_owned(),
            active: true,
        }
    }

    #[test]
    fn only_branches_are_further_in_and_nothing_is_lost() {
        let ids: Vec<EntryId> = (0..6).map(|_| EntryId::new()).collect();
        let nodes = [
            node(&ids[0], None, "a"),
            node(&ids[1], Some(&ids[0]), "b"),
            node(&ids[2], Some(&ids[1]), "c"),
            node(&ids[3], Some(&ids[1]), "d"),
            node(&ids[4], Some(&ids[2]), "e"),
            node(&ids[5], Some(&EntryId::new()), "orphan"),
        ];
        let shown: Vec<(&str, usize)> =
            rows(&nodes).iter().map(|(node, depth)| (node.text.as_str(), *depth)).collect();
        assert_eq!(shown, [("a", 0), ("b", 0), ("c", 1), ("e", 1), ("d", 1), ("orphan", 0)]);
    }
}
