//! The rows on a leaf page of a table.
//!
//! Pure but for following a long row to the pages it goes on. The input may be
//! anything: what does not make sense is left out, and the work is bounded by
//! the size of the file.

use rusqlite::types::Value;

use super::pages::Pages;

const TABLE_LEAF: u8 = 0x0d;
/// The first page begins with the header of the file.
const FILE_HEADER: usize = 100;

/// The rows on a page, if it is a leaf of a table.
pub(super) fn rows(pages: &Pages, number: u32) -> Vec<Vec<Value>> {
    let Some(page) = pages.page(number) else { return Vec::new() };
    let start = if number == 1 { FILE_HEADER } else { 0 };
    if page.get(start) != Some(&TABLE_LEAF) {
        return Vec::new();
    }
    let count = short(&page, start + 3).unwrap_or(0);
    let cells = (0..count).filter_map(|index| short(&page, start + 8 + 2 * index));
    cells.filter_map(|offset| record(&payload(pages, &page, offset)?)).collect()
}

/// The bytes of a row: on the page as far as they fit, then on a chain of others.
fn payload(pages: &Pages, page: &[u8], offset: usize) -> Option<Vec<u8>> {
    let (length, after_length) = varint(page, offset)?;
    let (_row, start) = varint(page, after_length)?;
    let length = usize::try_from(length).ok().filter(|length| *length <= pages.total())?;
    let local = local_length(length, pages.size());
    let mut payload = page.get(start..start.checked_add(local)?)?.to_vec();
    if local == length {
        return Some(payload);
    }
    let mut next = long(page, start + local)?;
    while payload.len() < length {
        let page = pages.page(next)?;
        next = long(&page, 0)?;
        let rest = page.get(4..)?;
        let missing = length - payload.len();
        payload.extend_from_slice(rest.get(..missing).unwrap_or(rest));
    }
    Some(payload)
}

/// How much of a row of this length is on its leaf page.
fn local_length(length: usize, usable: usize) -> usize {
    let most = usable - 35;
    if length <= most {
        return length;
    }
    let least = (usable - 12) * 32 / 255 - 23;
    let fitting = least + (length - least) % (usable - 4);
    if fitting <= most { fitting } else { least }
}

/// The values of a row.
fn record(payload: &[u8]) -> Option<Vec<Value>> {
    let (header, mut at) = varint(payload, 0)?;
    let header = usize::try_from(header).ok().filter(|header| *header <= payload.len())?;
    let mut body = header;
    let mut values = Vec::new();
    while at < header {
        let (kind, next) = varint(payload, at)?;
        at = next;
        let length = value_length(kind)?;
        let bytes = payload.get(body..body.checked_add(length)?)?;
        values.push(value(kind, bytes)?);
        body += length;
    }
    Some(values)
}

fn value_length(kind: u64) -> Option<usize> {
    match kind {
        0 | 8 | 9 => Some(0),
        1..=4 => usize::try_from(kind).ok(),
        5 => Some(6),
        6 | 7 => Some(8),
        10 | 11 => None,
        _ => usize::try_from((kind - 12) / 2).ok(),
    }
}

fn value(kind: u64, bytes: &[u8]) -> Option<Value> {
    Some(match kind {
        0 => Value::Null,
        1..=6 => Value::Integer(integer(bytes)),
        7 => Value::Real(f64::from_be_bytes(bytes.try_into().ok()?)),
        8 => Value::Integer(0),
        9 => Value::Integer(1),
        _ if kind.is_multiple_of(2) => Value::Blob(bytes.to_vec()),
        _ => Value::Text(String::from_utf8(bytes.to_vec()).ok()?),
    })
}

/// Big-endian, in two's complement.
fn integer(bytes: &[u8]) -> i64 {
    let negative = bytes.first().is_some_and(|first| first & 0x80 != 0);
    bytes.iter().fold(if negative { -1 } else { 0 }, |number: i64, byte| number << 8 | i64::from(*byte))
}

/// A number of one to nine bytes, and where it ends.
fn varint(bytes: &[u8], offset: usize) -> Option<(u64, usize)> {
    let mut number = 0;
    for (index, byte) in bytes.get(offset..)?.iter().take(9).enumerate() {
        if index == 8 {
            return Some((number << 8 | u64::from(*byte), offset + 9));
        }
        number = number << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((number, offset + index + 1));
        }
    }
    None
}

fn short(bytes: &[u8], offset: usize) -> Option<usize> {
    let bytes = bytes.get(offset..offset.checked_add(2)?)?;
    Some(usize::from(u16::from_be_bytes(bytes.try_into().ok()?)))
}

fn long(bytes: &[u8], offset: usize) -> Option<u32> {
    let bytes = bytes.get(offset..offset.checked_add(4)?)?;
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, SeekFrom, Write};
    use std::path::Path;

    use proptest::prelude::*;
    use rusqlite::Connection;

    use super::*;

    fn scanned(path: &Path) -> Vec<Vec<Value>> {
        let pages = Pages::open(path, &path.with_extension("db-wal")).unwrap();
        let rows = pages.numbers().flat_map(|number| rows(&pages, number));
        // The schema's own rows have five columns.
        rows.filter(|row| row.len() == 3).collect()
    }

    fn queried(connection: &Connection) -> Vec<Vec<Value>> {
        let mut statement = connection.prepare("SELECT * FROM t").unwrap();
        let rows = statement.query_map([], |row| Ok(vec![row.get(0)?, row.get(1)?, row.get(2)?])).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    }

    fn sorted(mut rows: Vec<Vec<Value>>) -> Vec<String> {
        rows.sort_by_key(|row| format!("{row:?}"));
        rows.iter().map(|row| format!("{row:?}")).collect()
    }

    fn fill(connection: &Connection, values: &[(Value, Value, Value)]) {
        connection.execute_batch("CREATE TABLE t (a, b, c)").unwrap();
        for (a, b, c) in values {
            connection.execute("INSERT INTO t VALUES (?1, ?2, ?3)", (a, b, c)).unwrap();
        }
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let around =
            prop::sample::select(vec![0, 1, 2, 127, 128, 255, 32_767, 1 << 23, 1 << 31, 1 << 47, i64::MAX]);
        prop_oneof![
            Just(Value::Null),
            around.prop_map(Value::Integer),
            any::<i64>().prop_map(Value::Integer),
            any::<i64>().prop_map(|number| Value::Integer(number >> (number & 63))),
            (-1e9..1e9f64).prop_map(|number| Value::Real(number + 0.5)),
            "\\PC{0,200}".prop_map(Value::Text),
            prop::collection::vec(any::<u8>(), 0..200).prop_map(Value::Blob),
            (3_900..13_000_usize).prop_map(|length| Value::Text("x".repeat(length))),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn a_healthy_table_is_read_as_sqlite_reads_it(
            values in prop::collection::vec((any_value(), any_value(), any_value()), 1..60),
            journal in prop::sample::select(vec!["delete", "wal"]),
            page_size in prop::sample::select(vec![512, 4096, 65_536]),
        ) {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("t.db");
            let connection = Connection::open(&path).unwrap();
            connection.pragma_update(None, "page_size", page_size).unwrap();
            connection.pragma_update_and_check(None, "journal_mode", journal, |_| Ok(())).unwrap();
            connection.pragma_update(None, "synchronous", "off").unwrap();
            fill(&connection, &values);
            prop_assert_eq!(sorted(scanned(&path)), sorted(queried(&connection)));
        }

        #[test]
        fn anything_at_all_can_be_scanned(
            values in prop::collection::vec((any_value(), any_value(), any_value()), 1..30),
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..400),
        ) {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("t.db");
            let connection = Connection::open(&path).unwrap();
            connection.pragma_update(None, "synchronous", "off").unwrap();
            fill(&connection, &values);
            connection.close().unwrap();
            let length = usize::try_from(std::fs::metadata(&path).unwrap().len()).unwrap();
            let mut file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
            for (place, byte) in damage {
                file.seek(SeekFrom::Start(place.index(length) as u64)).unwrap();
                file.write_all(&[byte]).unwrap();
            }
            scanned(&path);
        }
    }

    #[test]
    fn a_transaction_that_was_not_committed_is_not_there() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("t.db");
        let connection = Connection::open(&path).unwrap();
        connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(())).unwrap();
        fill(&connection, &[(Value::Integer(1), Value::Null, Value::Null)]);
        // So small a cache writes pages to the log before the commit.
        connection.pragma_update(None, "cache_size", 1).unwrap();
        connection.execute_batch("BEGIN").unwrap();
        for _ in 0..2_000 {
            connection.execute("INSERT INTO t VALUES (2, 'never committed', zeroblob(100))", ()).unwrap();
        }
        assert!(std::fs::metadata(path.with_extension("db-wal")).unwrap().len() > 100_000);
        assert_eq!(scanned(&path), [[Value::Integer(1), Value::Null, Value::Null]]);
    }
}
