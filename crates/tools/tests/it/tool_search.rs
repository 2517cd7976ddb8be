//! Tools that are told of only when they are asked for.

use std::sync::Arc;

use async_trait::async_trait;
use rein_protocol::ToolSpec;
use rein_tools::{Complaint, Plan, Registry, Scene, Tool};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::Stage;

struct Named(&'static str, &'static str);

#[async_trait]
impl Tool for Named {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.0.to_owned(),
            description: self.1.to_owned(),
            input_schema: json!({"type": "object", "properties": {"repo": {"type": "string"}}}),
        }
    }

    async fn plan(&self, _arguments: Value, _scene: &Scene) -> Result<Box<dyn Plan>, Complaint> {
        Err(Complaint(format!("{} was called", self.0)))
    }
}

fn registry() -> Registry {
    Registry::builtin().deferred([
        Arc::new(Named("github_create_issue", "Opens an issue.")) as Arc<dyn Tool>,
        Arc::new(Named("github_list_issues", "Lists issues.")),
        Arc::new(Named("slack_post", "Posts a message to a channel.")),
        Arc::new(Named("read", "Is there already.")),
    ])
}

async fn told(registry: &Registry, query: &str) -> Result<String, String> {
    let stage = Stage::new();
    let tool = registry.get("tool_search").unwrap();
    let plan = tool.plan(json!({ "query": query }), &stage.scene).await.map_err(|complaint| complaint.0)?;
    assert_eq!(plan.intent().effects, []);
    Ok(stage.run(plan, &CancellationToken::new()).await.text)
}

#[tokio::test]
async fn only_names_are_told_and_the_tools_can_be_called() {
    let (plain, registry) = (Registry::builtin(), registry());
    let (before, after) = (plain.specs(), registry.specs());
    let told = before.len() - 1;
    assert_eq!(after[..told], before[..told], "what a provider caches stays the same");
    assert_eq!(after.len(), before.len(), "the search itself is the last");
    let search = after.last().unwrap();
    assert_eq!(
        search.description,
        "Tells the schemas of more tools, which can then be called by name: \
         git, github_create_issue, github_list_issues, slack_post"
    );
    let stage = Stage::new();
    let complaint = registry.get("Slack_Post").unwrap().plan(json!({}), &stage.scene).await;
    assert_eq!(complaint.err().map(|complaint| complaint.0), Some("slack_post was called".to_owned()));
    assert_eq!(registry.nearest("slack_psot"), ["slack_post"]);
    assert!(plain.get("tool_search").is_some() && plain.get("git").is_some());
    assert!(before.iter().all(|spec| spec.name != "git"));
}

#[tokio::test]
async fn schemas_are_found_by_name_and_by_words() {
    let registry = registry();
    let schema = r#"{"type":"object","properties":{"repo":{"type":"string"}}}"#;
    let trailer = "[call them by name, with arguments that fit the schema]";
    assert_eq!(
        told(&registry, "slack_post").await.unwrap(),
        format!("## slack_post\nPosts a message to a channel.\n{schema}\n\n{trailer}")
    );
    let both = told(&registry, "github_list_issues, slack_post").await.unwrap();
    assert!(both.contains("## github_list_issues\n") && both.contains("## slack_post\n"), "{both}");
    let found = told(&registry, "create an issue").await.unwrap();
    assert!(found.starts_with("## github_create_issue\n"), "{found}");
    assert_eq!(
        told(&registry, "weather").await.unwrap_err(),
        "No tool fits. Use other words, or a name from the description of tool_search."
    );
    assert_eq!(told(&registry, "slak_pots").await.unwrap_err(), "No tool fits. Did you mean slack_post?");
}

#[test]
fn many_names_are_told_as_far_as_they_fit() {
    let names: Vec<&'static str> =
        (0..1_000).map(|number| &*format!("server_tool_number_{number}").leak()).collect();
    let tools = names.into_iter().map(|name| Arc::new(Named(name, "")) as Arc<dyn Tool>);
    let specs = Registry::of([]).deferred(tools).specs();
    assert_eq!(specs.len(), 1);
    assert!(specs[0].description.len() < 4_200);
    assert!(specs[0].description.ends_with(" more"), "{}", specs[0].description);
}

#[test]
fn edits_are_offered_in_the_form_that_a_model_writes_best() {
    let registry = Registry::builtin();
    let names =
        |registry: &Registry| -> Vec<String> { registry.specs().into_iter().map(|spec| spec.name).collect() };
    let patch = registry.in_form(rein_tools::EditForm::Patch);
    assert_eq!(names(&patch)[2], "apply_patch");
    assert_eq!(names(&patch).len(), names(&registry).len());
    assert_eq!(names(&patch.in_form(rein_tools::EditForm::Replace)), names(&registry));
}
