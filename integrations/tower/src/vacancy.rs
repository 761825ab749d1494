//! Room for new keys in a bounded table: idle keys leave.
//!
//! Each new key looks at a few others, in turn, by the [clock hand](Family::retain_next) of the
//! family. So no call takes time for all keys. That begins before the table is full, so that keys
//! of one moment find room; and where it is full, a key that would share looks as well.
//!
//! The caller says which keys are in use. A key whose labels are all enums stays, because the
//! number of those is bounded anyway.

use windrow::Family;
use windrow::family::Metric;
use windrow::labels::Labels;

/// The number of keys at which a new one looks.
const LOOKS: usize = 8;

/// Makes room for later keys, if more than seven eighths of the keys are taken: looks at the next
/// few, and removes those that are not in use.
pub(crate) fn make_room_ahead<L: Labels, M: Metric>(
    family: &Family<L, M>,
    is_in_use: impl FnMut(&M) -> bool,
) {
    let most = family.max_series();
    if L::COMBINATIONS.is_none() && family.len() > most - most / 8 {
        look(family, is_in_use);
    }
}

/// Makes room for a key that has found none, if all keys are taken, in the same way. Returns
/// whether there is room now. (A key that is too long shares although the table is not full.)
pub(crate) fn make_room<L: Labels, M: Metric>(
    family: &Family<L, M>,
    is_in_use: impl FnMut(&M) -> bool,
) -> bool {
    L::COMBINATIONS.is_none() && family.len() >= family.max_series() && look(family, is_in_use)
}

#[cold]
fn look<L: Labels, M: Metric>(family: &Family<L, M>, is_in_use: impl FnMut(&M) -> bool) -> bool {
    family.retain_next(LOOKS, is_in_use) > 0
}
