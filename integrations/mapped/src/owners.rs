//! The owners of slots, as a reader finds them.

use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::atomic::{Ordering, fence};

use crate::error::MappedError;
use crate::layout::Shape;
use crate::owner::{self, Found, Seen};
use crate::system::lock::is_locked;
use crate::system::read;

/// A process that has a slot in a mapped file, or had: with its first gauge, or by
/// [`File::take_slot`](crate::File::take_slot).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Owner {
    /// The number of its slot. The next process that takes the slot has the same one.
    pub slot: u32,
    /// Its process id, as it calls itself: in another container that is another process, or none.
    pub process: u32,
    /// Says that the process lived when it was read. A process that is stopped or hangs lives.
    pub is_live: bool,
}

/// The level of a gauge, or of operations in progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Level {
    /// The sum of the parts of all processes that live, wrapping.
    pub live: i64,
    /// The sum of what dead processes have left, wrapping: until another process takes the slot of
    /// a dead one.
    pub dead: i64,
}

/// An owner, and its part of each gauge.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    pub(crate) owner: Owner,
    pub(crate) words: Box<[i64]>,
}

impl Level {
    /// Adds up the parts of a gauge.
    pub(crate) fn of(owners: &[Parts], word: u32) -> Level {
        let mut level = Level::default();
        for Parts { owner, words } in owners {
            let sum = if owner.is_live { &mut level.live } else { &mut level.dead };
            *sum = sum.wrapping_add(words[word as usize]);
        }
        level
    }
}

/// Reads the owners that live, and the dead ones whose slots no other process has taken, with the
/// first `words` of their slots.
pub(crate) fn read(
    file: &File,
    path: &Path,
    shape: Shape,
    words: u32,
) -> Result<Vec<Parts>, MappedError> {
    let mut states = vec![0; shape.owners as usize * 8];
    read::exactly(file, path, shape.state_place(0), &mut states)?;
    let mut owners = Vec::new();
    let mut found = vec![0; words as usize + 1];
    // A process that takes a slot after this look is one that came after the read had begun.
    let used = (0..).zip(states.as_chunks::<8>().0).filter(|(_, state)| **state != [0; 8]);
    for (slot, _) in used {
        let is_live = match owner::read(&mut Read { file, path, shape, slot }, &mut found)? {
            Found::None => continue,
            Found::Live => true,
            Found::Dead => false,
        };
        let words = found[1..].iter().map(|word| word.cast_signed()).collect();
        owners.push(Parts { owner: Owner { slot, process: found[0] as u32, is_live }, words });
    }
    Ok(owners)
}

/// A slot of a file that is read.
struct Read<'f> {
    file: &'f File,
    path: &'f Path,
    shape: Shape,
    slot: u32,
}

impl Seen for Read<'_> {
    type Error = MappedError;

    fn state(&mut self, order: Ordering) -> Result<u64, MappedError> {
        let mut state = [0; 8];
        read::exactly(self.file, self.path, self.shape.state_place(self.slot), &mut state)?;
        // The kernel's load, with a fence, is Acquire. Those for the calls before come before it.
        if order == Ordering::Acquire {
            fence(Ordering::Acquire);
        }
        Ok(u64::from_le_bytes(state))
    }

    fn is_locked(&mut self) -> Result<bool, MappedError> {
        is_locked(self.file.as_fd(), self.shape.state_place(self.slot), self.path)
    }

    fn words(&mut self, into: &mut [u64]) -> Result<(), MappedError> {
        let mut bytes = vec![0; into.len() * 8];
        read::exactly(self.file, self.path, self.shape.slot_place(self.slot), &mut bytes)?;
        for (into, word) in into.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *into = u64::from_le_bytes(*word);
        }
        Ok(())
    }

    fn fence(&mut self, order: Ordering) {
        fence(order);
    }
}
