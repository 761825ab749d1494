//! Chunks of slots: made when all slots are taken, and linked for ever.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr::{null, null_mut};

use super::{Chunk, SLOTS, Slot, first};
use crate::sync::{AtomicPtr, AtomicUsize, Ordering, Witness};
use crate::thread_end::holder::Holder;

impl Chunk {
    /// Makes a chunk, links it, and returns one of its slots, taken. Takes no memory from the
    /// global allocator, which may itself be adding.
    pub(super) fn link() -> Option<&'static Slot> {
        #[allow(clippy::cast_ptr_alignment)] // it has the layout's alignment
        // SAFETY: a chunk has a size.
        let chunk = unsafe { System.alloc(Layout::new::<Chunk>()) }.cast::<Chunk>();
        if chunk.is_null() {
            return None;
        }
        // SAFETY: allocated above, for this type; no other thread has seen it. (It is initialised
        // in place, because it may be larger than a stack.)
        let made = unsafe {
            for number in 0..SLOTS {
                (&raw mut (*chunk).slots[number]).write(Slot {
                    announced: AtomicPtr::new(null_mut()),
                    kept: std::array::from_fn(|_| AtomicPtr::new(null_mut())),
                    row: Cell::new(0),
                    holder: Holder::free(),
                    chunk,
                    bit: 1 << number,
                });
            }
            (&raw mut (*chunk).in_use).write(AtomicUsize::new(0));
            (&raw mut (*chunk).next).write(null());
            (&raw mut (*chunk).witness).write(Witness::new());
            &*chunk
        };
        let slot = made.take();
        let mut next = first().load(Ordering::Relaxed); // the exchange compares
        loop {
            // SAFETY: as above.
            unsafe { (&raw mut (*chunk).next).write(next) };
            // Release: publishes the chunk; and, as a read-modify-write, continues the release
            // sequence of earlier chunks.
            match first().compare_exchange_weak(next, chunk, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return slot,
                Err(now) => next = now,
            }
        }
    }
}
