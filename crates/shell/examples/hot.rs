//! hot
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]
use rein_shell::*;
fn main() {
    let s = Surroundings::new("/workspace/project").with_home("/home/user");
    let text = match std::env::args().nth(1).as_deref() { Some("git") => "git -C x log --oneline -5 -- a b\n".repeat(3000), Some("bashc") => "bash -c 'ls -l | wc'\n".repeat(4500), _ => "true && ".repeat(12500) + "true" };
    for _ in 0..20 { let a = analyze(&text, &s); assert!(a.commands.len() > 10); }
}
