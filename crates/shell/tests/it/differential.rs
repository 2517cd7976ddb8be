//! The analysis against the real bash: whatever program bash starts must be
//! among the commands that the analysis lists, or the analysis must say that it
//! does not know.

use crate::bash::{Laboratory, RECORDED, exists};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use rein_shell::{Program, Surroundings, Word, analyze};

/// The commands that the analysis lists, by name; none if it says that it does not know.
fn listed(text: &str, directory: &str) -> Option<Vec<(String, Vec<Word>)>> {
    let analysis = analyze(text, &Surroundings::new(directory).with_home(directory));
    if !analysis.is_understood() {
        return None;
    }
    let name = |program: &Program| match program {
        Program::Named(name) | Program::Builtin(name) => Some(name.clone()),
        Program::File(path) => path.rsplit('/').next().map(str::to_owned),
        Program::Function(_) | Program::Unknown => None,
    };
    let commands = analysis.commands.iter();
    Some(commands.filter_map(|command| Some((name(&command.program)?, command.argv[1..].to_vec()))).collect())
}

/// Whether arguments are ones that the words say: known text as it is, anything for what is not known.
fn fits(words: &[Word], arguments: &[String]) -> bool {
    match (words, arguments) {
        ([], []) => true,
        ([], _) => false,
        ([word, rest @ ..], _) if word.is_many() => {
            (0..=arguments.len()).any(|taken| fits(rest, &arguments[taken..]))
        }
        ([_, ..], []) => false,
        ([word, words @ ..], [argument, arguments @ ..]) => {
            word.literal().is_none_or(|text| text == argument) && fits(words, arguments)
        }
    }
}

/// Bash must not start anything that is not listed, and nothing with other arguments.
pub fn agrees(laboratory: &Laboratory, text: &str) -> Result<(), String> {
    let here = laboratory.here();
    let Some(listed) = listed(text, here.to_str().unwrap()) else { return Ok(()) };
    // Not every `sh` knows braces.
    let braces = text.contains("sh") && text.contains('{');
    for record in laboratory.run(text) {
        let (name, arguments) = record.split_first().unwrap();
        let known = listed.iter().any(|(listed, words)| listed == name && (braces || fits(words, arguments)));
        if !known {
            return Err(format!("{text:?} starts {record:?}, listed {listed:?}"));
        }
    }
    Ok(())
}

pub fn runner(cases: u32) -> TestRunner {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(cases);
    TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() })
}

fn program() -> impl Strategy<Value = String> {
    let name = prop::sample::select(RECORDED.to_vec());
    (name, 0..12_u8).prop_map(|(name, spelling)| {
        let (first, rest) = name.split_at(1);
        match spelling {
            0 => format!("'{name}'"),
            1 => format!("\"{name}\""),
            2 => format!("{first}''{rest}"),
            3 => format!("\\{name}"),
            4 => format!("{first}\\\n{rest}"),
            5 => format!("$'\\x{:02x}{rest}'", first.as_bytes()[0]),
            6 => format!("{first}\"\"{rest}"),
            7 => format!("{{{name},x}}"),
            _ => name.to_owned(),
        }
    })
}

fn argument() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "x",
        "-v",
        "'; beta'",
        "\"a b\"",
        "\\;",
        "$X",
        "\"$X\"",
        "${X:-y}",
        "a#b",
        "{1..3}",
        "~",
        "$((1+2))",
        "*",
        "\\#",
        "'$(beta)'",
        "\"\\$(beta)\"",
        "2>&1",
        ">out",
        "<<<text",
        "--",
        "# beta",
    ])
    .prop_map(str::to_owned)
}

fn simple() -> impl Strategy<Value = String> {
    (program(), prop::collection::vec(argument(), 0..3)).prop_map(|(program, arguments)| {
        let mut words = vec![program];
        words.extend(arguments);
        let comment = words.iter().any(|word| word.starts_with('#'));
        words.join(" ") + if comment { "\n" } else { "" }
    })
}

/// A text as one word for `eval` or `bash -c`.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn wrapped(inner: String, kind: u8) -> String {
    match kind {
        0 => format!("env A=1 {inner}"),
        1 => format!("nice -n 1 {inner}"),
        2 => format!("command {inner}"),
        3 => format!("eval {}", quoted(&inner)),
        4 => format!("bash -c {}", quoted(&inner)),
        5 => format!("sh -c {}", quoted(&inner)),
        6 => format!("echo a | xargs {inner}"),
        7 => format!("find . -maxdepth 0 -exec {inner} \\;"),
        8 => format!("timeout 5 {inner}"),
        9 => format!("time {inner}"),
        10 => format!("! {inner}"),
        11 => format!("X=1 Y=2 {inner}"),
        12 => format!("(exec {inner})"),
        13 => format!("trap {} EXIT", quoted(&inner)),
        14 => format!("coproc {inner}"),
        15 => format!("bash <<'E'\n{inner}\nE\n"),
        16 => format!("echo {} | sh", quoted(&inner)),
        17 => format!("nohup {inner}"),
        18 => format!("X={}; $X", quoted(&inner)),
        _ => format!("builtin eval {}", quoted(&inner)),
    }
}

fn compound(one: &str, other: &str, kind: u8) -> String {
    match kind {
        0 => format!("{one}; {other}"),
        1 => format!("{one} && {other}"),
        2 => format!("{one} || {other}"),
        3 => format!("{one} | {other}"),
        4 => format!("{one} |& {other}"),
        5 => format!("{one} & {other}\nwait"),
        6 => format!("({one}; {other})"),
        7 => format!("{{ {one}; {other}\n}}"),
        8 => format!("if {one}\nthen {other}\nfi"),
        9 => format!("if false; then {one}\nelse {other}\nfi"),
        10 => format!("for i in a b; do {one}\n{other}\ndone"),
        11 => format!("case x in y) {one}\n;; *) {other}\n;; esac"),
        12 => format!("f() {{ {one}\n}}\n{other}\nf"),
        13 => format!("alpha $({one}\n) `{}`", other.replace('\\', "\\\\").replace('`', "\\`")),
        14 => format!("alpha \"$({one}\n{other}\n)\""),
        15 => format!("alpha <({one}\n) > >({other}\n)"),
        16 => format!(": <<E\n$({one}\n)\nE\n{other}"),
        17 => format!(": <<'E'\n$(beta)\nE\n{one}\n{other}"),
        18 => format!("alpha ${{NONE:-$({one}\n)}}; {other}"),
        19 => format!("[[ -n $({one}\n) ]] || {other}"),
        20 => format!("x=( $({one}\n) ); {other}"),
        21 => format!("until {one}\ndo {other}\nbreak; done"),
        22 => format!("X=\"$({one}\n)\" {other}"),
        23 => format!("{one} # {}\n{other}", "beta; beta"),
        24 => format!("function g {{ {one}\n}}; g; {other}"),
        _ => format!("alpha \\\n  {}; {other}", one.replace('\n', ";")),
    }
}

fn line() -> impl Strategy<Value = String> {
    simple().prop_recursive(3, 24, 2, |inner| {
        prop_oneof![
            (simple(), 0..20_u8).prop_map(|(inner, kind)| wrapped(inner, kind)),
            (inner.clone(), 3..6_u8).prop_map(|(inner, kind)| wrapped(inner, kind)),
            (inner.clone(), inner, 0..26_u8).prop_map(|(one, other, kind)| compound(&one, &other, kind)),
        ]
    })
}

#[test]
fn bash_starts_nothing_that_the_analysis_does_not_list() {
    if !exists() {
        return;
    }
    let laboratory = Laboratory::new();
    let result = runner(300).run(&line(), |text| agrees(&laboratory, &text).map_err(TestCaseError::fail));
    if let Err(error) = result {
        panic!("{error}");
    }
    assert!(laboratory.records() > 20, "{} programs started", laboratory.records());
}

/// Pieces of shell text. Put together at random they are mostly refused; what is not is read in odd ways.
const SOUP: [&str; 64] = [
    "alpha",
    "beta",
    "rm",
    " ",
    " ",
    " ",
    ";",
    "&&",
    "||",
    "|",
    "&",
    "(",
    ")",
    "{ ",
    "; }",
    "\n",
    "\n",
    "'",
    "\"",
    "`",
    "$(",
    ")",
    "$((",
    "))",
    "\\",
    "#",
    "<<E\n",
    "\nE\n",
    "<<'E'\n",
    "$X",
    "X=",
    "X=alpha ",
    "if ",
    "; then ",
    "; fi",
    "; else ",
    "case x in ",
    "x) ",
    ";; ",
    "esac",
    "for i in ",
    "; do ",
    "; done",
    "! ",
    "time ",
    "[[ ",
    " ]] ",
    "<(",
    ">out ",
    "2>&1 ",
    "&>",
    "|&",
    "${X:-",
    "}",
    "$'",
    "\\\n",
    "eval ",
    "coproc ",
    "{a,b}",
    "<<<",
    "x=(",
    "command ",
    "echo ",
    "$",
];

#[test]
fn bash_starts_nothing_unlisted_from_a_soup_of_shell_text_either() {
    if !exists() {
        return;
    }
    let laboratory = Laboratory::new();
    let soup =
        prop::collection::vec(prop::sample::select(SOUP.to_vec()), 1..14).prop_map(|pieces| pieces.concat());
    let result = runner(1500).run(&soup, |text| agrees(&laboratory, &text).map_err(TestCaseError::fail));
    if let Err(error) = result {
        panic!("{error}");
    }
    // Most soup is not understood and not run; without any that is, the test would show nothing.
    assert!(laboratory.records() > 5, "{} programs started", laboratory.records());
}

/// Quotes and expansions in each other, put together without care.
fn tangle() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "alpha", "beta", "x", " ", "'", "\"", "\\", "#", "$X", "}", ")", "*", "\n", "a b", "${X}", "$'\\n'",
        ";", "~",
    ]);
    leaf.prop_map(str::to_owned).prop_recursive(4, 24, 3, |inner| {
        (prop::collection::vec(inner, 1..4), 0..14_u8).prop_map(|(parts, kind)| {
            let inside = parts.concat();
            match kind {
                0 => format!("\"{inside}\""),
                1 => format!("'{inside}'"),
                2 => format!("$({inside})"),
                3 => format!("`{inside}`"),
                4 => format!("${{X:-{inside}}}"),
                5 => format!("${{HOME:+{inside}}}"),
                6 => format!("\"$({inside})\""),
                7 => format!("\"`{inside}`\""),
                8 => format!("\"${{X:-{inside}}}\""),
                9 => format!("${{HOME#{inside}}}"),
                10 => format!("<({inside})"),
                11 => format!("$'{inside}'"),
                12 => format!("\\{inside}"),
                _ => inside,
            }
        })
    })
}

#[test]
fn bash_starts_nothing_unlisted_from_tangled_quotes() {
    if !exists() {
        return;
    }
    let laboratory = Laboratory::new();
    let line = (tangle(), 0..5_u8).prop_map(|(word, kind)| match kind {
        0 => format!("git {word}"),
        1 => format!("X={word}"),
        2 => format!("cat <<E\n{word}\nE\n"),
        3 => format!("[[ -n {word} ]]"),
        _ => format!("case {word} in {word}) alpha;; esac"),
    });
    let result = runner(1000).run(&line, |text| agrees(&laboratory, &text).map_err(TestCaseError::fail));
    if let Err(error) = result {
        panic!("{error}");
    }
    assert!(laboratory.records() > 20, "{} programs started", laboratory.records());
}
