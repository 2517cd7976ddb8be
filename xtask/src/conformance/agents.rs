//! What agents really run, and what people allow and deny by hand: how quiet
//! mode `write` is when commands are confined and nobody has written a rule,
//! and whether it lets anything through that should ask.

use std::io::Write;

use serde_json::{Value, json};

use super::case::{AgentCase, HandRule, Verdict};
use crate::probe::{self, Failure};

/// What was counted.
#[derive(Debug, Default)]
pub struct Figures {
    /// Commands that should run, and how many of them ask.
    quiet: (usize, usize),
    /// The same with the directory that the command itself goes to first as the workspace.
    at_home: (usize, usize),
    /// Commands that should ask, and those that run instead.
    strict: (usize, Vec<String>),
    /// Prefixes that people allow by hand, and how many of them ask.
    allowed: (usize, usize),
    /// Prefixes that people deny by hand, and those that the same rule does not deny here.
    denied: (usize, Vec<String>),
}

impl Figures {
    /// Counts a command line of an agent.
    pub fn agent(&mut self, case: &AgentCase) -> Verdict {
        let plain = decision(&json!({"cmd": case.cmd, "mode": "write", "sandboxed": true}));
        let Ok((decision, reasons)) = plain else {
            return plain.map_or_else(Verdict::Differ, |_| Verdict::Agree);
        };
        let label = case.expect_in_write_mode.as_str();
        if label == "allow" {
            let home = match first_directory(&case.cmd) {
                Some(cwd) => {
                    self::decision(&json!({"cmd": case.cmd, "mode": "write", "sandboxed": true, "cwd": cwd}))
                }
                None => Ok((decision.clone(), String::new())),
            };
            count(&mut self.at_home, home.is_ok_and(|(decision, _)| decision != "allow"));
            count(&mut self.quiet, decision != "allow");
        } else {
            self.strict.0 += 1;
            if decision == "allow" {
                self.strict.1.push(case.id.clone());
            }
        }
        if (label == "allow") == (decision == "allow") {
            Verdict::Agree
        } else {
            Verdict::Differ(format!("{}\nshould {label} ({}), is {decision}: {reasons}", case.cmd, case.why))
        }
    }

    /// Counts a rule that somebody wrote by hand.
    pub fn hand_rule(&mut self, case: &HandRule) -> Verdict {
        let Some(prefix) = case.prefix.as_deref().filter(|prefix| case.kind == "shell" && !prefix.is_empty())
        else {
            return Verdict::NotApplicable("a rule about something else than commands".to_owned());
        };
        match case.effect.as_str() {
            "allow" => {
                let found = decision(&json!({"cmd": prefix, "mode": "write", "sandboxed": true}));
                count(&mut self.allowed, found.is_ok_and(|(decision, _)| decision != "allow"));
                Verdict::NotApplicable("what somebody allowed is counted, not compared".to_owned())
            }
            "deny" | "forbidden" => {
                self.denied.0 += 1;
                let rules =
                    json!([{"permission": "bash", "pattern": format!("{prefix} *"), "action": "deny"}]);
                match decision(&json!({"cmd": prefix, "mode": "free", "rules": rules})) {
                    Ok((decision, _)) if decision != "allow" => Verdict::Agree,
                    other => {
                        self.denied.1.push(case.id.clone());
                        Verdict::Differ(format!("{}\nis not denied: {other:?}", case.rule))
                    }
                }
            }
            _ => Verdict::NotApplicable("a rule that asks".to_owned()),
        }
    }

    /// Prints what was counted, if anything was.
    pub fn print(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let share = |(all, some): (usize, usize)| format!("{some} of {all} ({:.1} %)", percent(some, all));
        if self.quiet.0 + self.strict.0 > 0 {
            writeln!(out, "mode `write`, confined, no rules, over what agents really run:")?;
            writeln!(out, "  should run and asks: {}", share(self.quiet))?;
            writeln!(
                out,
                "  the same, working where the command itself goes first: {}",
                share(self.at_home)
            )?;
            writeln!(
                out,
                "  should ask and runs: {} of {} {}",
                self.strict.1.len(),
                self.strict.0,
                self.strict.1.join(" ")
            )?;
        }
        if self.allowed.0 + self.denied.0 > 0 {
            writeln!(out, "the same over prefixes that people allow by hand: {} ask", share(self.allowed))?;
            writeln!(
                out,
                "prefixes that people deny by hand and the same rule lets run in mode `free`: {} of {} {}",
                self.denied.1.len(),
                self.denied.0,
                self.denied.1.join(" ")
            )?;
        }
        Ok(())
    }
}

fn count(counter: &mut (usize, usize), counts: bool) {
    counter.0 += 1;
    counter.1 += usize::from(counts);
}

#[expect(clippy::cast_precision_loss, reason = "counts of cases are small")]
fn percent(some: usize, all: usize) -> f64 {
    if all == 0 { 0.0 } else { 100.0 * some as f64 / all as f64 }
}

fn decision(input: &Value) -> Result<(String, String), String> {
    match probe::call("permission.decide", input) {
        Ok(found) => {
            Ok((found["decision"].as_str().unwrap_or_default().to_owned(), found["reasons"].to_string()))
        }
        Err(Failure::Unavailable(message) | Failure::Wrong(message)) => Err(message),
    }
}

/// The absolute directory that a command line goes to before anything else.
fn first_directory(command: &str) -> Option<String> {
    let rest = command.trim_start().strip_prefix("cd ")?.trim_start();
    let (directory, _) = match rest.strip_prefix(['"', '\'']) {
        Some(quoted) => quoted.split_once(['"', '\''])?,
        None => rest.split_once([' ', '\n', ';', '&']).unwrap_or((rest, "")),
    };
    let directory = directory.replacen('~', "/home/user", usize::from(directory.starts_with('~')));
    directory.starts_with('/').then_some(directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(cmd: &str, label: &str) -> AgentCase {
        AgentCase {
            id: "x:1".into(),
            cmd: cmd.into(),
            expect_in_write_mode: label.into(),
            why: String::new(),
        }
    }

    #[test]
    fn what_asks_and_what_slips_through_are_counted() {
        let mut figures = Figures::default();
        assert_eq!(figures.agent(&case("ls", "allow")), Verdict::Agree);
        assert!(matches!(figures.agent(&case("git push", "allow")), Verdict::Differ(_)));
        assert_eq!(figures.agent(&case("git push", "ask")), Verdict::Agree);
        assert!(matches!(figures.agent(&case("ls", "ask")), Verdict::Differ(_)));
        let mut out = Vec::new();
        figures.print(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("should run and asks: 1 of 2 (50.0 %)"), "{text}");
        assert!(text.contains("should ask and runs: 1 of 2 x:1"), "{text}");
    }

    #[test]
    fn the_directory_that_comes_first_is_found() {
        assert_eq!(first_directory("cd /a/b && ls"), Some("/a/b".into()));
        assert_eq!(first_directory("cd \"/a b\" && ls"), Some("/a b".into()));
        assert_eq!(first_directory("cd ~/x\nls"), Some("/home/user/x".into()));
        assert_eq!(first_directory("cd a && ls"), None);
        assert_eq!(first_directory("ls"), None);
    }
}
