//! Whatever the text: no panic, no hang, spans inside the text, and the same
//! answer twice.

use proptest::prelude::*;
use rein_shell::{Analysis, Surroundings, analyze};

fn check(text: &str) -> Analysis {
    let surroundings = Surroundings::new("/work").with_home("/home/u");
    let found = analyze(text, &surroundings);
    let spans = found
        .unknowns
        .iter()
        .map(|unknown| unknown.span)
        .chain(found.commands.iter().map(|command| command.span))
        .chain(found.hazards.iter().map(|hazard| hazard.span))
        .chain(found.paths.iter().map(|path| path.span))
        .chain(found.redirects.iter().map(|redirect| redirect.span));
    for span in spans {
        assert!(span.start <= span.end && text.get(span.start..span.end).is_some(), "{span:?} in {text:?}");
    }
    for command in &found.commands {
        assert!(!command.effects.is_empty());
        assert!(!command.argv.is_empty());
        let _ = (command.text(), command.spellings(), command.prefix(), command.always());
    }
    assert_eq!(found, analyze(text, &surroundings));
    found
}

const SAMPLES: [&str; 24] = [
    "cd x && cargo test 2>&1 | tail -20; echo \"exit: $?\"",
    "git commit -m \"$(cat <<'EOF'\nfix: x\nEOF\n)\"",
    "for f in *.rs; do wc -l \"$f\"; done | sort -n",
    "if [ -f x ]; then rm x; else touch x; fi",
    "find . -name '*.py' -exec sed -i 's/a/b/' {} +",
    "python3 - <<'PY'\nprint('x')\nPY\n",
    "X=a; Y=${X:-b}; echo $((1 + ${#X})) ${Y%.txt}",
    "case $1 in a|b) ls;; *) pwd;; esac",
    "f() { local x=1; \"$@\"; }; f ls",
    "sudo env A=1 timeout 5 bash -c 'ls | xargs rm'",
    "diff <(sort a) <(sort b) > out 2>&1",
    "[[ $a =~ ^(x|y)$ && -n $b ]] || exit 1",
    "while read -r a b; do echo \"$a\"; done <<< \"$x\"",
    "curl -s localhost:3000 | jq '.a[] | select(.b > 1)'",
    "awk -F, '{print $1 > \"out\"}' f | sed -n '1,5p;s/[/]/x/'",
    "echo $'a\\x41\\u00e9' \"`ls`\" {a,b}{1..3} ~/x",
    "tar -czf x.tgz --exclude=.git . && ssh h 'rm -rf y'",
    "docker run --rm -v ./a:/b alpine sh -c 'ls'",
    "trap 'rm -f $t' EXIT; t=$(mktemp)",
    "(( i++ )); let j=i+1; printf -v k '%s' x",
    "npm run build --silent & P=$!; kill $P",
    "cat <<A <<-'B' | tee c\n$(ls)\nA\n\tx\n\tB\n",
    "coproc ls; exec 3<>f; { ls; } >&3",
    "git -C x -c core.pager=y log --format='%h' -- a b",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_analysed(text in "\\PC{0,200}") {
        check(&text);
    }

    #[test]
    fn any_text_of_shell_characters_is_analysed(text in "[a-c $(){}'\"`\\\\;&|<>#=\\n\\[\\]!*?~0-9-]{0,120}") {
        check(&text);
    }

    #[test]
    fn mutations_of_real_commands_are_analysed(
        sample in prop::sample::select(SAMPLES.to_vec()),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..4_u8, "[$(){}'\"`\\\\;&|<>#\\n x]"), 1..8),
    ) {
        let mut text: Vec<char> = sample.chars().collect();
        for (place, kind, character) in edits {
            if text.is_empty() {
                break;
            }
            let place = place.index(text.len());
            let character = character.chars().next().unwrap();
            match kind {
                0 => text[place] = character,
                1 => text.insert(place, character),
                2 => {
                    text.remove(place);
                }
                _ => text.truncate(place),
            }
        }
        check(&text.into_iter().collect::<String>());
    }
}

#[test]
fn samples_are_analysed() {
    for sample in SAMPLES {
        check(sample);
    }
}

#[test]
fn what_nests_repeats_or_grows_without_end_is_bounded() {
    let nest = |open: &str, inside: &str, close: &str, count: usize| {
        format!("{}{inside}{}", open.repeat(count), close.repeat(count))
    };
    for text in [
        nest("(", "ls", ")", 20_000),
        nest("$(", "ls", ")", 20_000),
        nest("{ ", "ls", "; }", 20_000),
        nest("if true; then ", "ls", "; fi", 5_000),
        nest("for i in a b c d; do ", "ls", "; done", 200),
        nest("while true; do x=$x$x; ", "ls", "; done", 30),
        nest("\"$(", "ls", ")\"", 10_000),
        nest("${x:-", "y", "}", 20_000),
        nest("$((", "1", "))", 10_000),
        "((".repeat(30_000),
        "((a' ".repeat(10_000),
        "`".repeat(50_001),
        "<<A ".repeat(10_000),
        format!("echo {}", "{a,b}".repeat(5_000)),
        format!("echo {}", "{".repeat(50_000)),
        format!("x=a\n{}", "x=$x$x\n".repeat(2_000)),
        "bash -c '".repeat(2_000),
        (0..300).map(|n| format!("f{}() {{ f{n}; f{n}; }}\n", n + 1)).collect::<String>() + "f300",
        "eval ".repeat(5_000),
        "env ".repeat(20_000),
        "! ".repeat(30_000),
        "a=".repeat(30_000),
        "x[".repeat(20_000),
    ] {
        check(&text);
    }
}

#[test]
fn a_long_command_is_analysed_to_its_end() {
    let text = format!("{}rm -rf x", "true && ".repeat(12_000));
    let found = check(&text);
    assert_eq!(found.commands.len(), 12_001);
    assert_eq!(found.commands.last().unwrap().text(), "rm -rf x");
    let document = format!("cat > x <<'E'\n{}E\nls", "text $(rm y) `z`\n".repeat(6_000));
    let found = check(&document);
    assert!(found.is_understood(), "{:?}", found.unknowns);
    assert_eq!(found.commands.len(), 2);
}

#[test]
fn a_thread_with_a_small_stack_is_enough() {
    let text = format!("{}ls{}", "$(".repeat(5_000), ")".repeat(5_000));
    let nested = "bash -c 'eval \"(if true; then f() { for i in a; do case x in x) ls $(echo \\\"`id`\\\");; esac; done; }; f; fi)\"'";
    let worker = std::thread::Builder::new().stack_size(1024 * 1024).spawn(move || {
        check(&text);
        check(nested);
    });
    worker.unwrap().join().unwrap();
}
