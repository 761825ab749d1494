//! Files of a few bytes that say that they are large.

use std::os::unix::fs::FileExt;

use super::*;
use crate::layout::entry::Entry;
use crate::layout::header::Header;
use crate::layout::{MOST_COLUMNS, MOST_ROWS, SEGMENT, table_place};

/// Makes a file with the most rows and columns, and these kinds and columns of entries. All its
/// cells are in a hole.
fn file(entries: &[(u8, u32)]) -> fs::File {
    let shape = Shape {
        plain: MOST_ROWS,
        locked: MOST_ROWS,
        columns: MOST_COLUMNS,
        table: 1 << 18,
        owners: 1,
        gauges: 7,
    };
    let file = tempfile::tempfile_in("/dev/shm").unwrap();
    file.set_len(shape.length()).unwrap();
    file.write_all_at(&Header { shape, boot: 0 }.bytes(), 0).unwrap();
    let mut end = End::default();
    for (number, (kind, columns)) in entries.iter().enumerate() {
        let entry = Entry::new(*kind, end.columns, *columns, None, &number.to_string());
        let bytes: Vec<u8> = entry.words().into_iter().flat_map(u64::to_le_bytes).collect();
        file.write_all_at(&bytes, table_place(end.bytes)).unwrap();
        end = entry.end(end);
    }
    file.write_all_at(&end.word().to_le_bytes(), END).unwrap();
    assert!(file.metadata().unwrap().blocks() < 1 << 10);
    file
}

#[test]
fn columns_of_unknown_kinds_are_not_read() {
    let reader = Reader::from_file(file(&[(200, MOST_COLUMNS - 1), (1, 1)])).unwrap();
    let reading = reader.read().unwrap();
    assert_eq!(reading.metrics().map(|metric| metric.sum()).collect::<Vec<_>>(), [Some(0)]);
}

#[test]
fn a_small_file_with_many_cells_is_an_error() {
    // A counter in each segment, and 16 pages of counters in one.
    let spread = [(200, SEGMENT - 1), (1, 1)].repeat(2048);
    for entries in [spread, vec![(1, 1); 16 * 512 + 1]] {
        let reader = Reader::from_file(file(&entries)).unwrap();
        match reader.read().map(drop).unwrap_err() {
            MappedError::TooSparse { bytes, most, .. } => {
                assert!(bytes > most && most == LEAST_EFFORT, "{bytes}, {most}");
            }
            error => panic!("{error}"),
        }
    }
}
