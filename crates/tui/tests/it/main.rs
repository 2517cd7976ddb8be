//! Tests of the terminal face's parts through their public doors.

mod editor;
mod highlight;
mod markdown;
mod marks;
mod picker;
