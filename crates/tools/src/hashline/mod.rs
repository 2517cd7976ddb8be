//! `hashline`.
use crate::change::Change;
use crate::contract::{Complaint, Scene};
pub(crate) async fn planned(_input: &str, _scene: &Scene) -> Result<Change, Complaint> {
    Err(Complaint(String::new()))
}
