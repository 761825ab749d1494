//! A file that this process has open: its mapping, and the registration of names.
//!
//! # Promise
//!
//! A process that is killed at any step leaves a valid file, in which the next process registers
//! the same name. Two processes that register the same name get the same columns.
//!
//! # Why
//!
//! The steps of [`register`](Shared::register), in this order:
//!
//! 1. Take the lock, which the kernel gives back if the process dies.
//! 2. Read the entries that this process has not seen. If the name is there, that is the answer.
//! 3. Claim the memory of the entry and of its columns in all rows: an error here, if the file
//!    system is full, and not a signal at an add.
//! 4. Write the entry behind the end.
//! 5. Store the new end, which publishes the bytes and the columns by one word.
//! 6. Give the lock back.
//!
//! Before step 5, nothing that a reader may look at has changed, and the columns behind the end
//! were never handed out, so they are zero. The next process to register writes its entry over the
//! bytes that a killed one has left. After step 5, the entry is complete. Nothing is freed, so no
//! column ever has a second meaning.

use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use foldhash::fast::RandomState;

use crate::cells::Cells;
use crate::entries::Entries;
use crate::error::MappedError;
use crate::failpoint::{self, Point};
use crate::kind::Kind;
use crate::layout::entry::Entry;
use crate::layout::{PAGE, PAGE_COLUMNS, ROW, Shape, table_place};
use crate::publish::{self, publish};
use crate::sequence;
use crate::slot::{OwnSlot, Slots};
use crate::system::claim::claim;
use crate::system::lock::LockFile;
use crate::system::mapping::Mapping;
use crate::system::opened::Opened;
use crate::system::{machine, open, read};

/// The pause between two attempts to lock what threads of this process share.
const PAUSE: Duration = Duration::from_micros(50);

/// An open file.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) file: Opened,
    pub(crate) path: PathBuf,
    pub(crate) mapping: Mapping,
    pub(crate) shape: Shape,
    /// The offset of a thread's area from its thread pointer, if adds of this process are plain.
    pub(crate) area: Option<isize>,
    /// The time to wait for a lock.
    pub(crate) timeout: Duration,
    /// Locked before `seen`, and while this process waits for the lock of the names: so a name that
    /// it knows is found meanwhile.
    lock_file: Mutex<LockFile>,
    seen: Mutex<Seen>,
    /// This process's slot, from its first gauge on; it is never freed. (Not a `OnceLock`, in which
    /// a child waits for ever that was forked while another thread made it.)
    slot: AtomicPtr<OwnSlot>,
}

/// The part of the file that this process knows.
#[derive(Debug, Default)]
struct Seen {
    entries: Entries,
    /// The places of the pages whose memory this process has claimed: of columns those in row 0.
    claimed: Claimed,
}

type Claimed = HashSet<u64, RandomState>;

impl Shared {
    /// Checks and maps a file.
    pub(crate) fn open(file: File, path: &Path, timeout: Duration) -> Result<Shared, MappedError> {
        let length = open::check_owner(&file, path)?;
        open::check_file_system(&file, path)?;
        let header = read::header(&file, path, length)?;
        let file = Opened::new(file).map_err(MappedError::failed("inspect", path))?;
        let mapping = Mapping::new(file.get(path)?, length, path)?;
        // Processors have the same numbers for all processes of one kernel, and for no others. With
        // an unknown one, all adds are locked.
        let is_same_kernel = header.boot != 0 && header.boot == machine::boot();
        let shared = Shared {
            file,
            path: path.to_owned(),
            mapping,
            shape: header.shape,
            area: if is_same_kernel { sequence::area() } else { None },
            timeout,
            lock_file: Mutex::default(),
            seen: Mutex::default(),
            slot: AtomicPtr::default(),
        };
        // (An error drops the mapping: no cell of it was handed out.)
        shared.seen().and_then(|mut seen| shared.catch_up(&mut seen.entries))?;
        Ok(shared)
    }

    /// Returns the cells of a column, which live for ever: see [`Mapping`].
    pub(crate) fn cells(&'static self, column: u32) -> Cells {
        assert!(column < self.shape.columns, "{column} is no column");
        let first = self.mapping.word(self.shape.cell_place(0, column));
        // SAFETY: the mapping has all rows of each column of its shape, the pointer is that of the
        // whole mapping, and a mapping that has given out a cell is never taken back.
        unsafe { Cells::new(first, self.area, self.shape) }
    }

    /// Returns the slot that this process has, or that it now takes.
    pub(crate) fn slot(&'static self) -> Result<&'static OwnSlot, MappedError> {
        // Acquire: pairs with the exchange below.
        let mut slot = self.slot.load(Ordering::Acquire);
        if slot.is_null() {
            let Shared { file, path, mapping, shape, timeout, .. } = self;
            let of = Slots { file, path, mapping, shape: *shape, timeout: *timeout };
            slot = Box::into_raw(Box::new(OwnSlot::new(of)?));
            // Release, for the loads; Acquire, for that of another thread.
            let (order, failed) = (Ordering::AcqRel, Ordering::Acquire);
            if let Err(first) = self.slot.compare_exchange(null_mut(), slot, order, failed) {
                // SAFETY: it was not published.
                drop(unsafe { Box::from_raw(slot) });
                slot = first;
            }
        }
        // SAFETY: published, and never freed.
        let slot = unsafe { &*slot };
        slot.ensure()?;
        Ok(slot)
    }

    /// Returns the number of names in the file.
    pub(crate) fn names(&self) -> Result<usize, MappedError> {
        let mut seen = self.seen()?;
        self.catch_up(&mut seen.entries)?;
        Ok(seen.entries.list.len())
    }

    /// Returns the first column of a metric, and its word if it is a gauge. It is registered if it
    /// is not there.
    pub(crate) fn register(&self, text: &str, kind: Kind) -> Result<(u32, u32), MappedError> {
        let found = |seen: &mut Seen| {
            let Some(entry) = seen.entries.find(text) else { return Ok(None) };
            // The file may have been copied without the memory that was claimed.
            self.claim_columns(&mut seen.claimed, entry)?;
            Ok(Some((entry.column, entry.word())))
        };
        self.registered(text, kind, found, |seen, entry| {
            self.claim_columns(&mut seen.claimed, entry)?;
            Ok((entry.column, entry.word()))
        })
    }

    /// Returns what `found` makes of an entry. If it is not there, it is registered, after
    /// `prepare`, whose result is the answer.
    fn registered<R>(
        &self,
        text: &str,
        kind: Kind,
        found: impl Fn(&mut Seen) -> Result<Option<R>, MappedError>,
        prepare: impl FnOnce(&mut Seen, &Entry) -> Result<R, MappedError>,
    ) -> Result<R, MappedError> {
        let known = |seen: &mut Seen| {
            self.catch_up(&mut seen.entries)?;
            seen.entries.check_kind(text, kind)?;
            found(seen)
        };
        // Entries never change, so one that is there needs no lock.
        if let Some(found) = known(&mut *self.seen()?)? {
            return Ok(found);
        }
        let mut lock_file = self.locked(&self.lock_file)?;
        let lock = lock_file.lock(&self.file, &self.path, self.timeout)?;
        failpoint::reach(Point::Locked);
        let seen = &mut *self.seen()?;
        if let Some(found) = known(seen)? {
            return Ok(found);
        }
        let before = seen.entries.end;
        let entry = seen.entries.next(text, kind, self.shape)?;
        let places = [before, entry.end(before)].map(|end| table_place(end.bytes));
        for page in places[0] / PAGE..places[1].div_ceil(PAGE) {
            self.claim_once(&mut seen.claimed, page * PAGE, 1)?;
        }
        let prepared = prepare(seen, &entry)?;
        failpoint::reach(Point::Claimed);
        publish(&self.mapping, &entry, before);
        failpoint::reach(Point::Published);
        drop(lock);
        seen.entries.push(entry);
        Ok(prepared)
    }

    /// Claims the memory of a metric's columns in all rows, once in a process.
    fn claim_columns(&self, claimed: &mut Claimed, entry: &Entry) -> Result<(), MappedError> {
        if entry.columns == 0 {
            return Ok(()); // a gauge's words are claimed with an owner's slot
        }
        let end = (entry.column + entry.columns).div_ceil(PAGE_COLUMNS);
        (entry.column / PAGE_COLUMNS..end).try_for_each(|page| {
            let place = self.shape.cell_place(0, page * PAGE_COLUMNS);
            self.claim_once(claimed, place, self.shape.rows())
        })
    }

    /// Claims the memory of a page, and of the same page of further rows, once in a process.
    fn claim_once(&self, claimed: &mut Claimed, page: u64, rows: u32) -> Result<(), MappedError> {
        if !claimed.contains(&page) {
            (0..rows).try_for_each(|row| self.claim(page + u64::from(row) * ROW, PAGE))?;
            claimed.insert(page);
        }
        Ok(())
    }

    /// Reads the entries that this process has not seen.
    fn catch_up(&self, entries: &mut Entries) -> Result<(), MappedError> {
        let end = publish::end(&self.mapping);
        // The kernel's loads come after that of the end, which is Acquire.
        entries.catch_up(end, self.shape, &self.path, |place, into| self.read(place, into))
    }

    /// Reads a part of the file.
    ///
    /// Not through the mapping: a page of a copied file that has no memory would be claimed by a
    /// load, and be a signal where there is none left.
    pub(crate) fn read(&self, place: u64, into: &mut [u8]) -> Result<(), MappedError> {
        read::exactly(self.file.get(&self.path)?, &self.path, place, into)
    }

    /// Claims the memory of a part of the file.
    pub(crate) fn claim(&self, place: u64, bytes: u64) -> Result<(), MappedError> {
        claim(self.file.get(&self.path)?, &self.path, place, bytes)
    }

    /// Locks what this process knows.
    fn seen(&self) -> Result<MutexGuard<'_, Seen>, MappedError> {
        self.locked(&self.seen)
    }

    /// Locks a part of this. A child that was forked while another thread had the lock finds it
    /// locked for ever: so this gives up.
    fn locked<'s, T>(&self, part: &'s Mutex<T>) -> Result<MutexGuard<'s, T>, MappedError> {
        let begun = Instant::now();
        loop {
            match part.try_lock() {
                Ok(locked) => return Ok(locked),
                // All changes leave it valid.
                Err(TryLockError::Poisoned(locked)) => return Ok(locked.into_inner()),
                Err(TryLockError::WouldBlock) => {}
            }
            let waited = begun.elapsed();
            if waited >= self.timeout {
                return Err(MappedError::LockedTooLong { path: self.path.clone(), waited });
            }
            sleep(PAUSE);
        }
    }
}

mod paces;
mod several;
#[cfg(test)]
mod tests;
