//! Found but for the indentation, where one block is the other moved: lines
//! that are indented alike in one are in the other, and deeper ones are deeper.

use std::ops::Range;

use crate::edit::indent;
use crate::edit::stream::{self, Inner, Lead, Letters, Manner};

pub(super) fn find(text: &str, old: &str) -> Vec<Range<usize>> {
    let mut found =
        stream::find(text, old, Manner { lead: Lead::Dropped, inner: Inner::Kept, letters: Letters::Kept });
    found.retain(|place| text.get(place.clone()).is_some_and(|block| indent::is_moved(old, block)));
    found
}
