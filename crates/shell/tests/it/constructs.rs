//! Every construct of the shell, and what is found in it.

use crate::support::{analysis, commands, paths, understood};
use rein_shell::{Danger, RedirectKind, Word};

#[track_caller]
fn finds(command: &str, expected: &[&str]) {
    let found = analysis(command);
    let texts: Vec<String> = found.commands.iter().map(|command| command.text()).collect();
    assert_eq!(texts, expected, "{command}");
    assert!(found.is_understood(), "{command}: {:#?}", found.unknowns);
}

#[test]
fn lists_pipelines_and_separators() {
    finds("a;b|c&&d||e&f", &["a", "b", "c", "d", "e", "f"]);
    finds("ls |& sort\npwd", &["ls", "sort", "pwd"]);
    finds("! ls; time -p ls; time ! ls", &["ls", "ls", "ls"]);
    finds("ls &&\n\n # comment\n pwd", &["ls", "pwd"]);
    finds("ls \\\n -l", &["ls -l"]);
}

#[test]
fn groups_conditionals_and_loops() {
    finds("(ls; pwd) > out; { ls; }", &["ls", "pwd", "ls"]);
    finds("if a; then b; elif c; then d; else e; fi", &["a", "b", "c", "d", "e"]);
    finds("while a; do b; done; until c; do d; done", &["a", "b", "c", "d"]);
    finds("for x in 1 2; do echo $x; done", &["echo 1", "echo 2"]);
    finds("for x; do ls; done", &["ls"]);
    finds("for ((i=0; i<3; i++)); do ls; done", &["ls"]);
    finds("case $x in a|b) ls;; (c) pwd;& *) id;;& d) ;; esac", &["ls", "pwd", "id"]);
    finds("select x in a b; do ls; break; done", &["ls", "break"]);
    finds("[[ -f x && ( $a == b* || ! -d y ) ]] && ls", &["ls"]);
    finds("[[ $a =~ ^(x|y)+$ ]] && ls", &["ls"]);
    finds("(( 1 + 2 )) && ls", &["ls"]);
    assert_eq!(commands("((ls); (pwd))"), ["ls", "pwd"]);
    finds("coproc ls", &["ls"]);
    assert_eq!(commands("coproc N { pwd; }"), ["pwd"]);
}

#[test]
fn functions_are_followed_when_they_are_called() {
    finds("f() { rm -rf \"$1\"; }; f src", &["f src", "rm -rf src"]);
    finds("function f { ls; }\nf", &["f", "ls"]);
    finds("run() { \"$@\"; }; run cargo test", &["run cargo test", "cargo test"]);
    finds("f() { ls; }", &["ls"]);
    assert_eq!(commands("cat() { rm -rf x; }; cat f"), ["cat f", "rm -rf x"]);
    // A function that may not have been defined is also a program.
    finds("a || ls() { rm x; }; ls y", &["a", "ls y", "rm x"]);
    // The name means the function, not the program.
    assert_eq!(paths("cat() { ls; }; cat f"), Vec::<String>::new());
    // Variables of a function do not leak out of it.
    finds("f() { local X=/; }; X=src; f; rm -rf $X", &["f", "local X=/", "rm -rf src"]);
}

#[test]
fn substitutions_are_listed_before_what_uses_them() {
    assert_eq!(commands("echo $(a $(b))"), ["b", "a $(…)", "echo $(…)"]);
    assert_eq!(commands("echo \"x `a` y\""), ["a", "echo \"x $(…) y\""]);
    finds("echo '`a` $(b)' \\$c \\`d\\`", &["echo '`a` $(b)' '$c' '`d`'"]);
    assert_eq!(commands("diff <(sort a) <(sort b)"), ["sort a", "sort b", "diff <(…) <(…)"]);
    assert_eq!(commands("tee >(wc -l) < f"), ["wc -l", "tee <(…)"]);
    assert_eq!(
        commands("echo ${x:-$(a)} ${y/$(b)/c} $(( $(wc -l < f) + 1 ))"),
        ["a", "b", "wc -l", "echo ${x:-$(a)} ${y/$(b)/c} $((…))"]
    );
    assert_eq!(commands("x=$(a) y=`b` c; z=( $(d) )"), ["a", "b", "c", "d"]);
}

#[test]
fn here_documents_are_data_unless_they_expand() {
    finds("cat <<'E'\n$(rm x)\n`rm y`\nE\nls", &["cat", "ls"]);
    finds("cat <<\\E | sort\n$(rm x)\nE\n", &["cat", "sort"]);
    finds("cat <<E\n$(ls) \\$(rm x)\nE\n", &["ls", "cat"]);
    finds("cat <<-E\n\t`ls`\n\tE\npwd", &["ls", "cat", "pwd"]);
    assert_eq!(commands("cat <<A <<'B'\n$(ls)\nA\n$(rm)\nB\n"), ["ls", "cat"]);
    finds(
        "git commit -m \"$(cat <<'E'\nfix: a `b` $(c)\nE\n)\"",
        &["cat", "git commit -m 'fix: a `b` $(c)'"],
    );
    finds("cat > x <<'E' && ls\nbody\nE\n", &["cat", "ls"]);
    finds("cat <<< \"$(ls)\"", &["ls", "cat"]);
    finds("bash <<'E'\nrm -rf x\nE\n", &["rm -rf x"]);
    assert_eq!(commands("(cat <<E)\nbody\nE\n"), ["cat"]);
    assert!(!understood("cat <<E\nno end"));
    assert!(!understood("cat <<E"));
}

#[test]
fn comments_count_only_where_bash_has_them() {
    finds("ls # ; rm x", &["ls"]);
    finds("echo a#b; ls", &["echo a#b", "ls"]);
    finds("echo \\# a; ls", &["echo # a", "ls"]);
    finds("ls #a\\\nrm x", &["ls", "rm x"]);
}

#[test]
fn words_are_what_bash_makes_of_them() {
    for (command, argv) in [
        ("e 'a b' \"c\" d\\ e", vec!["a b", "c", "d e"]),
        ("e a'b'\"c\"\\d", vec!["abcd"]),
        ("e $'\\x41\\n\\'\\u00e9\\101'", vec!["A\n'\u{e9}A"]),
        ("e $\"x\"", vec!["x"]),
        ("e {a,b}{1..2} x{,y}", vec!["a1", "a2", "b1", "b2", "x", "xy"]),
        ("e ~ ~/x \"~\" a~", vec!["/home/u", "/home/u/x", "~", "a~"]),
        ("e $HOME/x ${HOME}", vec!["/home/u/x", "/home/u"]),
        ("X=a; e $X ${X}b \"$X c\"", vec!["a", "ab", "a c"]),
        ("X='a b'; e $X \"$X\"", vec!["a", "b", "a b"]),
        ("X=; e $X \"$X\"", vec![""]),
        ("X=a.tar.gz; e ${X%.gz} ${X##*.} ${X:-y} ${Y+z}x", vec!["a.tar", "gz", "a.tar.gz", "?"]),
        ("e \"\\$x \\\"y\\\" \\n\"", vec!["$x \"y\" \\n"]),
        ("e a\\\nb", vec!["ab"]),
        ("e D=~/x --p=~/x", vec!["D=/home/u/x", "--p=~/x"]),
        ("e $PWD $(pwd)", vec!["/work", "/work"]),
    ] {
        let found = analysis(command);
        let last = found.commands.last().unwrap();
        let words: Vec<&str> = last.argv.iter().skip(1).map(|word| word.literal().unwrap_or("?")).collect();
        assert_eq!(words, argv, "{command}");
    }
}

#[test]
fn what_is_not_known_is_a_hole() {
    for command in [
        "e $X",
        "e \"$X\"",
        "e $(ls)",
        "e ${X:-y}",
        "e $1",
        "e \"$@\"",
        "e ~root",
        "e ${!X}",
        "IFS=a; X=b; e $X",
    ] {
        let found = analysis(command);
        let word = found.commands.last().unwrap().argv.get(1).cloned().unwrap();
        assert!(word.has_hole(), "{command}: {word:?}");
    }
}

#[test]
fn a_program_that_is_only_known_when_it_runs_is_unknown() {
    for command in
        ["$X", "$(cat f) x", "`cat f` x", "r$X", "/bin/r[m] x", "r?m x", "rm$IFS-rf", "${X:-rm} x", "\"$@\""]
    {
        assert!(!understood(command), "{command}");
    }
    finds("X=rm; $X -rf x", &["rm -rf x"]);
    // What a command prints is known where the command only prints what it is given.
    finds("$(echo rm) -rf x", &["echo rm", "rm -rf x"]);
}

#[test]
fn what_bash_refuses_is_unknown_and_what_came_before_is_listed() {
    for command in [
        "ls ;; pwd",
        "&& ls",
        "ls &&",
        "ls |",
        "(ls",
        "ls)",
        "{ ls",
        "if a; then b",
        "for x in a; do",
        "'",
        "\"",
        "`",
        "$(",
        "${",
        "case x in",
        "ls *(e:x:)",
        "done",
        "ls > ",
        "f() ",
        "a=(b",
        "[[ a",
        "; ls",
        "$((1",
        "x=()if alpha",
    ] {
        assert!(!understood(command), "{command}");
    }
    let found = analysis("rm -rf x\n)");
    assert_eq!(found.commands.iter().map(|command| command.text()).collect::<Vec<_>>(), ["rm -rf x"]);
    assert!(!found.is_understood());
}

#[test]
fn code_hides_in_many_places_and_is_found() {
    for command in [
        "test -v 'a[$(touch x)]'",
        "[ -v 'a[$(touch x)]' ]",
        "[[ -v a[$x] ]]",
        "[[ 'a[$(touch x)]' -eq 1 ]]",
        "X=$(cat f); [[ $X -gt 1 ]]",
        "X=$(cat f); echo $((X))",
        "X='a[$(touch x)]'; echo $((X+1))",
        "X=$(cat f); ((X++))",
        "let \"$(cat f)\"",
        "printf -v 'a[$(touch x)]' y",
        "read 'a[$(touch x)]'",
        "unset 'a[$(touch x)]'",
        "declare -n r='a[$(touch x)]'",
        "declare -i x=\"$(cat f)\"",
        "export $(cat .env)",
        "echo ${x@P}",
        "X='a[$(touch x)]'; echo ${!X}",
        "eval \"$X\"",
        "trap \"$X\" EXIT",
        "source <(ls)",
        "bash <(ls)",
        "ls | sh",
        "hash -p ./evil ls",
        "enable -f ./x.so y",
        "alias ls='rm x'; ls",
        "shopt -s expand_aliases",
        "shopt -s extglob",
        "compgen -C 'touch x'",
        "bind -x '\"a\":touch x'",
    ] {
        assert!(!understood(command), "{command}");
    }
    for command in [
        "PS4='$(touch x)'; set -x; :",
        "PROMPT_COMMAND='touch x'",
        "BASH_ENV=./evil bash -c ls",
        "mapfile -C 'touch x #' -c 1 y <<< 1",
        "LD_PRELOAD=./x.so ls",
        "GIT_EXTERNAL_DIFF=./x git diff",
    ] {
        assert!(analysis(command).hazards.iter().any(|hazard| hazard.class == Danger::Executes), "{command}");
    }
    finds("trap 'rm -rf x' EXIT", &["rm -rf x", "trap 'rm -rf x' EXIT"]);
    finds("eval 'ls; pwd'", &["ls", "pwd"]);
}

#[test]
fn numbers_in_arithmetic_cost_nothing() {
    for command in [
        "i=0; while [ $i -lt 3 ]; do echo $i; i=$((i+1)); done",
        "n=$(wc -l < f); echo $((n / 2))",
        "for i in {1..15}; do echo $((i*2)); done",
        "start=$(date +%s); ls; echo $(( $(date +%s) - start ))",
        "[[ $? -eq 0 ]] && ls",
        "((count++)); echo $count",
        "c=$(grep -c x f); [[ $c -gt 1 ]] && ls",
    ] {
        assert!(understood(command), "{command}: {:?}", analysis(command).unknowns);
    }
}

#[test]
fn redirections_that_open_files_are_listed_and_others_are_nothing() {
    let found = analysis("a <r >w >>x <>y >|z &>b &>>c 2>e >&f 3<g");
    let kinds: Vec<(RedirectKind, Option<u32>, &str)> = found
        .redirects
        .iter()
        .map(|redirect| (redirect.kind, redirect.descriptor, redirect.target.literal().unwrap()))
        .collect();
    use RedirectKind::{Append, Read, ReadWrite, Write};
    assert_eq!(
        kinds,
        [
            (Read, None, "r"),
            (Write, None, "w"),
            (Append, None, "x"),
            (ReadWrite, None, "y"),
            (Write, None, "z"),
            (Write, None, "b"),
            (Append, None, "c"),
            (Write, Some(2), "e"),
            (Write, None, "f"),
            (Read, Some(3), "g"),
        ]
    );
    for command in ["ls 2>&1", "ls >/dev/null", "ls >&2", "ls 2>&-", "ls &>/dev/null", "ls <&3", "ls >&$?"] {
        assert_eq!(analysis(command).redirects, [], "{command}");
        assert_eq!(paths(command), Vec::<String>::new(), "{command}");
    }
    assert_eq!(paths("> out"), ["write /work/out"]);
    assert_eq!(paths("echo x > \"$X\""), ["write ?$X"]);
    assert_eq!(paths("echo x > $PWD/p"), ["write /work/p"]);
    assert_eq!(paths("exec > log"), ["write /work/log"]);
    assert!(analysis("cat < /dev/tcp/h/80").hazards.iter().any(|hazard| hazard.class == Danger::Exfiltrates));
}

#[test]
fn directories_are_followed() {
    assert_eq!(paths("cd src && cat a"), ["list /work/src", "read /work/src/a"]);
    assert_eq!(paths("cd src; cat a"), ["list /work/src", "read /work/src/a", "read /work/a"]);
    assert_eq!(paths("cd src || exit 1; cat a"), ["list /work/src", "read /work/src/a"]);
    assert_eq!(paths("(cd src && cat a); cat b"), ["list /work/src", "read /work/src/a", "read /work/b"]);
    assert_eq!(paths("cd \"$X\" && cat a"), ["list ?$X", "read ?a"]);
    assert_eq!(paths("cd && cat a"), ["read /home/u/a"]);
    assert_eq!(paths("S=build/out; cat > $S/x.go <<'E'\nE\n"), ["write /work/build/out/x.go"]);
    assert_eq!(paths("bash -c 'cd /tmp && rm x'; cat y"), ["list /tmp", "delete /tmp/x", "read /work/y"]);
}

#[test]
fn a_path_is_not_the_program_of_that_name() {
    assert_eq!(commands("./cat x"), ["./cat x"]);
    assert_eq!(commands("/tmp/cat x"), ["/tmp/cat x"]);
    assert_eq!(commands("/usr/bin/cat x"), ["cat x"]);
    assert_eq!(paths("./cat x"), ["execute /work/./cat", "read /work/x"]);
}

#[test]
fn characters_that_hide_are_noted() {
    for command in ["echo a\u{202e}b", "ls\0", "echo \u{200b}", "ls\r\n", "echo \u{1b}[2J"] {
        assert!(!understood(command), "{command:?}");
    }
    assert!(!understood("ls\u{a0}-l"));
    assert!(understood("echo '\u{a0}'"));
}

#[test]
fn what_agents_write_every_day_is_understood() {
    for command in [
        "cd x && echo \"=== y ===\" && ls -la 2>/dev/null || true",
        "cargo test 2>&1 | tail -20; echo \"exit: $?\"",
        "sleep 2 && curl -s localhost:3000 | head -c 300",
        "set -a && . ./.env && set +a",
        "set -euo pipefail; ls",
        "export PATH=\"/opt/homebrew/bin:$PATH\" && make",
        "python3 - <<'PY'\nprint(1)\nPY\n",
        "find . -name '*.rs' -exec grep -l x {} \\; | xargs wc -l",
        "for f in *.md; do echo \"$f\"; wc -l \"$f\"; done",
        "while read -r l; do echo \"$l\"; done < f",
        "rg -l x src | while IFS= read -r f; do sed -i 's/a/b/' \"$f\"; done",
        "if [ -f x ]; then cat x; fi",
        "nohup python3 s.py > s.log 2>&1 & echo $!",
        "npm run build && npm test -- --watch=false",
        "git log --oneline -5 | cat",
        "[ -d .git ] && git status --short",
        "test -n \"$X\" && echo yes",
        "mkdir -p a/{b,c} && touch a/b/{x,y}.txt",
        "awk -F, '{print $1 \" > \" $2}' f | sort | uniq -c",
        "echo \"$(date): $(git rev-parse --short HEAD)\"",
    ] {
        assert!(understood(command), "{command}: {:?}", analysis(command).unknowns);
    }
}

#[test]
fn a_word_keeps_what_is_known_of_it() {
    let found = analysis("cat /tmp/a-$$/b \"$X/c\"");
    let argv = &found.commands[0].argv;
    assert_eq!(argv[1].start(), "/tmp/a-");
    assert_eq!(argv[2].start(), "");
    assert_eq!(argv[0], Word::text("cat"));
    assert_eq!(found.paths[0].path.as_deref(), Some("/tmp/a-*/b"));
    assert_eq!(found.paths[1].path, None);
}
