//! What a table may say, and what becomes of it.

use super::*;
use crate::catalog::PriceTier;

const FROM: TableSource<'_> = TableSource { name: "models.toml", today: "2027-02-01" };

fn read(text: &str) -> Result<Table, TableError> {
    Table::read(text, FROM, &Catalog::bundled())
}

fn wrong(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

const OWN: &str = r#"
date = "2027-01-31"

[[models]]
provider = "togetherai"
id = "openai/gpt-oss-120b"
context = 99000
prices = { input = 0.1, output = 0.2 }

[[models]]
provider = "groq"
id = "brand-new"
context = 1000
images = false

[[models]]
provider = "nobody"
id = "x"
"#;

#[test]
fn a_table_changes_what_is_known_adds_what_is_new_and_touches_nothing_else() {
    let table = read(OWN).unwrap();
    assert_eq!(table.models.len(), 2);
    let before = Catalog::bundled();
    let after = before.clone().with_table(&table);
    let together = after.provider("together").unwrap();
    let changed = together.model("openai/gpt-oss-120b").unwrap();
    let prices = changed.prices.clone().unwrap();
    assert_eq!(
        (changed.context, prices.input, prices.as_of.as_deref()),
        (Some(99_000), 0.1, Some("2027-01-31"))
    );
    assert_eq!(changed.tools, Some(true), "what it does not speak of stays");
    assert_eq!(together.base_url, before.provider("together").unwrap().base_url);
    let new = after.provider("groq").unwrap().model("brand-new").unwrap();
    assert_eq!((new.context, new.images), (Some(1000), Some(ImageSupport::No)));
    assert_eq!(after.providers().len(), before.providers().len());
}

#[test]
fn an_old_table_only_adds_what_is_missing() {
    let table = read(&OWN.replace("2027-01-31", "2020-01-31")).unwrap();
    let after = Catalog::bundled().with_table(&table);
    let same = after.provider("together").unwrap().model("openai/gpt-oss-120b").unwrap();
    assert_eq!(same, Catalog::bundled().provider("together").unwrap().model("openai/gpt-oss-120b").unwrap());
    assert!(after.provider("groq").unwrap().model("brand-new").is_some());
}

#[test]
fn what_is_written_is_read_again() {
    let table = read(OWN).unwrap();
    assert_eq!(table.source.as_deref(), Some("models.toml"));
    assert_eq!(read(&table.to_toml()).unwrap(), table);
}

#[test]
fn the_json_of_others_is_understood() {
    let text = r#"{"togetherai": {"id": "togetherai", "env": ["X"], "models": {
        "m": {"id": "m", "name": "M", "tool_call": true, "reasoning": false, "modalities": {"input": ["text", "image"], "output": ["text"]},
              "cost": {"input": 1, "output": 2, "cache_read": 0.5,
                  "tiers": [{"tier": {"size": 200}, "input": 2, "output": 3, "cache_read": 1}, {"tier": {"type": "hour"}, "input": 9}]}, "limit": {"context": 1000, "output": 1000}},
        "free": {"cost": {"input": 0, "output": 0}, "limit": {"context": 0, "output": 0}},
        "painter": {"modalities": {"input": ["text"], "output": ["image"]}}}}, "unknown": {"models": {"x": {}}}}"#;
    let free = TableModel { provider: "together".into(), id: "free".into(), ..TableModel::default() };
    let model = TableModel {
        id: "m".into(),
        context: Some(1000),
        tools: Some(true),
        reasoning: Some(false),
        images: Some(true),
        prices: Some(Prices {
            input: 1.0,
            output: 2.0,
            cached_input: Some(0.5),
            tiers: vec![PriceTier {
                above: 200,
                input: 2.0,
                output: 3.0,
                cached_input: Some(1.0),
                ..PriceTier::default()
            }],
            ..Prices::default()
        }),
        ..free.clone()
    };
    let expected =
        Table { date: "2027-02-01".into(), source: Some("models.toml".into()), models: vec![free, model] };
    assert_eq!(read(text), Ok(expected));
}

#[test]
fn a_bad_table_is_refused_with_the_place() {
    let model = |rest: &str| {
        format!("date = \"2027-01-31\"\n\n[[models]]\nprovider = \"groq\"\nid = \"m\"\n{rest}\n")
    };
    assert_eq!(wrong("date = 5"), "line 1, column 8: invalid type: integer `5`, expected a string");
    assert_eq!(wrong("date = \"soon\""), "line 1, column 8: `soon` is no date: write it like 2026-01-31");
    assert_eq!(
        wrong(&model("context = 10\noutput = 20")),
        "line 3, column 1: groq/m: an answer of 20 tokens does not fit into a window of 10"
    );
    assert_eq!(
        wrong(&model("prices = { input = -1.0, output = 1.0 }")),
        "line 3, column 1: groq/m: a price is less than nothing, or no number"
    );
    assert!(
        wrong(&model("base_url = \"https://evil.example\""))
            .starts_with("line 6, column 1: unknown field `base_url`")
    );
    assert!(wrong("{\"groq\": 5}").starts_with("line 1, column 10: invalid type"));
    assert!(
        wrong(r#"{"groq": {"models": {"m": {"cost": {"input": -1, "output": 1}}}}}"#)
            .starts_with("groq.models.m: groq/m")
    );
    assert!(wrong("<html>").starts_with("line 1, column "));
    assert_eq!(wrong("date = \"2027-01-31\""), TableError::Nothing.to_string());
    assert_eq!(wrong(r#"{"elsewhere": {"models": {"m": {}}}}"#), TableError::Nothing.to_string());
}
