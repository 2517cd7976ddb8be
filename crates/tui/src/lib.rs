//! A Service on a terminal.

pub mod editor;
pub mod highlight;
pub mod line;
pub mod markdown;
pub mod picker;
