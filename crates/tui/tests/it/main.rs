//! The face against a scripted service, an emulated terminal and a real pty.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod anything;
mod asks;
mod editor;
mod editor_scripts;
mod frames;
mod highlight;
mod host;
mod markdown;
mod marks;
mod overlays;
mod picker;
mod pty;
mod pty_child;
mod scrollback;
mod sigils;
mod stage;
mod status;
mod welcome;
