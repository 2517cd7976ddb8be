//! `rein completions` and `rein man`: what a shell and a manual know of the
//! command line, from its one definition.

use clap::{Arg, Command, CommandFactory};
use clap_complete::Shell;

use crate::args::{Arguments, CompletionShell};
use crate::error::CommandError;
use crate::stdout;

/// Prints a script for a shell.
pub fn completions(shell: CompletionShell) -> Result<(), CommandError> {
    let shell = match shell {
        CompletionShell::Bash => Shell::Bash,
        CompletionShell::Zsh => Shell::Zsh,
        CompletionShell::Fish => Shell::Fish,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "rein", &mut script);
    stdout::print(|out| out.write_all(&script))
}

/// Prints the manual page.
pub fn man() -> Result<(), CommandError> {
    let page = page(&mut Arguments::command());
    stdout::print(|out| out.write_all(page.as_bytes()))
}

/// The page in the language of man(7).
fn page(command: &mut Command) -> String {
    command.build();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let short = about.split([':', '.', '\n']).next().unwrap_or_default();
    let mut page = format!(".TH REIN 1 \"\" \"rein {}\" \"User Commands\"\n", env!("CARGO_PKG_VERSION"));
    page.push_str(&format!(".SH NAME\nrein \\- {}\n", text(short)));
    page.push_str(".SH SYNOPSIS\n\\fBrein\\fR [\\fIOPTIONS\\fR] [\\fIPROMPT\\fR]\n.br\n\\fBrein\\fR \\fICOMMAND\\fR …\n");
    let long = command.get_long_about().map(ToString::to_string).unwrap_or(about);
    page.push_str(&format!(".SH DESCRIPTION\n{}\n", paragraphs(&long)));
    page.push_str(".SH OPTIONS\n");
    options(&mut page, command);
    page.push_str(".SH COMMANDS\n");
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        subcommand(&mut page, "rein", below);
    }
    if let Some(after) = command.get_after_long_help() {
        page.push_str(&format!(".SH NOTES\n.nf\n{}\n.fi\n", lines(&after.to_string())));
    }
    page
}

fn subcommand(page: &mut String, above: &str, command: &Command) {
    if command.get_name() == "help" {
        return;
    }
    let name = format!("{above} {}", command.get_name());
    page.push_str(&format!(".SS {}\n", text(&name)));
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string);
    page.push_str(&format!("{}\n", paragraphs(&about.unwrap_or_default())));
    options(page, command);
    if let Some(after) = command.get_after_help() {
        page.push_str(&format!(".PP\n.nf\n{}\n.fi\n", lines(&after.to_string())));
    }
    for below in command.get_subcommands() {
        subcommand(page, &name, below);
    }
}

fn options(page: &mut String, command: &Command) {
    // What every command understands is said once.
    let inherited = |arg: &&Arg| arg.is_global_set() && command.get_name() != "rein";
    let hidden = |arg: &&Arg| arg.is_hide_set() || matches!(arg.get_id().as_str(), "help" | "version");
    for arg in command.get_arguments().filter(|arg| !inherited(arg) && !hidden(arg)) {
        let value = match arg.get_action().takes_values() {
            true => arg.get_value_names().map(|names| names.join(" ")).unwrap_or_default(),
            false => String::new(),
        };
        let mut names: Vec<String> = Vec::new();
        names.extend(arg.get_short().map(|short| format!("\\fB\\-{short}\\fR")));
        names.extend(arg.get_long().map(|long| format!("\\fB\\-\\-{}\\fR", text(long))));
        let mut head = names.join(", ");
        if !value.is_empty() {
            let space = if head.is_empty() { "" } else { " " };
            head.push_str(&format!("{space}\\fI{}\\fR", text(&value)));
        }
        let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
        page.push_str(&format!(".TP\n{head}\n{}\n", paragraphs(&help)));
        let words: Vec<String> =
            arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
        if !words.is_empty() && arg.get_action().takes_values() {
            page.push_str(&format!("One of: {}.\n", text(&words.join(", "))));
        }
    }
}

/// Text that is filled, with empty lines between paragraphs.
fn paragraphs(source: &str) -> String {
    source.trim().split("\n\n").map(|part| lines(part.trim())).collect::<Vec<_>>().join("\n.sp\n")
}

fn lines(source: &str) -> String {
    source.lines().map(text).collect::<Vec<_>>().join("\n")
}

/// A line that troff takes as words.
fn text(line: &str) -> String {
    let escaped = line.replace('\\', "\\\\").replace('-', "\\-");
    match escaped.starts_with(['.', '\'']) {
        true => format!("\\&{escaped}"),
        false => escaped,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manual_has_every_command_and_option() {
        let mut command = Arguments::command();
        let page = page(&mut command);
        for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
            assert!(page.contains(&format!(".SS rein {}\n", text(below.get_name()))), "{}", below.get_name());
        }
        for option in ["\\-\\-max\\-steps", "\\-\\-continue", "\\-\\-cwd"] {
            assert!(page.contains(option), "{option}");
        }
        assert!(page.contains("Exit codes:"));
        assert_eq!(page.matches("\\-\\-config\\fR").count(), 1, "what holds everywhere is said once");
    }

    #[test]
    fn no_line_is_taken_for_a_request_by_mistake() {
        assert_eq!(text(".so /etc/passwd"), "\\&.so /etc/passwd");
        assert_eq!(lines("'a\n-b \\n"), "\\&'a\n\\-b \\\\n");
    }
}
