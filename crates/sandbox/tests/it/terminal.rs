//! A process in a terminal of its own.

use rein_sandbox::{Event, Grace, Process, Status, TerminalSize, run};
use tokio_util::sync::CancellationToken;

use crate::script;

const SIZE: TerminalSize = TerminalSize { rows: 30, columns: 90 };

/// Reads until a text has come.
async fn until(process: &mut Process, wanted: &str) -> String {
    let mut printed = String::new();
    while !printed.contains(wanted) {
        match process.next().await {
            Event::Output(bytes) => printed.push_str(&String::from_utf8_lossy(bytes)),
            other => panic!("{other:?} before {wanted:?}: {printed:?}"),
        }
    }
    printed
}

#[tokio::test]
async fn it_has_a_terminal_of_the_size_and_type_that_was_wanted() {
    let text = "test -t 0 && test -t 1 && test -t 2 && echo all; stty size; echo $TERM; \
                : <>/dev/tty && echo controlled; cut -d' ' -f1,6 /proc/$$/stat";
    let mut printed = String::new();
    let mut take = |bytes: &[u8]| printed.push_str(&String::from_utf8_lossy(bytes));
    let exit = run(script(text).terminal(SIZE), &mut take, &CancellationToken::new()).await.unwrap();
    assert_eq!(exit.status, Status::Code(0), "{printed}");
    let (told, numbers) = printed.rsplit_once("controlled\r\n").unwrap();
    assert_eq!(told, "all\r\n30 90\r\nxterm-256color\r\n");
    let numbers: Vec<&str> = numbers.split_ascii_whitespace().collect();
    assert_eq!(numbers[0], numbers[1], "it leads a session of its own");
}

#[tokio::test]
async fn what_is_typed_is_read_and_the_end_of_the_input_is_seen() {
    let text = "read word; echo got $word; cat; echo over";
    let mut process = Process::start(&script(text).terminal(SIZE)).await.unwrap();
    let terminal = process.terminal().unwrap().clone();
    terminal.write(b"hello\n").await.unwrap();
    until(&mut process, "got hello\r\n").await;
    terminal.write(b"line\n").await.unwrap();
    until(&mut process, "line\r\nline\r\n").await;
    terminal.end_input().await.unwrap();
    until(&mut process, "over\r\n").await;
    assert_eq!(process.next().await, Event::Exited);
    assert_eq!(process.status().unwrap(), Some(Status::Code(0)));
}

#[tokio::test]
async fn a_new_size_is_told() {
    let text = "trap 'stty size; exit 5' WINCH; echo ready; while :; do sleep 0.05; done";
    let mut process = Process::start(&script(text).terminal(SIZE)).await.unwrap();
    until(&mut process, "ready").await;
    process.terminal().unwrap().resize(TerminalSize { rows: 11, columns: 22 }).unwrap();
    until(&mut process, "11 22").await;
    while !matches!(process.next().await, Event::Exited) {}
    assert_eq!(process.status().unwrap(), Some(Status::Code(5)));
}

#[tokio::test]
async fn an_interrupt_can_be_typed() {
    let mut process = Process::start(&script("echo ready; exec sleep 1000").terminal(SIZE)).await.unwrap();
    until(&mut process, "ready").await;
    process.terminal().unwrap().write(&[3]).await.unwrap();
    while !matches!(process.next().await, Event::Exited) {}
    assert_eq!(process.status().unwrap(), Some(Status::Signal(2)));
}

#[tokio::test]
async fn typing_to_nobody_is_no_wait_for_ever() {
    let mut process = Process::start(&script("true").terminal(SIZE)).await.unwrap();
    let terminal = process.terminal().unwrap().clone();
    while !matches!(process.next().await, Event::Gone) {}
    // Whether it is an error depends on the system; that it comes back is what counts.
    let _ = terminal.write(b"anybody?\n").await;
    process.end(Grace::default(), &mut |_| {}).await;
}

#[tokio::test]
async fn much_output_of_a_terminal_arrives_whole() {
    let mut printed = 0;
    let mut take = |bytes: &[u8]| printed += bytes.len();
    run(script("seq 100000").terminal(SIZE), &mut take, &CancellationToken::new()).await.unwrap();
    // Every line end has become two characters.
    assert_eq!(printed, 588_895 + 100_000);
}
