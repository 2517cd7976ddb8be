//! Tools that users write, with real programs.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rein_protocol::{Block, CallStatus, Effect};
use rein_tools::Tool;
use rein_tools::user_tool::{Discovered, Limits, Origin, ToolDirectory, UserTools};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{Called, Stage, Taken};

/// A folder of tools beside a workspace.
struct Shed {
    stage: Stage,
    folder: PathBuf,
}

impl Shed {
    fn new() -> Self {
        let stage = Stage::new();
        let folder = stage.root.with_file_name("tools");
        std::fs::create_dir(&folder).unwrap();
        Self { stage, folder }
    }

    fn put(&self, name: &str, mode: u32, content: &str) -> PathBuf {
        let path = self.folder.join(name);
        std::fs::write(&path, content).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        path
    }

    /// A program for `sh` that describes itself as a tool of this name.
    fn put_shell(&self, name: &str, run: &str) -> PathBuf {
        let description = json!({
            "name": name, "description": "Does it.", "tier": "read",
            "schema": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
        });
        self.put(
            name,
            0o755,
            &format!("#!/bin/sh\nif [ \"$1\" = describe ]; then echo '{description}'; exit; fi\n{run}\n"),
        )
    }

    async fn discover(&self) -> Discovered {
        self.discover_with(&UserTools::default(), Limits::default()).await
    }

    async fn discover_with(&self, tools: &UserTools, limits: Limits) -> Discovered {
        let directories = [
            ToolDirectory { path: self.folder.clone(), origin: Origin::User },
            ToolDirectory { path: self.folder.join("missing"), origin: Origin::Project },
        ];
        tools.discover(&directories, &["read".to_owned(), "web-search".to_owned()], limits).await
    }

    /// The only tool that there is.
    async fn only(&self) -> Arc<dyn Tool> {
        let found = self.discover().await;
        assert_eq!(found.problems, []);
        assert_eq!(found.tools.len(), 1);
        Arc::clone(&found.tools[0])
    }

    async fn call(&self, arguments: Value) -> Called {
        let plan = self.only().await.plan(arguments, &self.stage.scene).await.map_err(|c| c.0).unwrap();
        self.stage.run(plan, &CancellationToken::new()).await
    }

    /// What is wrong with the only file.
    async fn problem(&self) -> (String, String) {
        let found = self.discover().await;
        assert!(found.tools.is_empty());
        assert_eq!(found.problems.len(), 1, "{:?}", found.problems);
        (found.problems[0].what.clone(), found.problems[0].next_step.clone())
    }
}

#[tokio::test]
async fn a_program_becomes_a_tool_that_executes_it() {
    let shed = Shed::new();
    let path = shed.put_shell(
        "echoes",
        "pwd; cat; echo; echo '{\"progress\": \"half\"}'; echo '{\"result\": \"done\"}'",
    );
    let tool = shed.only().await;
    let spec = tool.spec();
    assert_eq!((spec.name.as_str(), spec.description.as_str()), ("echoes", "Does it."));
    assert_eq!(
        spec.input_schema,
        json!({"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]})
    );
    let plan = tool.plan(json!({"word": "it's"}), &shed.stage.scene).await.map_err(|c| c.0).unwrap();
    let intent = plan.intent().clone();
    let command = format!("{} run", path.display());
    let cwd = shed.stage.root.clone();
    assert_eq!(
        intent.effects,
        [Effect::Execute { command: command.clone(), cwd: cwd.clone(), prelude: String::new() }]
    );
    assert_eq!(intent.display.title, "echoes {\"word\":\"it's\"}");
    assert_eq!(
        intent.display.blocks,
        [
            Block::Command { command, cwd: cwd.display().to_string() },
            Block::Text {
                text: "A tool of the user's own; it says that it only reads.\nArguments: {\n  \"word\": \"it's\"\n}".into()
            }
        ]
    );
    let called = shed.stage.run(plan, &CancellationToken::new()).await;
    assert_eq!((called.status, called.display.summary.as_deref()), (CallStatus::Completed, Some("done")));
    assert_eq!(called.text, format!("{}\n{{\"word\":\"it's\"}}\nhalf\ndone\n", cwd.display()));
}

#[tokio::test]
async fn python_and_node_need_not_be_executable() {
    let shed = Shed::new();
    shed.put(
        "add.py",
        0o644,
        r#"
import json, sys
if sys.argv[1] == "describe":
    print("a remark", file=sys.stderr)
    print(json.dumps({"name": "add", "description": "Adds.", "parameters": {"properties": {"a": {"type": "integer"}}}}))
else:
    a = json.load(sys.stdin)["a"]
    print(json.dumps({"progress": f"adding {a}"}), flush=True)
    print(json.dumps({"result": {"sum": a + 1}}))
"#,
    );
    shed.put(
        "upper.mjs",
        0o644,
        r#"
import { readFileSync } from "node:fs";
if (process.argv[2] === "describe") {
  console.log(JSON.stringify({ name: "upper", description: "Uppercases.", schema: {} }, null, 2));
} else {
  const { word } = JSON.parse(readFileSync(0, "utf8"));
  console.log(word.toUpperCase());
}
"#,
    );
    shed.put("README.md", 0o644, "about");
    shed.put(".hidden", 0o755, "");
    std::fs::create_dir(shed.folder.join("node_modules")).unwrap();
    let found = shed.discover().await;
    assert_eq!(found.problems, []);
    let names: Vec<String> = found.tools.iter().map(|tool| tool.spec().name).collect();
    assert_eq!(names, ["add", "upper"]);
    let run = async |index: usize, arguments: Value| {
        let plan = found.tools[index].plan(arguments, &shed.stage.scene).await.map_err(|c| c.0).unwrap();
        shed.stage.run(plan, &CancellationToken::new()).await.text
    };
    assert_eq!(run(0, json!({"a": 41})).await, "adding 41\n{\"sum\":42}\n");
    assert_eq!(run(1, json!({"word": "grüße"})).await, "GRÜSSE\n");
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_refused_before_anything_runs() {
    let shed = Shed::new();
    shed.put_shell("echoes", "touch ran");
    let tool = shed.only().await;
    let complaint = tool.plan(json!({"word": 1}), &shed.stage.scene).await.err().unwrap().0;
    assert!(complaint.contains("`word`: must be of type \"string\", not a number"), "{complaint}");
    assert!(!shed.stage.at("ran").exists());
}

#[tokio::test]
async fn how_it_fails_is_told() {
    for (run, text) in [
        ("echo part; echo why >&2; exit 3", "part\n[exit code 3]\nstandard error:\nwhy"),
        ("echo '{\"error\": \"no such word\"}'; exit 1", "no such word\n[exit code 1]"),
        ("echo '{\"result\": \"some\", \"error\": \"no such word\"}'", "some\nno such word"),
        ("kill -SEGV $$", "[killed by signal 11]"),
        ("printf '\\377\\000garbage'; exit 2", "\u{fffd}\0garbage\n[exit code 2]"),
    ] {
        let shed = Shed::new();
        shed.put_shell("fails", run);
        let called = shed.call(json!({"word": ""})).await;
        assert_eq!(called.status, CallStatus::Failed, "{run}");
        assert_eq!(called.text, text, "{run}");
    }
    let shed = Shed::new();
    shed.put_shell("silent", "echo log >&2");
    let called = shed.call(json!({"word": ""})).await;
    assert_eq!((called.status, called.text.as_str()), (CallStatus::Completed, "[no output]"));
}

#[tokio::test]
async fn it_is_ended_when_its_time_is_over_or_nobody_wants_it() {
    let mut shed = Shed::new();
    shed.put_shell("waits", "echo begun; sleep 1000 & sleep 1000");
    shed.stage.scene.command_timeout = Duration::from_secs(1);
    let called = shed.call(json!({"word": ""})).await;
    assert_eq!(called.text, "begun\nThe tool was ended because it took longer than 1 s.");
    shed.stage.scene.command_timeout = Duration::from_secs(100);
    struct CancelWhenPrinted(CancellationToken, Taken);
    impl rein_tools::Output for CancelWhenPrinted {
        fn write(&mut self, bytes: &[u8]) {
            self.1.write(bytes);
            self.0.cancel();
        }
    }
    let cancel = CancellationToken::new();
    let mut output = CancelWhenPrinted(cancel.clone(), Taken::default());
    let plan = shed.only().await.plan(json!({"word": ""}), &shed.stage.scene).await.map_err(|c| c.0).unwrap();
    let outcome = plan.run(&shed.stage.scene, &mut output, &cancel).await;
    assert_eq!((outcome.status, output.1.0.as_slice()), (CallStatus::Interrupted, &b"begun\n"[..]));
}

#[tokio::test]
async fn what_is_wrong_with_a_program_is_a_problem_and_no_failure() {
    let describe = |json: &str| format!("#!/bin/sh\ncat <<'E'\n{json}\nE\n");
    for (file, mode, content, what, next_step) in [
        (
            "x",
            0o755,
            "#!/bin/sh\necho broken >&2; exit 7".to_owned(),
            "exit code 7: broken",
            "Try it by hand: ",
        ),
        ("x", 0o755, "#!/bin/sh\nkill -9 $$".to_owned(), "ended by signal 9", "Try it by hand: "),
        ("x", 0o755, "#!/bin/sh\nyes".to_owned(), "more than 64 KB", "Try it by hand: "),
        ("x", 0o755, "#!/bin/sh\n".to_owned(), "is empty", "Try it by hand: "),
        ("x", 0o755, "#!/no/such/program\n".to_owned(), "cannot be started", "Try it by hand: "),
        (
            "x",
            0o755,
            describe("{\"name\": \"X!\", \"description\": \"d\"}"),
            "does not fit",
            "Try it by hand: ",
        ),
        (
            "x",
            0o755,
            describe("{\"name\": \"read\", \"description\": \"d\"}"),
            "another tool is called read already",
            "Give it another name",
        ),
        (
            "x",
            0o755,
            describe("{\"name\": \"web_search\", \"description\": \"d\"}"),
            "called web_search already",
            "Give it another name",
        ),
        ("x.ts", 0o644, "export {}".to_owned(), "it is not executable", "chmod +x"),
        ("x", 0o757, "#!/bin/sh\n".to_owned(), "everybody on this machine may change it", "chmod o-w"),
    ] {
        let shed = Shed::new();
        shed.put(file, mode, &content);
        let (said, todo) = shed.problem().await;
        assert!(said.contains(what), "{content}: {said}");
        assert!(todo.contains(next_step), "{content}: {todo}");
    }
}

#[tokio::test]
async fn a_program_that_does_not_answer_holds_nobody_up() {
    let shed = Shed::new();
    shed.put("hangs", 0o755, "#!/bin/sh\nsleep 1000");
    shed.put_shell("works", "true");
    let limits = Limits { describe: Duration::from_millis(300), ..Limits::default() };
    let found = shed.discover_with(&UserTools::default(), limits).await;
    assert_eq!(found.tools.len(), 1);
    assert_eq!(found.problems[0].what, "it did not answer `describe` within 0.3 s");
}

#[tokio::test]
async fn of_two_tools_with_one_name_the_first_counts() {
    let shed = Shed::new();
    let first = shed.put_shell("same", "true");
    std::fs::rename(&first, shed.folder.join("a")).unwrap();
    shed.put_shell("same", "true");
    let found = shed.discover().await;
    assert_eq!(found.tools.len(), 1);
    assert_eq!(found.problems[0].path, shed.folder.join("same"));
    assert_eq!(found.problems[0].what, format!("{} is called same already", shed.folder.join("a").display()));
    let limits = Limits { programs: 1, ..Limits::default() };
    let found = shed.discover_with(&UserTools::default(), limits).await;
    assert_eq!((found.tools.len(), found.problems[0].what.as_str()), (1, "only 1 programs are looked at"));
}

#[tokio::test]
async fn a_program_describes_itself_once_and_is_not_run_when_it_changed() {
    let shed = Shed::new();
    let count = shed.folder.join(".count");
    let description = "{\"name\": \"once\", \"description\": \"d\"}";
    let content = format!("#!/bin/sh\n[ $1 = describe ] && echo x >> .count\necho '{description}'\n");
    let path = shed.put("once", 0o755, &content);
    let tools = UserTools::default();
    let described = || std::fs::read_to_string(&count).unwrap().lines().count();
    let found = shed.discover_with(&tools, Limits::default()).await;
    shed.discover_with(&tools, Limits::default()).await;
    assert_eq!(described(), 1);
    std::fs::write(&path, format!("{content}# changed\n")).unwrap();
    let plan = found.tools[0].plan(json!({}), &shed.stage.scene).await.map_err(|c| c.0).unwrap();
    let called = shed.stage.run(plan, &CancellationToken::new()).await;
    assert!(called.text.contains("changed or vanished since it described itself"), "{}", called.text);
    let found = shed.discover_with(&tools, Limits::default()).await;
    assert_eq!((found.tools.len(), described()), (1, 2));
}

#[tokio::test]
async fn a_folder_that_is_none_is_a_problem() {
    let shed = Shed::new();
    let path = shed.put("file", 0o644, "");
    let directories = [ToolDirectory { path: path.clone(), origin: Origin::Project }];
    let found = UserTools::default().discover(&directories, &[], Limits::default()).await;
    assert_eq!(found.problems.len(), 1);
    assert!(
        found.problems[0].path == path && found.problems[0].what.starts_with("the folder cannot be read")
    );
}
