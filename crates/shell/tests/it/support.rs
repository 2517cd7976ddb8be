//! Short forms of what an analysis says, for comparing whole values.

use rein_shell::{Analysis, Surroundings, Usage, analyze};

pub const HERE: &str = "/work";
pub const HOME: &str = "/home/u";

pub fn analysis(command: &str) -> Analysis {
    analyze(command, &Surroundings::new(HERE).with_home(HOME))
}

/// Every command as rules see it.
pub fn commands(command: &str) -> Vec<String> {
    analysis(command).commands.iter().map(|command| command.text()).collect()
}

/// Every path with its use, once.
pub fn paths(command: &str) -> Vec<String> {
    let mut all = Vec::new();
    for path in analysis(command).paths {
        let usage = match path.usage {
            Usage::List => "list",
            Usage::Read => "read",
            Usage::Write => "write",
            Usage::Delete => "delete",
            Usage::DeleteTree => "delete-tree",
            Usage::Execute => "execute",
            Usage::Unknown => "unknown",
        };
        let text = format!("{usage} {}", path.path.unwrap_or_else(|| format!("?{}", path.shown)));
        if !all.contains(&text) {
            all.push(text);
        }
    }
    all
}

pub fn understood(command: &str) -> bool {
    analysis(command).is_understood()
}
