//! What a model is told of the tools, to the byte: every request carries it.

use rein_tools::Registry;
use serde_json::json;

#[test]
fn the_tools_are_told_in_few_bytes() {
    let specs = Registry::builtin().specs();
    let tools: Vec<_> = specs
        .iter()
        .map(|spec| {
            json!({"type": "function", "function": {
                "name": spec.name, "description": spec.description, "parameters": spec.input_schema,
            }})
        })
        .collect();
    let sizes: Vec<String> = tools
        .iter()
        .zip(&specs)
        .map(|(tool, spec)| format!("{} {}", spec.name, tool.to_string().len()))
        .collect();
    let total = serde_json::to_string(&tools).unwrap().len();
    assert!(total <= 9 * 1024, "{total} bytes");
    let searching: usize = tools
        .iter()
        .zip(&specs)
        .filter(|(_, spec)| ["glob", "grep", "list", "todo"].contains(&spec.name.as_str()))
        .map(|(tool, _)| tool.to_string().len())
        .sum();
    assert!(searching <= 2_600, "{searching} bytes");
    let told: Vec<String> = specs
        .iter()
        .map(|spec| format!("## {}\n{}\n{}", spec.name, spec.description, spec.input_schema))
        .collect();
    // As many as there are groups of four bytes, by the usual rule of thumb.
    let tokens = total.div_ceil(4);
    let sizes = sizes.join(", ");
    insta::assert_snapshot!(format!(
        "{total} bytes, about {tokens} tokens: {sizes}\n\n{}",
        told.join("\n\n")
    ));
}

#[test]
fn the_same_bytes_every_time() {
    let told = || serde_json::to_string(&Registry::builtin().specs()).unwrap();
    assert_eq!(told(), told());
}
