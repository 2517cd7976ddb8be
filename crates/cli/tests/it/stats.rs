//! What was spent and done, as `rein stats` shows it.

use rein_testkit::{Project, Turn};
use serde_json::{Value, json};

use crate::{asking, rein, server};

fn worked() -> Project {
    let project = Project::new().file("a", "1");
    let read = |cached| Turn::call("read", json!({"path": "a"})).usage(1_000, 50, cached);
    let turns = [
        read(0),
        Turn::call("read", json!({"path": "b"})).usage(1_100, 50, 1_000),
        Turn::text("done").usage(1_200, 50, 100),
    ];
    let server = server(turns);
    asking(&project, &server).args(["-p", "go"]).run().assert_success();
    project
}

fn stats(project: &Project, arguments: &[&str]) -> Value {
    let output = rein(project).args(["stats", "--json"]).args(arguments).run();
    output.assert_success();
    serde_json::from_str(&output.stdout).unwrap()
}

#[test]
fn every_view_adds_up_to_the_same() {
    let project = worked();
    for by in ["day", "model", "project"] {
        let report = stats(&project, &["--by", by]);
        assert_eq!((&report["type"], &report["by"]), (&json!("stats"), &json!(by)));
        let rows = report["rows"].as_array().unwrap();
        assert_eq!(rows.len(), 1, "{report}");
        assert_eq!(rows[0]["tokens"], json!(3_450), "{report}");
        assert_eq!(rows[0]["usage"]["cache_read"], json!(1_100));
        assert_eq!((&rows[0]["cost_usd"], &rows[0]["unknown_cost_calls"]), (&Value::Null, &json!(3)));
        assert_eq!((&report["total"]["steps"], &report["sessions"]), (&json!(3), &json!(1)));
    }
    assert_eq!(stats(&project, &["--by", "model"])["rows"][0]["key"], "openai/test-model");
    let tools = stats(&project, &["--by", "tool"]);
    assert_eq!(tools["rows"][0]["key"], "read");
    assert_eq!((&tools["rows"][0]["calls"], &tools["rows"][0]["failed_calls"]), (&json!(2), &json!(1)));
}

#[test]
fn a_chart_fits_twenty_columns_and_needs_no_unicode() {
    let project = worked();
    for by in ["day", "model", "project", "tool"] {
        let output = rein(&project).env("COLUMNS", "20").env("LC_ALL", "C").args(["stats", "--by", by]).run();
        output.assert_success();
        assert!(output.stdout.is_ascii() && output.stdout.contains('#'), "{output}");
        assert!(output.stdout.lines().all(|line| line.chars().count() <= 20), "{output}");
    }
    let output = rein(&project).env("LC_ALL", "C.UTF-8").args(["stats"]).run();
    assert!(output.stdout.contains('█'), "{output}");
}

#[test]
fn nothing_done_is_nothing_to_show() {
    let project = Project::new();
    let output = rein(&project).args(["stats", "--days", "7"]).run();
    assert_eq!(output.assert_success().stdout, "nothing in the last 7 days\n");
    rein(&project).args(["stats", "--days", "0"]).run().assert_code(2);
    rein(&project).args(["stats", "cache"]).run().assert_code(2);
}

#[test]
fn the_cache_is_shown_step_by_step_with_what_became_worse() {
    let project = worked();
    let output = rein(&project).args(["stats", "cache", "--json"]).run();
    let report: Value = serde_json::from_str(&output.assert_success().stdout).unwrap();
    let steps = report["steps"].as_array().unwrap();
    let told: Vec<(&Value, &Value)> =
        steps.iter().map(|step| (&step["hit_rate"], &step["dropped"])).collect();
    assert_eq!(told.len(), 3, "{report}");
    assert_eq!((told[0].0, told[0].1), (&json!(0.0), &json!(false)));
    assert_eq!((told[1].1, told[2].1), (&json!(false), &json!(true)));
    assert!(steps[2]["why"].is_string());
    let output = rein(&project).args(["stats", "cache"]).run();
    assert_eq!(output.assert_success().stdout.lines().count(), 3, "{output}");
}
