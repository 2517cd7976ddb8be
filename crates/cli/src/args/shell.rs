//! The arguments of `rein completions`.

use clap::ValueEnum;

/// Where each shell looks for it.
pub(super) const COMPLETIONS: &str = "\
bash: rein completions bash > ~/.local/share/bash-completion/completions/rein
zsh:  rein completions zsh > ~/.zfunc/_rein      (with ~/.zfunc in fpath)
fish: rein completions fish > ~/.config/fish/completions/rein.fish";

/// A shell that can complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompletionShell {
    /// GNU Bash
    Bash,
    /// Z shell
    Zsh,
    /// fish
    Fish,
}
