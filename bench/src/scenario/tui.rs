//! The terminal face: from start to first paint, from key to screen while much
//! streams below a long history, and what it uses while nothing happens.
//!
//! A run is one session at a pseudo terminal. The stream is paced by gates: five
//! tokens every five milliseconds.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rein_testkit::{ModelServer, Project, Script, Turn};
use rein_tui::picker::files::FileIndex;

use crate::error::BenchError;
use crate::row::{Row, Sample, Target};
use crate::seat::Seat;
use crate::statistics::percentile;
use crate::trial::{Bench, MODEL};

pub const NAME: &str = "terminal";
pub const COMPLETION: &str = "complete100k";
/// Rows of history: every other one is blank.
const HISTORY: usize = 50_000;
/// Five tokens each, five milliseconds apart.
const PIECES: usize = 900;
const PACE: Duration = Duration::from_millis(5);
const KEYS: usize = 200;
const IDLE: Duration = Duration::from_secs(3);
/// Runs take seconds each.
const MOST_RUNS: usize = 3;

/// What one session showed.
struct Session {
    paint: Sample,
    keys: Sample,
    idle: Sample,
    used: Sample,
    idle_cpu: f64,
    idle_bytes: f64,
    median_key: f64,
}

pub fn measure(bench: &Bench) -> Result<Vec<Row>, BenchError> {
    session(bench)?;
    let mut sessions = Vec::new();
    for _ in 0..bench.runs.min(MOST_RUNS) {
        sessions.push(session(bench)?);
    }
    let samples = |of: fn(&Session) -> Sample| sessions.iter().map(of).collect::<Vec<Sample>>();
    let worst = |of: fn(&Session) -> f64| sessions.iter().map(of).fold(0.0, f64::max);
    Ok(vec![
        Row::of(NAME, samples(|session| session.paint), [Target::wall(50.0)]),
        Row::of(
            "terminal, a key while 1 000 tokens/s come (p99)",
            samples(|session| session.keys),
            [Target::wall(5.0)],
        )
        .reference("the median key", worst(|session| session.median_key), "ms"),
        Row::of("terminal, idle after the start", samples(|session| session.idle), [Target::max_rss(30.0)])
            .reference("processor time in 3 s", worst(|session| session.idle_cpu), "ms")
            .reference("bytes written in 3 s", worst(|session| session.idle_bytes), "bytes"),
        Row::of(
            "terminal, idle after 50 000 lines",
            samples(|session| session.used),
            [Target::max_rss(60.0)],
        ),
    ])
}

fn session(bench: &Bench) -> Result<Session, BenchError> {
    let project = Project::new();
    let history: String = (0..HISTORY / 2).map(|number| format!("line {number} of the answer\n\n")).collect();
    let mut streamed = Turn::text("it begins ");
    for piece in 0..PIECES {
        streamed = streamed.gate(format!("{piece}")).and_text("one two three four five ");
    }
    let script = Script::new()
        .turn(Turn::text(history + "that is all").delta_size(100))
        .turn(streamed.and_text("it ends"));
    let server = ModelServer::start_on(script, 0).map_err(BenchError::io("listen on", "127.0.0.1"))?;
    let mut seat = Seat::take(NAME, &bench.binary, &project, &server, &["--model", MODEL])?;
    let painted = seat.wait_for("? for help", 0)?;
    let paint = milliseconds(painted.duration_since(seat.begun));
    seat.wait_for_silence(Duration::from_millis(500));
    let idle = seat.resident()?;
    let (before, written) = (seat.processor_ms()?, seat.mark());
    thread::sleep(IDLE);
    let (idle_cpu, idle_bytes) = (seat.processor_ms()? - before, (seat.mark() - written) as f64);
    let mark = seat.mark();
    seat.press("tell me much\r")?;
    seat.wait_for("that is all", mark)?;
    seat.wait_for_silence(Duration::from_millis(500));
    let used = seat.resident()?;
    let keys = type_while_it_streams(&mut seat, &server)?;
    seat.leave()?;
    let sample = |wall_ms: f64, max_rss: u64| Sample { wall_ms, max_rss, ..Sample::default() };
    Ok(Session {
        paint: sample(paint, 0),
        keys: sample(percentile(&keys, 0.99), 0),
        idle: sample(0.0, idle),
        used: sample(0.0, used),
        idle_cpu,
        idle_bytes,
        median_key: percentile(&keys, 0.5),
    })
}

/// How long each key took to be on the screen, in milliseconds.
fn type_while_it_streams(seat: &mut Seat, server: &ModelServer) -> Result<Vec<f64>, BenchError> {
    let mark = seat.mark();
    seat.press("go on\r")?;
    seat.wait_for("it begins", mark)?;
    let over = Arc::new(AtomicBool::new(false));
    thread::scope(|scope| {
        let done = Arc::clone(&over);
        let pacer = scope.spawn(move || {
            for piece in 0..PIECES {
                server.open_gate(&piece.to_string());
                // Whoever has typed enough does not wait for the rest.
                if !done.load(Ordering::Relaxed) {
                    thread::sleep(PACE);
                }
            }
        });
        let typed = type_words(seat);
        over.store(true, Ordering::Relaxed);
        let _ = pacer.join();
        typed
    })
}

fn type_words(seat: &mut Seat) -> Result<Vec<f64>, BenchError> {
    let mut times = Vec::with_capacity(KEYS);
    let mut word = String::new();
    for number in 0..KEYS {
        // Letters that nobody else writes.
        let letter = ['Q', 'X', 'Z', 'J'].get(number % 4).copied().unwrap_or('Q');
        if word.len() == 40 {
            let mark = seat.mark();
            seat.press("\u{15}W")?;
            // Alone, up to what is erased behind it.
            seat.wait_for("W\u{1b}[K", mark)?;
            word = "W".to_owned();
        }
        word.push(letter);
        let (mark, pressed) = (seat.mark(), Instant::now());
        seat.press(&letter.to_string())?;
        times.push(milliseconds(seat.wait_for(&word, mark)?.duration_since(pressed)));
        thread::sleep(Duration::from_millis(15));
    }
    seat.press("\u{15}")?;
    Ok(times)
}

/// Typing a name, letter by letter, over 100 000 paths: the slowest letter.
pub fn measure_completion(bench: &Bench) -> Result<Vec<Row>, BenchError> {
    let paths = || {
        (0..100_000)
            .map(|number| format!("crates/part{}/src/module{}/file_{number}.rs", number % 97, number % 1013))
            .collect::<Vec<String>>()
    };
    let mut samples = Vec::new();
    for _ in 0..bench.runs {
        let mut index = FileIndex::new(paths());
        let mut slowest = Duration::ZERO;
        let name = "part42filers";
        for end in 1..=name.len() {
            let begun = Instant::now();
            let found = index.rank(name.get(..end).unwrap_or(name), 50).len();
            slowest = slowest.max(begun.elapsed());
            if found == 0 {
                return Err(BenchError::incorrect(COMPLETION, "nothing was found".to_owned()));
            }
        }
        samples.push(Sample { wall_ms: milliseconds(slowest), ..Sample::default() });
    }
    Ok(vec![Row::of(COMPLETION, samples, [Target::wall(50.0)])])
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
