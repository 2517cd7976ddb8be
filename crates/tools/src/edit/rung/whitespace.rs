//! Found but for white space: how much of it is between words, and whether
//! there is any elsewhere. Line ends count.

use std::ops::Range;

use crate::edit::stream::{self, Inner, Lead, Letters, Manner};

pub(super) fn find(text: &str, old: &str) -> Vec<Range<usize>> {
    stream::find(text, old, Manner { lead: Lead::Dropped, inner: Inner::Collapsed, letters: Letters::Kept })
}
