//! x
/// x
pub enum Refusal {}
/// x
pub struct Refused;
/// x
pub fn explain() {}
