//! A window's blocks.
//!
//! A block is made when a rotation finds no other free, and lives as long as the window. A window
//! that is added to now and then has two blocks. A window whose buckets are held up, by a grace
//! period or a stalled thread, has up to four, and from then on makes none. No thread waits for
//! another's block: of two threads that make the same one, the slower gives its own back, and looks
//! whether the other's is free. If the arena has no columns, the next rotation that needs a block
//! tries again; until then the bucket is unstriped.
//!
//! # Why a sum sees every block that it must
//!
//! A block is published before the bucket that is its first owner becomes current. A thread adds
//! through a block that its bucket names. So a reader that has seen the bucket (by `current`, by a
//! slot, or because an add to it has happened before) sees the block here. A block that a reader
//! does not see belongs to a later bucket, whose adds the reader may leave out: a sum at once
//! checks afterwards, by `current`, that there is none. Blocks are never taken away, so a lifetime
//! never goes back.

use std::ptr::null_mut;

use crate::event::layout::BucketLayout;
use crate::ring::store::block::Block;
use crate::stripe::Strategy;
use crate::sync::{AtomicPtr, Ordering, alike, sized};

/// The greatest number of blocks: one for the live bucket, one to move on to, and two for retired
/// buckets that wait for a grace period.
pub(in crate::ring) const BLOCKS: usize = sized(4, 2);

#[derive(Debug)]
pub(in crate::ring) struct Blocks {
    layout: BucketLayout,
    strategy: Strategy,
    /// In the order in which they were made; null behind the last.
    made: [AtomicPtr<Block>; BLOCKS],
}

impl Blocks {
    /// Makes an empty list: blocks are made when they are needed.
    pub(in crate::ring) fn new(layout: BucketLayout, strategy: Strategy) -> Blocks {
        Blocks { layout, strategy, made: alike![AtomicPtr::new(null_mut()); BLOCKS] }
    }

    /// Returns all blocks, in the order of their numbers.
    #[inline]
    pub(in crate::ring) fn iter(&self) -> impl Iterator<Item = &Block> {
        self.made.iter().map_while(follow)
    }

    /// Returns the block with a number, if there is one.
    #[inline]
    pub(in crate::ring) fn get(&self, number: usize) -> Option<&Block> {
        follow(self.made.get(number)?)
    }

    /// Returns a block that was free a moment ago, or has just been made, and its number. `None` if
    /// no block is free and none can be made.
    pub(in crate::ring) fn free(&self) -> Option<(usize, &Block)> {
        for number in 0..BLOCKS {
            let block = match self.get(number) {
                Some(block) => block,
                None => self.make(number)?,
            };
            if block.is_free() {
                return Some((number, block));
            }
        }
        None
    }

    /// Makes the block with a number, unless another thread does; `None` if the arena has no
    /// columns for it.
    #[cold]
    fn make(&self, number: usize) -> Option<&Block> {
        let new = Box::into_raw(Box::new(Block::claim(self.layout, self.strategy)?));
        // Release: publishes the block; pairs with the Acquire in `follow`. Acquire on failure: as
        // there.
        let (order, failed) = (Ordering::Release, Ordering::Acquire);
        let made = self.made[number].compare_exchange(null_mut(), new, order, failed);
        let block = made.map_or_else(
            |theirs| {
                // SAFETY: made above, and not published.
                drop(unsafe { Box::from_raw(new) });
                theirs
            },
            |_| new,
        );
        // SAFETY: it lives as long as the window.
        unsafe { block.as_ref() }
    }
}

#[inline]
fn follow(made: &AtomicPtr<Block>) -> Option<&Block> {
    // SAFETY: null, or a block that lives as long as the window. Acquire: pairs with the Release in
    // `make`.
    let block = unsafe { made.load(Ordering::Acquire).as_ref() }?;
    block.check();
    Some(block)
}

impl Drop for Blocks {
    fn drop(&mut self) {
        for made in &self.made {
            // Relaxed: `&mut self`: no other thread is there, and all that was done comes before.
            let block = made.load(Ordering::Relaxed);
            if !block.is_null() {
                // SAFETY: no other thread is there; made by `Box::into_raw`, and published once.
                drop(unsafe { Box::from_raw(block) });
            }
        }
    }
}
