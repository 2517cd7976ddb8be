//! The face against a scripted service, an emulated terminal and a real pty.

mod anything;
mod asks;
mod frames;
mod pty;
mod pty_child;
mod scrollback;
mod stage;
