//! Subscribers that come late, are slow, or come back.

use futures_util::StreamExt;
use rein_protocol::transcript::Transcript;
use rein_protocol::{Event, EventBody, Seq};
use rein_testkit::{Script, Turn};

use crate::stage::Stage;

/// Reads until the turn has ended.
async fn read_to_end(stage: &Stage, after: Seq) -> Vec<Event> {
    let mut stream = stage.service.subscribe(&stage.session, after).await.unwrap();
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        let ended = matches!(&event.body, EventBody::Entry { entry } if matches!(entry.body, rein_protocol::EntryBody::TurnEnded { .. }));
        events.push(event);
        if ended {
            break;
        }
    }
    events
}

fn fold(events: &[Event]) -> Transcript {
    let mut transcript = Transcript::default();
    events.iter().for_each(|event| transcript.apply(event));
    transcript
}

#[tokio::test]
async fn whoever_comes_after_the_end_gets_every_entry_once() {
    let stage = Stage::new(Script::new().turn(Turn::text("x".repeat(100)).delta_size(1))).await;
    let live = stage.run("go").await;
    let events = read_to_end(&stage, Seq::START).await;
    assert!(events.windows(2).all(|pair| pair[0].seq < pair[1].seq));
    assert_eq!(fold(&events), live);
}

#[tokio::test]
async fn coming_back_at_any_place_misses_nothing_and_doubles_nothing() {
    let script =
        Script::new().turn(Turn::text("abcdefghij".repeat(4)).delta_size(1).gate("half").and_text("-end"));
    let stage = Stage::new(script).await;
    let mut run = stage.start("go").await;
    stage.server.wait_for_gate("half").await;
    run.until(|transcript| transcript.answer().len() == 40).await;
    let before = run.events.clone();
    // Each place where a subscriber may have been cut off, while the part is still open.
    let mut streams = Vec::new();
    for place in 0..=before.len() {
        let after = if place == 0 { Seq::START } else { before[place - 1].seq };
        streams.push((place, stage.service.subscribe(&stage.session, after).await.unwrap()));
    }
    stage.server.open_gate("half");
    let whole = run.finish().await;
    for (place, mut stream) in streams {
        let mut events = before[..place].to_vec();
        while fold(&events).turn.is_some() || events.len() < 2 {
            events.push(stream.next().await.unwrap());
        }
        assert!(events.windows(2).all(|pair| pair[0].seq < pair[1].seq), "cut off after {place}");
        assert_eq!(fold(&events), whole, "cut off after {place}");
    }
    // And after the end, from every place.
    for place in 0..before.len() {
        let mut events = before[..place].to_vec();
        let after = events.last().map_or(Seq::START, |event| event.seq);
        events.extend(read_to_end(&stage, after).await);
        assert_eq!(fold(&events), whole, "came back after {place}");
    }
}

#[tokio::test]
async fn a_subscriber_that_is_thousands_of_events_behind_catches_up() {
    // More deltas than are kept, so that the store and the open part must be read.
    let long = "0123456789".repeat(3_000);
    let script = Script::new()
        .turn(Turn::text(long.clone()).delta_size(1).split_every(400).gate("half").and_text("!"));
    let stage = Stage::new(script).await;
    let mut slow = stage.service.subscribe(&stage.session, Seq::START).await.unwrap();
    let mut run = stage.start("go").await;
    run.until(|transcript| transcript.answer().len() == long.len()).await;
    stage.server.open_gate("half");
    let whole = run.finish().await;
    let mut events = Vec::new();
    while fold_stop(&events).is_none() {
        events.push(slow.next().await.unwrap());
    }
    assert_eq!(fold(&events), whole);
    assert!(events.len() < run.events.len() || run.events.len() < 1_000);
}

fn fold_stop(events: &[Event]) -> Option<()> {
    matches!(events.last().map(|event| &event.body), Some(EventBody::Entry { entry }) if matches!(entry.body, rein_protocol::EntryBody::TurnEnded { .. }))
        .then_some(())
}

#[tokio::test]
async fn a_snapshot_in_the_middle_of_an_answer_holds_what_has_come() {
    let script = Script::new().turn(Turn::text("so far").gate("rest").and_text(", so good"));
    let stage = Stage::new(script).await;
    let mut run = stage.start("go").await;
    run.until(|transcript| transcript.answer() == "so far").await;
    let snapshot = stage.service.get(&stage.session).await.unwrap();
    let mut transcript = Transcript::of(&snapshot.entries);
    snapshot.open.iter().for_each(|event| transcript.apply(event));
    assert_eq!(transcript.answer(), "so far");
    let mut later = stage.service.subscribe(&stage.session, snapshot.seq).await.unwrap();
    stage.server.open_gate("rest");
    let whole = run.finish().await;
    while transcript.seq < whole.seq {
        transcript.apply(&later.next().await.unwrap());
    }
    assert_eq!(transcript, whole);
}

#[tokio::test]
async fn a_snapshot_and_what_comes_after_it_are_the_whole() {
    let script = Script::new().turn(Turn::text("one")).turn(Turn::text("two"));
    let stage = Stage::new(script).await;
    stage.run("first").await;
    let snapshot = stage.service.get(&stage.session).await.unwrap();
    let mut later = stage.service.subscribe(&stage.session, snapshot.seq).await.unwrap();
    let whole = stage.run("second").await;
    let mut transcript = Transcript::of(&snapshot.entries);
    while transcript.seq < whole.seq {
        transcript.apply(&later.next().await.unwrap());
    }
    assert_eq!(transcript, stage.transcript().await);
}
