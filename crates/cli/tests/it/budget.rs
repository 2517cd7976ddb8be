//! Caps on what a run and a day may spend.

use rein_testkit::{ModelServer, Project, Rein, Script, Turn};
use serde_json::json;

use crate::{asking, rein, server};

/// A provider of its own, with a price of a dollar for a million tokens: that of another seller would not count.
fn priced(project: &Project, server: &ModelServer) -> Rein {
    let settings = [
        "provider.mine.key_env=\"MINE_KEY\"".to_owned(),
        format!("provider.mine.base_url={}", server.base_url()),
        "provider.mine.models.priced.input_price=1".to_owned(),
        "provider.mine.models.priced.output_price=1".to_owned(),
    ];
    let run = rein(project).env("MINE_KEY", "k").args(["--model", "mine/priced"]);
    settings.iter().fold(run, |run, setting| run.args(["--config", setting.as_str()]))
}

fn reads(count: usize) -> Vec<Turn> {
    let call = |index: usize| Turn::call("read", json!({"path": format!("f{index}")})).usage(900, 100, 0);
    (0..count).map(call).chain([Turn::text("done").usage(900, 100, 0)]).collect()
}

fn project() -> Project {
    (0..5).fold(Project::new(), |project, index| project.file(format!("f{index}"), "x"))
}

#[test]
fn tokens_are_capped_with_a_warning_an_exit_code_and_the_way_on() {
    let (project, server) = (project(), server(reads(5)));
    let output = asking(&project, &server).args(["-p", "go", "--max-tokens", "2500"]).run();
    output.assert_code(4);
    assert_eq!(server.requests().len(), 3, "{output}");
    assert!(
        output.stderr.contains("80 % of the budget of this run is used: 2000 of 2500 tokens"),
        "{output}"
    );
    assert!(output.stderr.contains("is spent: 3000 of 2500 tokens (budget)"), "{output}");
    assert!(
        output.stderr.contains("hint: go on in a new run, and raise the cap with --max-tokens"),
        "{output}"
    );
    // Another run has a budget of its own, and goes on where this one stopped.
    let output = asking(&project, &server).args(["-p", "--continue", "go on", "--max-tokens", "9k"]).run();
    output.assert_success();
    assert_eq!(server.requests().len(), 6);
}

#[test]
fn money_is_capped_where_the_price_is_known_and_nothing_is_begun_where_it_is_not() {
    let (project, server) = (project(), server(reads(5)));
    let unknown =
        asking(&project, &server).args(["-p", "go", "--max-cost", "0.0015", "--output", "json"]).run();
    unknown.assert_code(4);
    assert_eq!(server.requests().len(), 0, "{unknown}");
    let object = &unknown.json_lines()[0];
    assert_eq!(object["stop_reason"], "budget");
    assert!(object["message"].as_str().unwrap().contains("what `openai/test-model` costs is not known"));
    assert!(object["message"].as_str().unwrap().contains("unknown_cost"));

    let known = priced(&project, &server).args(["-p", "go", "--max-cost", "0.0015"]).run();
    known.assert_code(4);
    assert_eq!(server.requests().len(), 2, "{known}");
    assert!(known.stderr.contains("the budget of this run is spent: $0.002 of $0.0015"), "{known}");

    let accepted = ["--config", "budget.unknown_cost=accept", "-p", "go", "--max-cost", "0.0015"];
    let output = asking(&project, &server).args(accepted).run();
    output.assert_success();
    assert!(output.stderr.contains("its calls do not count against the cap on cost"), "{output}");
}

#[test]
fn a_day_is_capped_over_sessions_and_runs() {
    let (project, server) = (project(), server([Turn::text("one").usage(900, 100, 0)]));
    let day = ["--config", "budget.day.tokens=1000"];
    asking(&project, &server).args(day).args(["-p", "go"]).run().assert_success();
    for how in [vec!["-p", "again"], vec!["-p", "--continue", "again"]] {
        let output = asking(&project, &server).args(day).args(how).run();
        output.assert_code(4);
        assert!(output.stderr.contains("the budget of today is spent: 1000 of 1000 tokens"), "{output}");
        assert!(output.stderr.contains("budget.day.tokens"), "{output}");
    }
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn time_ends_a_turn_in_the_middle_of_an_answer_and_of_a_command() {
    let answer = Turn::text("first words").gate("never");
    let command = Turn::call("bash", json!({"command": "sleep 600"}));
    for turn in [answer, command] {
        let (project, server) = (Project::new(), ModelServer::start_blocking(Script::new().turn(turn)));
        let run = ["-p", "go", "--max-time", "1s", "--mode", "free", "--config", "sandbox.confine=off"];
        let output = asking(&project, &server).args(run).run();
        output.assert_code(4);
        assert!(output.stderr.contains("the budget of this run is spent: 1s of 1s"), "{output}");
        assert!(output.stderr.contains("--max-time"), "{output}");
    }
}

#[test]
fn nonsense_is_refused_before_anything_begins() {
    let (project, server) = (Project::new(), server([]));
    for wrong in [["--max-cost", "-1"], ["--max-tokens", "many"], ["--max-time", "soon"]] {
        asking(&project, &server).args(["-p", "go"]).args(wrong).run().assert_code(2);
    }
}
