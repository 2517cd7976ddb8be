//! How large the binary is.

use std::fs;

use crate::error::BenchError;
use crate::row::{Row, Target};
use crate::trial::Bench;

pub const NAME: &str = "size";

pub fn measure(bench: &Bench) -> Result<Vec<Row>, BenchError> {
    let metadata = fs::metadata(&bench.binary).map_err(BenchError::io("look at", &bench.binary))?;
    let row = Row { size: Some(metadata.len()), ..Row::of(NAME, Vec::new(), [Target::size(20.0)]) };
    Ok(vec![row.reference("the binary", metadata.len() as f64 / 1e6, "MB")])
}
