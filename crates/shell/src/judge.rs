//! What a command does, from its row: effect, options, operands, gadgets.

use crate::analysis::{Danger, Usage};
use crate::effect::Effect;
use crate::operands::{self, Operand};
use crate::options::{Argument, Found, Told, begins_with_glob};
use crate::program::Resolved;
use crate::run::{Invocation, Judged, is_information};
use crate::state::State;
use crate::tables::Gadget;
use crate::walk::{Produced, Walker};
use crate::word::Word;
use crate::{address, code, git, glob, hook, paths};

impl Walker<'_> {
    /// Judges a command by its row.
    pub(crate) fn judge(
        &mut self,
        resolved: &Resolved,
        invocation: &Invocation,
        state: &State,
        judged: &mut Judged,
    ) {
        let row = resolved.row;
        judged.produced = Produced { number: row.number, fetches: row.fetches, ..Produced::default() };
        for (key, told) in &resolved.globals {
            self.option_gadgets(key, told, judged);
            values(told, judged);
        }
        self.option_gadgets(&resolved.key, &resolved.told, judged);
        values(&resolved.told, judged);
        if resolved.stranger.is_some() {
            self.operand_gadgets(&resolved.key, &resolved.told.operands, judged);
            if resolved.rest.len() <= 2
                && resolved.rest.last().and_then(Word::literal).is_some_and(is_information)
            {
                judged.effect(Effect::Guarded, "is only asked for its version or help");
            } else {
                judged.effect(row.effect, format!("no table knows this sub-command of `{}`", resolved.key));
            }
            for word in &resolved.rest {
                judged.paths.extend(paths::suspected(word).map(|word| (word, Usage::Unknown)));
            }
            return;
        }
        if row.inner.is_some() {
            return;
        }
        if informs(&resolved.told) {
            judged.effect(row.effect.min(Effect::Guarded), "is only asked for its version or help");
            return;
        }
        let operands = &resolved.told.operands;
        let effect = row.bare.filter(|_| operands.is_empty()).unwrap_or(row.effect);
        judged.effect(effect, row.why.as_str());
        self.unknown_options(resolved, effect, judged);
        self.operand_gadgets(&resolved.key, operands, judged);
        self.operands(resolved, effect, judged);
        hook::judge(resolved, invocation, state, judged);
        if resolved.key.starts_with("git ") {
            git::judge(resolved, self.tables, judged);
        }
        code::judge(resolved, invocation, judged);
    }

    /// An option that no table knows may do anything that its program can.
    fn unknown_options(&self, resolved: &Resolved, effect: Effect, judged: &mut Judged) {
        if effect >= Effect::Project {
            return;
        }
        let options = &resolved.row.options;
        let stranger = resolved.told.strangers().next().filter(|_| !options.any);
        if let Some(found) = stranger {
            judged.effect(Effect::Project, format!("no table knows its option `{}`", found.shown));
        }
        let suspects = || {
            resolved
                .globals
                .iter()
                .map(|(_, told)| told)
                .chain([&resolved.told])
                .flat_map(|told| &told.suspects)
        };
        if suspects().next().is_none() {
            return;
        }
        let keys = resolved.globals.iter().map(|(key, _)| key).chain([&resolved.key]);
        let gadgets = keys.filter_map(|key| self.tables.gadgets.get(key)).flatten();
        let executes =
            gadgets.clone().any(|gadget| gadget.class >= Danger::Executes && !gadget.options.is_empty());
        let any = gadgets.count() > 0;
        for word in suspects() {
            if executes || any && !begins_with_glob(word) {
                judged.effect(
                    Effect::Project,
                    format!("`{}` may be an option that runs or writes something", word.shown()),
                );
            }
        }
    }

    fn option_gadgets(&self, key: &str, told: &Told, judged: &mut Judged) {
        let gadgets = self.tables.gadgets.get(key).filter(|_| !told.options.is_empty());
        for gadget in gadgets.into_iter().flatten() {
            for found in &told.options {
                if found.names.iter().any(|name| gadget.names.contains(name)) && !excused(gadget, found) {
                    flag(gadget, &found.shown, judged);
                }
            }
        }
    }

    fn operand_gadgets(&self, key: &str, operands: &[Word], judged: &mut Judged) {
        for gadget in self.tables.gadgets.get(key).into_iter().flatten() {
            if let Some(pattern) = &gadget.operand {
                for word in operands {
                    if glob::matches(pattern, &word.shown()) {
                        flag(gadget, &word.shown(), judged);
                    }
                }
            }
            if gadget.operands.is_some_and(|count| operands.len() >= count) {
                let shown = operands.last().map(|word| word.shown().into_owned()).unwrap_or_default();
                flag(gadget, &shown, judged);
            }
        }
    }

    fn operands(&mut self, resolved: &Resolved, effect: Effect, judged: &mut Judged) {
        let given =
            resolved.told.has(&["-e", "--regexp", "-f", "--file", "--expression", "--files", "--from-file"]);
        let assigned = operands::assign(&resolved.row.operands, &resolved.told.operands, given);
        let mut addresses = Vec::new();
        for (word, operand) in assigned {
            match operand {
                Operand::Text => {}
                Operand::Path(usage) => judged.paths.push((word.clone(), usage)),
                Operand::Address => addresses.push(word.clone()),
                Operand::Any => {
                    judged.paths.extend(paths::suspected(word).map(|word| (word, Usage::Unknown)));
                }
            }
        }
        if effect == Effect::Network {
            for found in &resolved.told.options {
                if found.argument == Argument::Address {
                    addresses.extend(found.value.clone());
                }
            }
            address::judge(&addresses, judged);
        }
    }
}

/// Whether a command is only asked for its version or help.
fn informs(told: &Told) -> bool {
    let asked = |found: &Found| {
        is_information(&found.shown) || found.names.iter().any(|name| name == "--help" || name == "--version")
    };
    let words = told.operands.iter().all(|word| word.literal().is_some_and(is_information));
    let some = !told.options.is_empty() || !told.operands.is_empty();
    some && words && told.options.iter().all(asked)
}

/// Paths that options name.
fn values(told: &Told, judged: &mut Judged) {
    for found in &told.options {
        let Some(value) = &found.value else { continue };
        match found.argument {
            Argument::Read => judged.paths.push((value.clone(), Usage::Read)),
            Argument::Write => {
                judged.paths.push((value.clone(), Usage::Write));
                judged.effect(Effect::Write, format!("`{}` names a file to write", found.shown));
            }
            _ if found.names.is_empty() => {
                judged.paths.extend(paths::suspected(value).map(|word| (word, Usage::Unknown)));
            }
            Argument::Text
            | Argument::Attached
            | Argument::None
            | Argument::Command
            | Argument::Script
            | Argument::Code
            | Argument::Module
            | Argument::Address => {}
        }
    }
}

fn excused(gadget: &Gadget, found: &Found) -> bool {
    let value = found.value.as_ref();
    let literal = value.map_or(Some(""), Word::literal);
    let any = |patterns: &[String], value: &str| patterns.iter().any(|pattern| glob::matches(pattern, value));
    literal.is_some_and(|value| {
        any(&gadget.unless, value) || !gadget.only.is_empty() && !any(&gadget.only, value)
    })
}

fn flag(gadget: &'static Gadget, shown: &str, judged: &mut Judged) {
    let effect = match gadget.class {
        Danger::Unbounded => Effect::Guarded,
        Danger::Writes => Effect::Write,
        Danger::Executes => Effect::Project,
        Danger::Exfiltrates => Effect::Network,
        Danger::Secrets => Effect::Secret,
        Danger::Privilege => Effect::Privilege,
        Danger::Persistence | Danger::Catastrophic => Effect::System,
    };
    judged.effect(effect, gadget.reason.as_str());
    judged.hazard(gadget.class, gadget.reason.clone(), shown);
}
