//! The face against a scripted service, an emulated terminal and a real pty.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod anything;
mod asks;
mod editor;
mod editor_scripts;
mod frames;
mod highlight;
mod markdown;
mod marks;
mod picker;
mod pty;
mod pty_child;
mod scrollback;
mod sigils;
mod stage;
mod welcome;
