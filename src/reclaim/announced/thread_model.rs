//! A thread's own slot in a model: as the real one, in one thread-local. No thread of a model uses
//! anything in its last moments, when the checkers' thread-locals are gone.

use std::cell::Cell;

use super::Slot;

crate::sync::engine::thread_local! {
    static MINE: Mine = Mine(Cell::new(None));
}

struct Mine(Cell<Option<&'static Slot>>);

impl Drop for Mine {
    fn drop(&mut self) {
        if let Some(slot) = self.0.get() {
            slot.give_back();
        }
    }
}

/// This thread's slot, if it has one.
pub(crate) fn mine() -> Option<&'static Slot> {
    MINE.with(|mine| mine.0.get())
}

/// This thread's slot, taken if it has none.
pub(crate) fn mine_or_taken() -> Option<&'static Slot> {
    MINE.with(|mine| {
        let slot = mine.0.get().or_else(Slot::take);
        mine.0.set(slot);
        slot
    })
}
