//! Edits in other forms than the one that was offered.

use rein_tools::{EditForm, Registry};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::Stage;

const FORMS: [EditForm; 3] = [EditForm::Replace, EditForm::Hashline, EditForm::Patch];

async fn done(stage: &Stage, form: EditForm, tool: &str, arguments: Value) -> String {
    let registry = Registry::builtin_with(form);
    let plan = registry.get(tool).unwrap().plan(arguments, &stage.scene).await;
    let plan = plan.map_err(|complaint| complaint.0).unwrap();
    stage.run(plan, &CancellationToken::new()).await.text
}

#[test]
fn a_form_has_a_name() {
    for form in FORMS {
        assert_eq!(form.to_string().parse(), Ok(form));
    }
    assert_eq!("apply_patch".parse(), Ok(EditForm::Patch));
    let error = "vim".parse::<EditForm>().unwrap_err().to_string();
    assert_eq!(error, "there is no edit form \"vim\"; use replace, hashline or patch");
}

#[test]
fn one_form_is_offered_in_the_place_of_the_others() {
    let names = |form| -> Vec<String> {
        Registry::builtin_with(form).specs().into_iter().map(|spec| spec.name).collect()
    };
    let mut patched = names(EditForm::Replace);
    patched.iter_mut().filter(|name| *name == "edit").for_each(|name| *name = "apply_patch".to_owned());
    assert_eq!(names(EditForm::Hashline), names(EditForm::Replace));
    assert_eq!(names(EditForm::Patch), patched);
    for form in FORMS {
        let specs = Registry::builtin_with(form).specs();
        let spec = specs.iter().find(|spec| ["edit", "apply_patch"].contains(&spec.name.as_str())).unwrap();
        let bytes = serde_json::to_string(spec).unwrap().len();
        assert!(bytes < 1200, "{form}: {bytes}");
    }
}

#[tokio::test]
async fn every_form_is_understood_whichever_was_offered() {
    for form in FORMS {
        let stage = Stage::with(&[("a.txt", "one\ntwo\n")]);
        stage.read("a.txt").await;
        let replace = json!({"file_path": "a.txt", "old_string": "one", "new_string": "1"});
        done(&stage, form, "edit", replace).await;
        assert_eq!(stage.get("a.txt"), b"1\ntwo\n", "{form}");

        let patch = "*** Begin Patch\n*** Update File: a.txt\n-two\n+2\n*** End Patch";
        for (tool, arguments) in [
            ("apply_patch", json!({"input": patch})),
            ("edit", json!({"patch": patch})),
            ("edit", json!(patch)),
            ("apply_patch", json!({"command": ["apply_patch", patch]})),
        ] {
            stage.put("a.txt", "1\ntwo\n");
            done(&stage, form, tool, arguments).await;
            assert_eq!(stage.get("a.txt"), b"1\n2\n", "{form}");
        }

        let tag = rein_tools::hashline::tag("1\n2\n");
        let input = format!("[a.txt#{tag}]\nSWAP 1:\n+first\n");
        done(&stage, form, "edit", json!({"input": input})).await;
        assert_eq!(stage.get("a.txt"), b"first\n2\n", "{form}");

        let blocks = "```\na.txt\n<<<<<<< SEARCH\nfirst\n=======\n1st\n>>>>>>> REPLACE\n```\n\
                      b.txt\n<<<<<<< SEARCH\n=======\nnew\n>>>>>>> REPLACE\n";
        done(&stage, form, "edit", json!({"text": blocks})).await;
        assert_eq!(stage.get("a.txt"), b"1st\n2\n", "{form}");
        assert_eq!(stage.get("b.txt"), b"new\n", "{form}");

        let unified = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n 1st\n-2\n+second\n";
        done(&stage, form, "edit", json!({"diff": unified})).await;
        assert_eq!(stage.get("a.txt"), b"1st\nsecond\n", "{form}");
    }
}

#[tokio::test]
async fn marks_of_another_form_in_the_text_of_a_file_are_text() {
    let stage = Stage::with(&[("a.md", "x\n")]);
    stage.read("a.md").await;
    let new = "*** Begin Patch\n<<<<<<< SEARCH\n=======\n";
    stage.done("edit", json!({"path": "a.md", "old": "x\n", "new": new})).await;
    assert_eq!(stage.get("a.md"), new.as_bytes());
}

#[tokio::test]
async fn what_is_in_no_form_gets_the_shape_of_the_one_that_was_offered() {
    let stage = Stage::new();
    for (form, tool, shape) in [
        (EditForm::Replace, "edit", "\"path\": string, \"old\": string"),
        (EditForm::Hashline, "edit", "\"input\": string"),
        (EditForm::Patch, "apply_patch", "\"patch\": string"),
    ] {
        let registry = Registry::builtin_with(form);
        let planned = registry.get(tool).unwrap().plan(json!({"what": 1}), &stage.scene).await;
        let complaint = planned.err().unwrap().0;
        assert!(complaint.contains(shape), "{complaint}");
    }
}
