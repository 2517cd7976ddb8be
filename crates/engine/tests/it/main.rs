//! The engine as a face meets it: through `Service`, with a real store, real
//! tools and a model server on loopback.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod budget;
mod calls;
mod compaction;
mod doom;
mod gate;
mod handoff;
mod interrupt;
mod long;
mod meetings;
mod now;
mod outputs;
mod person;
mod plan_mode;
mod prefixes;
mod recovery;
mod retries;
mod review;
mod small_calls;
mod stage;
mod subscribing;
mod tree;
mod turns;
mod verify;
mod window;
