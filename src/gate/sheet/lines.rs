//! Tests of the cache lines of a sheet. A grant writes one word, whose line has no constant of the
//! bucket that other decisions read.

use std::mem::{align_of, offset_of, size_of};

use crossbeam_utils::CachePadded;

use super::{Fixed, Sheet};

/// The bytes of a line.
const LINE: usize = 64;

#[test]
fn a_grant_writes_one_line_and_no_decision_reads_another_that_it_writes() {
    assert_eq!(offset_of!(Sheet, word), 0);
    assert_eq!((offset_of!(Sheet, fixed), size_of::<Fixed>()), (LINE, LINE));
    // Turns and counts alone use the others, which may share the word's line.
    for written in [offset_of!(Sheet, base), offset_of!(Sheet, taken), offset_of!(Sheet, made)] {
        assert!(written < LINE, "{written}");
    }
}

#[test]
fn sheets_share_no_line() {
    assert_eq!(align_of::<Sheet>() % LINE, 0);
    assert_eq!(size_of::<Sheet>(), 2 * LINE);
    assert_eq!(size_of::<CachePadded<Sheet>>() % LINE, 0);
}
