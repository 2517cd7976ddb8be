//! perf
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]
use rein_shell::*;
use std::time::Instant;
fn main() {
    let s = Surroundings::new("/workspace/project").with_home("/home/user");
    let t = Instant::now(); let _ = analyze("ls", &s); println!("first {:?}", t.elapsed());
    let t = Instant::now(); let _ = analyze("ls", &s); println!("second {:?}", t.elapsed());
    let d40 = 40;
    for (name, text) in [
        ("true&&", "true && ".repeat(12500) + "true"),
        ("echo lines", "echo \"hello $x\" | grep foo > bar.txt\n".repeat(2700)),
        ("parens", "(".repeat(100000)), ("closed", "(".repeat(50000) + "ls" + &")".repeat(50000)),
        ("heredoc", format!("cat > x <<'EOF'\n{}EOF\n", "some text here $(x) \"\n".repeat(4700))),
        ("quotes", "\"".repeat(100001)), ("dollar", "$(".repeat(50000)), ("brace", "{ ".repeat(50000)),
        ("backtick", "`".repeat(100000)), ("paths", "cat src/a/b/c.rs ~/.x/y ../z\n".repeat(3300)),
        ("words", format!("foo {}", "src/a/b.rs ".repeat(9000))),
        ("words2", format!("foo {}", "bar.txt ".repeat(12000))),
        ("globs", format!("cat {}", "src/*.rs ".repeat(11000))),
        ("vars", (0..6000).map(|i| format!("a{i}=b;(:);\n")).collect::<String>()),
        ("loops", "for i in a b c d e f g h; do ".repeat(d40) + "echo $i" + &"; done".repeat(d40)),
        ("whiles", "while true; do x=$x$x; ".repeat(20) + "echo $i" + &"; done".repeat(20)),
        ("funcs", (0..200).map(|i| format!("f{}() {{ f{}; f{}; }}\n", i+1, i, i)).collect::<String>() + "f200"),
        ("double", "a=xxxxxxxxxxxx\n".to_string() + &"a=$a$a\n".repeat(10000)),
        ("arith", "echo $((1+2)) $(( $(( 3 )) ))\n".repeat(3300)),
        ("braces", format!("echo {}", "{a,b}".repeat(20000))),
        ("opens", format!("echo {}", "{".repeat(100000))),
        ("sed", "sed -n '1,20p' f.txt | awk '{print $1}'\n".repeat(2500)),
        ("git", "git -C x log --oneline -5 -- a b\n".repeat(3000)),
        ("case", "case $x in a) ls;; b) pwd;; esac\n".repeat(3000)),
        ("bashc", "bash -c 'ls -l | wc'\n".repeat(4500)),
        ("eval", "eval 'ls -l | wc'; ".repeat(5000)),
        ("semis", "((a' ')) ".repeat(11000)),
        ("py", format!("python3 -c '{}'", "import os; x = \"/a/b\"; ".repeat(4000))),
        ("if", "if true; then ls; else pwd; fi\n".repeat(3200)),
        ("heredocs", (0..3000).map(|i| format!("cat <<E{i}\n$x $(ls)\nE{i}\n")).collect::<String>()),
        ("env", "A=1 B=2 LD_PRELOAD=x ls\n".repeat(4000)),
        ("xargs", "find . -name x | xargs -n1 rm\n".repeat(3200)),
    ] {
        let t = Instant::now(); let a = analyze(&text, &s);
        println!("{name:12} {:7} bytes {:9.2?}  commands {} paths {} unknowns {} ({})", text.len(), t.elapsed(), a.commands.len(), a.paths.len(), a.unknowns.len(), a.unknowns.first().map(|u| u.reason.to_string()).unwrap_or_default());
    }
}
