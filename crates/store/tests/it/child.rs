//! Processes of their own: this test binary, started again with a role to play.

use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;

use rein_protocol::SessionId;
use rein_store::{Store, StoreOptions};
use rustix::process::{Signal, getpid, kill_process};

use crate::sample::{self, Journal};

const ROLE: &str = "STORE_TEST_ROLE";
const ROOT: &str = "STORE_TEST_ROOT";
const SESSION: &str = "STORE_TEST_SESSION";
const COUNT: &str = "STORE_TEST_COUNT";

/// A child that plays a role. It is killed when this is dropped.
pub struct Actor {
    child: Child,
    /// The child waits for the end of this, where it waits.
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Actor {
    pub fn start(role: &str, root: &Path, session: &SessionId, count: usize) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["child::plays_its_role", "--exact", "--ignored", "--nocapture"])
            .env(ROLE, role)
            .env(ROOT, root)
            .env(SESSION, session.as_str())
            .env(COUNT, count.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, stdin, lines }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What the child says next, without what its test harness says.
    pub fn next(&mut self) -> Option<String> {
        self.lines.by_ref().map_while(Result::ok).find_map(|line| Some(line.strip_prefix("> ")?.to_owned()))
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Lets it end by itself; says whether all went well there.
    pub fn succeeded(&mut self) -> bool {
        self.stdin = None;
        while self.next().is_some() {}
        self.child.wait().unwrap().success()
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn say(line: &str) {
    let mut stdout = std::io::stdout();
    stdout.write_all(format!("> {line}\n").as_bytes()).unwrap();
    stdout.flush().unwrap();
}

fn wait_for_end_of_stdin() {
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

#[tokio::test]
#[ignore = "other tests start it in a process of its own"]
async fn plays_its_role() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let variable = |name: &str| std::env::var(name).unwrap();
    let root = std::path::PathBuf::from(std::env::var_os(ROOT).unwrap());
    let session: SessionId = variable(SESSION).parse().unwrap();
    let count: usize = variable(COUNT).parse().unwrap();
    match role.as_str() {
        "append" => append(&sample::open(&root), &session, count).await,
        "die after commit" => {
            let die = Arc::new(move |appended: u64| {
                if appended >= count as u64 {
                    kill_process(getpid(), Signal::KILL).unwrap();
                }
            });
            let options = StoreOptions { after_commit: Some(die), ..StoreOptions::new(&root) };
            append(&Store::open(options).unwrap(), &session, usize::MAX).await;
        }
        "hold" => {
            let store = sample::open(&root);
            let _lease = store.lease(&session).await.unwrap();
            let mut writer = store.artifact_writer(&session).unwrap();
            writer.write(b"unfinished").unwrap();
            writer.flush().unwrap();
            say("holding");
            wait_for_end_of_stdin();
        }
        "permissive umask" => {
            rustix::process::umask(rustix::fs::Mode::empty());
            crate::files::everything_is_private(&root).await;
        }
        other => panic!("unknown role {other}"),
    }
}

/// Appends entries one by one and says each number once it is acknowledged.
async fn append(store: &Store, session: &SessionId, count: usize) {
    if store.session(session).await.unwrap().is_none() {
        let new = rein_store::NewSession { id: session.clone(), ..sample::new_session() };
        store.create_session(new).await.unwrap();
    }
    let mut journal = Journal::resume(store, session).await;
    for number in 0..count {
        let entry = journal.text(number.to_string());
        store.append(session, vec![entry]).await.unwrap();
        say(&number.to_string());
    }
}
