//! Rows as text in columns, for a person. Pure.

use std::fmt::Write as _;

use crate::row::{Row, short};

const HEADINGS: [&str; 7] =
    ["scenario", "wall ms", "cpu ms", "max RSS MB", "bytes sent", "target", "verdict"];

/// The table, and below it what to hold its figures against.
pub fn render(rows: &[Row]) -> String {
    let mut lines: Vec<[String; 7]> = vec![HEADINGS.map(str::to_owned)];
    lines.extend(rows.iter().map(cells));
    let mut widths = [0; 7];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    for line in &lines {
        let padded = line.iter().zip(widths).enumerate().map(|(column, (cell, width))| match column {
            1..=4 => format!("{cell:>width$}"),
            _ => format!("{cell:<width$}"),
        });
        let padded: Vec<String> = padded.collect();
        text.push_str(padded.join("  ").trim_end());
        text.push('\n');
    }
    for row in rows {
        for reference in &row.references {
            // Writing to a string cannot fail.
            let value = short(reference.value);
            let _ = write!(text, "\n{}: {}: {value} {}", row.name, reference.what, reference.unit);
        }
    }
    text.trim_end().to_owned()
}

fn cells(row: &Row) -> [String; 7] {
    let measured = !row.samples.is_empty();
    let figure = |text: String| if measured { text } else { "-".to_owned() };
    let targets: Vec<String> =
        row.targets.iter().map(|target| format!("≤ {}", target.quantity.show(target.at_most))).collect();
    [
        row.name.clone(),
        figure(short(row.wall().median)),
        figure(short(row.cpu().median)),
        figure(short(row.max_rss() as f64 / 1e6)),
        figure(row.bytes_sent().to_string()),
        targets.join(", "),
        verdict(row),
    ]
}

/// Whether the targets were met, and what the figures were that miss one.
fn verdict(row: &Row) -> String {
    let missed: Vec<String> =
        row.missed().map(|target| target.quantity.show(row.actual(target.quantity))).collect();
    match (row.targets.as_slice(), missed.as_slice()) {
        ([], _) => String::new(),
        (_, []) => "ok".to_owned(),
        (_, missed) => format!("over: {}", missed.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{Sample, Target};

    #[test]
    fn columns_are_aligned_and_references_stand_below() {
        let sample = Sample {
            wall_ms: 412.7,
            user_ms: 20.0,
            system_ms: 5.5,
            max_rss: 31_250_000,
            requests: 1,
            bytes_sent: 9_876,
            first_request_bytes: 9_876,
        };
        let over = Row::of("answer", vec![sample], [Target::wall(60.0), Target::max_rss(40.0)]);
        let plain = Row::of("stream1mb", vec![Sample::default()], []).reference("growth", 2.04, "times");
        let size = Row { size: Some(12_300_000), ..Row::of("size", Vec::new(), [Target::size(20.0)]) };
        let size = size.reference("the binary", 12.3, "MB");
        let expected = "\
scenario   wall ms  cpu ms  max RSS MB  bytes sent  target            verdict
answer         413    25.5        31.2        9876  ≤ 60 ms, ≤ 40 MB  over: 413 ms
stream1mb        0       0           0           0
size             -       -           -           -  ≤ 20 MB           ok

stream1mb: growth: 2.0 times
size: the binary: 12.3 MB";
        assert_eq!(render(&[over, plain, size]), expected);
    }
}
