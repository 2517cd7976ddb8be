//! Small calls by the way: the name of a session, and the answer that a page
//! gives to a question. Asked of the model for small work, with a limit of time.
//!
//! Nothing here is ever waited for by the main work or makes it fail: what does
//! not come is simply not there. What a call used is handed back to be recorded.

mod name;
mod page;

pub(crate) use name::{Name, may_name, name, name_request};
pub use page::PageReader;
