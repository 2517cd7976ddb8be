//! The face on a real pty: it starts, takes keys and sizes, and gives the
//! terminal back whatever ends it.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Termios, Winsize, tcgetattr, tcsetwinsize};

use crate::pty_child::{SCENE, STATE};
use crate::stage::history;

const PATIENCE: Duration = Duration::from_secs(30);

struct Seen {
    emulator: vt100::Parser,
    raw: Vec<u8>,
}

struct Pty {
    child: Child,
    master: File,
    /// Keeps the terminal alive after the child, so that its modes can be looked at.
    slave: OwnedFd,
    before: Termios,
    seen: Arc<(Mutex<Seen>, Condvar)>,
}

impl Pty {
    fn start(scene: &str, columns: u16, rows: u16) -> Self {
        Self::start_in(scene, columns, rows, None)
    }

    fn start_in(scene: &str, columns: u16, rows: u16, state: Option<&Path>) -> Self {
        Self::start_by(None, scene, (columns, rows), state)
    }

    /// Started by a shell with a script that runs its arguments.
    fn start_by(shell: Option<&str>, scene: &str, size: (u16, u16), state: Option<&Path>) -> Self {
        let (columns, rows) = size;
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let path = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let open = || File::options().read(true).write(true).open(&path).unwrap();
        let slave: OwnedFd = open().into();
        let size = |columns, rows| Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size(columns, rows)).unwrap();
        let before = tcgetattr(&slave).unwrap();
        // A session of its own with this as its terminal, so that sizes and signals arrive.
        let child = Command::new("setsid")
            .arg("--ctty")
            .args(shell.map(|script| ["bash", "-c", script, "bash"]).into_iter().flatten())
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "pty_child::the_face_of_a_scene", "--nocapture", "--include-ignored"])
            .env(SCENE, scene)
            .envs(state.map(|state| (STATE, state)))
            .env("TERM", "xterm-256color")
            .env_remove("COLORFGBG")
            .env("LC_ALL", "C.UTF-8")
            .stdin(Stdio::from(open()))
            .stdout(Stdio::from(open()))
            .stderr(Stdio::from(open()))
            .spawn()
            .expect("setsid of util-linux starts the face");
        let emulator = vt100::Parser::new(rows, columns, 10_000);
        let seen = Arc::new((Mutex::new(Seen { emulator, raw: Vec::new() }), Condvar::new()));
        let (mut reader, shared) =
            (File::from(master.as_fd().try_clone_to_owned().unwrap()), Arc::clone(&seen));
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count) = reader.read(&mut buffer) {
                let mut seen = shared.0.lock().unwrap();
                seen.emulator.process(&buffer[..count]);
                seen.raw.extend(&buffer[..count]);
                shared.1.notify_all();
            }
        });
        Self { child, master: File::from(master), slave, before, seen }
    }

    fn keys(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    fn until(&self, what: &str, ready: impl Fn(&Seen) -> bool) {
        let end = Instant::now() + PATIENCE;
        let mut seen = self.seen.0.lock().unwrap();
        while !ready(&seen) {
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "waited for {what}:\n{}", seen.emulator.screen().contents());
            seen = self.seen.1.wait_timeout(seen, left).unwrap().0;
        }
    }

    fn until_shown(&self, text: &str) {
        self.until(text, |seen| seen.emulator.screen().contents().contains(text));
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    fn ended(&mut self) -> ExitStatus {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < end, "the face did not end");
            std::thread::yield_now();
        }
    }

    /// The terminal is as the shell had it.
    fn assert_restored(&self) {
        let after = tcgetattr(&self.slave).unwrap();
        assert!(after.local_modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG));
        assert_eq!(after.local_modes, self.before.local_modes);
        assert_eq!(after.input_modes, self.before.input_modes);
        self.until("the modes to be off", |seen| {
            let screen = seen.emulator.screen();
            !screen.bracketed_paste()
                && !screen.hide_cursor()
                && !screen.alternate_screen()
                && contains(&seen.raw, b"\x1b[?1004l")
                && contains(&seen.raw, b"\x1b[<u")
        });
    }

    fn rows(&self) -> Vec<String> {
        history(&mut self.seen.0.lock().unwrap().emulator)
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        // Only for a test that failed: otherwise it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn contains(raw: &[u8], sequence: &[u8]) -> bool {
    raw.windows(sequence.len()).any(|window| window == sequence)
}

#[test]
fn start_type_stream_approve_and_quit() {
    let mut pty = Pty::start("approve", 60, 16);
    pty.until_shown("? for help");
    pty.keys("clean up\r");
    pty.until_shown("may this run?");
    // Dim while a key could still be meant for the editor.
    pty.until("the keys to count", |seen| contains(&seen.raw, b"\x1b[1;36my\x1b[0m"));
    pty.keys("y");
    pty.until_shown("All clean.");
    pty.keys("/quit\r");
    assert!(pty.ended().success());
    pty.assert_restored();
    let rows = pty.rows();
    let at = |text: &str| {
        rows.iter().position(|row| row.contains(text)).unwrap_or_else(|| panic!("{text}: {rows:#?}"))
    };
    assert!(at("› clean up") < at("rm -rf cache") && at("rm -rf cache") < at("All clean."));
    for gone in ["may this run?", "y once", "fake · "] {
        assert!(!rows.iter().any(|row| row.contains(gone)), "{gone} is still there: {rows:#?}");
    }
}

#[test]
fn a_longer_answer_than_the_screen_is_in_the_scrollback_once() {
    let mut pty = Pty::start("long", 40, 10);
    pty.until_shown("? for help");
    pty.keys("count\r");
    pty.until_shown("number 300");
    pty.keys("\x04");
    assert!(pty.ended().success());
    pty.assert_restored();
    let rows = pty.rows();
    let numbers: Vec<&String> = rows.iter().filter(|row| row.starts_with("number ")).collect();
    let wanted: Vec<String> = (1..=300).map(|number| format!("number {number}")).collect();
    assert_eq!(numbers, wanted.iter().collect::<Vec<_>>());
}

#[test]
fn an_interrupt_ends_the_turn_and_a_new_size_is_drawn() {
    let mut pty = Pty::start("held", 60, 16);
    pty.until_shown("? for help");
    pty.keys("wait\r");
    pty.until_shown("working");
    tcsetwinsize(&pty.master, Winsize { ws_row: 16, ws_col: 30, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    pty.until_shown("working");
    pty.keys("\x1b");
    pty.until_shown("interrupted");
    pty.keys("\x03");
    pty.until_shown("Ctrl-C again quits");
    pty.keys("\x03");
    assert!(pty.ended().success());
    pty.assert_restored();
}

#[test]
fn a_termination_gives_the_terminal_back() {
    let mut pty = Pty::start("held", 60, 16);
    pty.until_shown("? for help");
    pty.keys("wait\r");
    pty.until_shown("working");
    pty.signal(Signal::TERM);
    assert!(pty.ended().success(), "the face says who ended it");
    pty.assert_restored();
}

#[test]
fn a_panic_gives_the_terminal_back_and_is_told() {
    let mut pty = Pty::start("panic", 60, 16);
    pty.until_shown("? for help");
    pty.keys("go\r");
    assert!(!pty.ended().success());
    pty.assert_restored();
    pty.until("the panic to be told", |seen| {
        String::from_utf8_lossy(&seen.raw).contains("the scene says panic")
    });
}

#[test]
fn a_draft_survives_a_kill() {
    let state = tempfile::tempdir().unwrap();
    let mut pty = Pty::start_in("draft", 60, 16, Some(state.path()));
    pty.until_shown("? for help");
    pty.keys("half a thou");
    pty.until_shown("half a thou");
    let kept = || std::fs::read_dir(state.path()).unwrap().next().is_some();
    let end = Instant::now() + PATIENCE;
    while !kept() {
        assert!(Instant::now() < end, "the draft is not kept");
        std::thread::yield_now();
    }
    pty.signal(Signal::KILL);
    pty.ended();
    let mut pty = Pty::start_in("draft", 60, 16, Some(state.path()));
    pty.until_shown("half a thou");
    pty.keys("\x03\x03");
    assert!(pty.ended().success());
    pty.assert_restored();
}

/// Says what is behind the text, and that no other answer follows.
const LIGHT: &str = "\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?62;22c";

#[test]
fn a_theme_follows_what_the_terminal_says_is_behind_the_text() {
    let mut pty = Pty::start("auto", 60, 16);
    pty.until("the question", |seen| contains(&seen.raw, b"\x1b]11;?"));
    pty.keys(&format!("ea{LIGHT}rly"));
    pty.until_shown("? for help");
    // Enter in the middle of what was typed is none; the rest is in the editor, and nothing of the answer.
    pty.until_shown("› early");
    pty.until("the colours of the light theme", |seen| contains(&seen.raw, b"38;2;11;110;127m"));
    pty.keys("\x03\x03");
    assert!(pty.ended().success());
    pty.assert_restored();
}

#[test]
fn an_answer_that_comes_too_late_is_no_text() {
    let mut pty = Pty::start("auto", 60, 16);
    // Nobody answers: it is not waited for.
    pty.until_shown("? for help");
    pty.keys(LIGHT);
    pty.keys("words");
    pty.until_shown("› words");
    pty.keys("\x03\x03");
    assert!(pty.ended().success());
    pty.assert_restored();
}

#[test]
fn another_editor_has_the_terminal_and_its_text_comes_back() {
    let mut pty = Pty::start("idle", 60, 16);
    pty.until_shown("? for help");
    pty.keys("written here\x07");
    pty.until_shown("the editor has the terminal");
    pty.keys("and there\r");
    pty.until_shown("› written here and there");
    pty.keys("\x03");
    pty.until_shown("cleared");
    pty.keys("\x03");
    assert!(pty.ended().success());
    pty.assert_restored();
}

#[test]
fn a_hangup_ends_the_face_and_gives_the_terminal_back() {
    let mut pty = Pty::start("held", 60, 16);
    pty.until_shown("? for help");
    pty.keys("wait\r");
    pty.until_shown("working");
    pty.signal(Signal::HUP);
    assert!(pty.ended().success(), "the face says who ended it");
    pty.assert_restored();
}

#[test]
fn stopped_by_the_person_it_gives_the_terminal_back_and_takes_it_again() {
    let script =
        r#"set -m; "$@"; echo "the shell is here"; stty -a | grep -o " icanon"; read word; fg >/dev/null"#;
    let mut pty = Pty::start_by(Some(script), "held", (60, 16), None);
    pty.until_shown("? for help");
    pty.keys("half a thou");
    pty.until_shown("half a thou");
    pty.keys("\x1a");
    pty.until_shown("the shell is here");
    pty.until_shown(" icanon");
    pty.keys("go on\r");
    pty.until("the draft to be drawn again", |seen| {
        let shown = seen.emulator.screen().contents();
        shown.rfind("half a thou") > shown.rfind("go on")
    });
    pty.keys("ght");
    pty.until_shown("half a thought");
    pty.keys("\x03");
    pty.until_shown("cleared");
    pty.keys("\x03");
    assert!(pty.ended().success());
    pty.assert_restored();
}

#[test]
fn a_storm_of_sizes_leaves_one_live_region_and_the_history_whole() {
    let mut pty = Pty::start("long", 60, 16);
    pty.until_shown("? for help");
    pty.keys("count\r");
    pty.until_shown("number 300");
    let resize = |pty: &Pty, columns: u16, rows: u16| {
        pty.seen.0.lock().unwrap().emulator.screen_mut().set_size(rows, columns);
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&pty.master, size).unwrap();
    };
    for step in 0..100_u16 {
        resize(&pty, 20 + step * 7 % 60, 8 + step * 5 % 20);
    }
    resize(&pty, 70, 20);
    pty.keys("still here");
    pty.until_shown("› still here");
    pty.keys("\x03");
    pty.until_shown("cleared");
    pty.keys("\x03");
    assert!(pty.ended().success());
    pty.assert_restored();
}

#[test]
fn a_first_run_takes_a_key_that_is_never_on_the_screen() {
    let mut pty = Pty::start("welcome", 70, 20);
    pty.until_shown("How do you want to begin?");
    pty.keys("2");
    pty.until_shown("no server was found");
    pty.keys("1");
    pty.until_shown("Whose key?");
    pty.keys("\r");
    pty.until_shown("Paste the key for OpenAI");
    pty.keys("\x1b[200~sk-0123456789\x1b[201~");
    pty.until_shown("13 characters");
    pty.keys("\r");
    assert!(pty.ended().success());
    pty.assert_restored();
    assert!(!contains(&pty.seen.0.lock().unwrap().raw, b"sk-0123"));
}
