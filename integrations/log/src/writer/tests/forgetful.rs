//! A disk in memory that fails on request, and forgets what was not synced when the system fails.

use std::collections::BTreeMap;
use std::io::{self, Cursor, ErrorKind};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use fastrand::Rng;

use crate::disk::{AppendFile, Disk, Found};
use crate::segment::Segment;

#[derive(Clone, Debug, Default)]
struct Contents {
    bytes: Vec<u8>,
    /// The number of bytes that are on the disk.
    synced: usize,
    /// True if the directory's entry is on the disk.
    is_listed: bool,
}

#[derive(Debug, Default)]
struct State {
    files: BTreeMap<PathBuf, Contents>,
    /// Files that were removed and are still on the disk.
    removed: BTreeMap<PathBuf, Contents>,
    /// The free space in bytes.
    room: Option<usize>,
    can_truncate: bool,
    cannot_sync: bool,
    /// True if a live process has the lock.
    is_locked: bool,
    /// The number of calls.
    calls: usize,
    /// The calls that fail, and the fault.
    faults: Range<usize>,
    fault: Option<Fault>,
    /// The error for the rest of an append that was taken in part.
    refused: Option<io::Error>,
    /// The call that failed last.
    failed: Option<&'static str>,
    /// The operations done, for tests of their order.
    done: Vec<String>,
}

/// The fault of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The call has no effect.
    Refused(ErrorKind),
    /// It is done, or a part of it, and an error comes all the same.
    Halfway(ErrorKind),
}

impl State {
    /// Counts a call. Returns an error if the call fails before it has an effect; otherwise the
    /// error after it, if any.
    fn call(&mut self, name: &'static str) -> io::Result<Option<io::Error>> {
        self.calls += 1;
        let fault = self.fault.filter(|_| self.faults.contains(&self.calls));
        if fault.is_some() {
            self.failed = Some(name);
        }
        match fault {
            None => Ok(None),
            Some(Fault::Refused(kind)) => Err(kind.into()),
            Some(Fault::Halfway(kind)) => Ok(Some(kind.into())),
        }
    }
}

fn done_or<T>(done: T, error: Option<io::Error>) -> io::Result<T> {
    error.map_or(Ok(done), Err)
}

/// The disk; clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Forgetful(Arc<Mutex<State>>);

/// Its lock.
#[derive(Debug)]
pub(crate) struct Held(Forgetful);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.state().is_locked = false;
    }
}

/// A file on it.
#[derive(Debug)]
pub(crate) struct Remembered {
    disk: Forgetful,
    path: PathBuf,
}

fn note(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

impl Forgetful {
    pub(crate) fn new() -> Forgetful {
        let state = State { can_truncate: true, ..State::default() };
        Forgetful(Arc::new(Mutex::new(state)))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// Sets the free space to `room` bytes.
    pub(crate) fn set_room(&self, room: Option<usize>) {
        self.state().room = room;
    }

    /// Sets whether files can be truncated.
    pub(crate) fn set_can_truncate(&self, can: bool) {
        self.state().can_truncate = can;
    }

    /// Sets whether files can be synced.
    pub(crate) fn set_can_sync(&self, can: bool) {
        self.state().cannot_sync = !can;
    }

    /// Makes some calls fail, numbered from 1.
    pub(crate) fn fail(&self, calls: Range<usize>, fault: Fault) {
        let mut state = self.state();
        (state.faults, state.fault) = (calls, Some(fault));
    }

    /// Returns the number of calls, and the last one that failed.
    pub(crate) fn calls(&self) -> (usize, Option<&'static str>) {
        let state = self.state();
        (state.calls, state.failed)
    }

    /// Kills the process that has the lock.
    pub(crate) fn kill(&self) {
        self.state().is_locked = false;
    }

    /// Returns the files by name.
    pub(crate) fn by_name(&self) -> BTreeMap<String, Vec<u8>> {
        let state = self.state();
        state.files.iter().map(|(path, file)| (note(path), file.bytes.clone())).collect()
    }

    /// Returns the operations since the last call of this method.
    pub(crate) fn done(&self) -> Vec<String> {
        std::mem::take(&mut self.state().done)
    }

    /// Returns the contents of all files, the oldest first.
    pub(crate) fn files(&self) -> Vec<Vec<u8>> {
        self.state().files.values().map(|file| file.bytes.clone()).collect()
    }

    /// Returns a possible state of the disk after a failure of the system: of each file the synced
    /// bytes, and some of the rest.
    pub(crate) fn after_failure(&self, rng: &mut Rng) -> Forgetful {
        let state = self.state();
        let mut left = State { can_truncate: true, ..State::default() };
        for (path, file) in state.files.iter().chain(&state.removed) {
            let was_removed = state.removed.contains_key(path);
            // An entry that was not synced may be there or not, as it is or was.
            let is_there = if was_removed { rng.bool() } else { file.is_listed || rng.bool() };
            if is_there {
                let kept = rng.usize(file.synced..=file.bytes.len());
                let mut bytes = file.bytes[..kept].to_vec();
                if rng.u8(..4) == 0 {
                    // The length was written, the data was not.
                    bytes.resize(rng.usize(kept..=file.bytes.len()), 0);
                }
                let synced = bytes.len();
                left.files.insert(path.clone(), Contents { bytes, synced, is_listed: true });
            }
        }
        Forgetful(Arc::new(Mutex::new(left)))
    }
}

impl Disk for Forgetful {
    type File = Remembered;
    type Reader = Cursor<Vec<u8>>;
    type Lock = Held;

    fn lock(&self, _: &Path) -> io::Result<Option<Held>> {
        let mut state = self.state();
        let after = state.call("lock")?;
        if state.is_locked {
            return Ok(None);
        }
        state.is_locked = after.is_none();
        done_or(Some(()), after)?;
        drop(state);
        Ok(Some(Held(self.clone())))
    }

    fn has(&self, _: &Held, _: &Path) -> bool {
        // The directory was moved away and came back.
        !matches!(self.state().call("look at the lock"), Ok(Some(_)))
    }

    fn list(&self, _: &Path) -> io::Result<Vec<Found>> {
        let mut state = self.state();
        done_or((), state.call("list")?)?;
        let found = |(path, file): (&PathBuf, &Contents)| {
            let segment = Segment::of(path.file_name()?)?;
            Some(Found { segment, length: Some(file.bytes.len() as u64) })
        };
        Ok(state.files.iter().filter_map(found).collect())
    }

    fn create(&self, path: &Path) -> io::Result<Remembered> {
        let mut state = self.state();
        let after = state.call("create")?;
        if state.files.contains_key(path) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        state.done.push(format!("make {}", note(path)));
        state.files.insert(path.to_owned(), Contents::default());
        done_or((), after)?;
        Ok(Remembered { disk: self.clone(), path: path.to_owned() })
    }

    fn open(&self, path: &Path) -> io::Result<(Remembered, u64)> {
        done_or((), self.state().call("open")?)?;
        let length = self.state().files.get(path).ok_or(ErrorKind::NotFound)?.bytes.len() as u64;
        Ok((Remembered { disk: self.clone(), path: path.to_owned() }, length))
    }

    fn read(&self, path: &Path, from: u64) -> io::Result<Cursor<Vec<u8>>> {
        let mut state = self.state();
        done_or((), state.call("read")?)?;
        let bytes = state.files.get(path).ok_or(ErrorKind::NotFound)?.bytes.clone();
        let mut reader = Cursor::new(bytes);
        reader.set_position(from);
        Ok(reader)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        let after = state.call("remove")?;
        state.done.push(format!("remove {}", note(path)));
        let file = state.files.remove(path).ok_or(ErrorKind::NotFound)?;
        state.room = state.room.map(|room| room + file.bytes.len());
        state.removed.insert(path.to_owned(), file);
        done_or((), after)
    }

    fn sync_directory(&self, _: &Held) -> io::Result<()> {
        let mut state = self.state();
        let after = state.call("sync directory")?;
        state.done.push("sync directory".to_owned());
        state.files.values_mut().for_each(|file| file.is_listed = true);
        state.removed.clear();
        done_or((), after)
    }

    fn room(&self, _: &Path) -> Option<u64> {
        self.state().room.map(|room| room as u64)
    }
}

impl AppendFile for Remembered {
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.disk.state();
        if let Some(error) = state.refused.take() {
            return Err(error);
        }
        let after = state.call("append")?;
        let part = if after.is_some() { bytes.len() / 2 } else { bytes.len() };
        let taken = part.min(state.room.unwrap_or(usize::MAX));
        if taken == 0 {
            return Err(ErrorKind::StorageFull.into());
        }
        state.done.push(format!("write {}", note(&self.path)));
        state.room = state.room.map(|room| room - taken);
        let file = state.files.get_mut(&self.path).ok_or(ErrorKind::NotFound)?;
        file.bytes.extend_from_slice(&bytes[..taken]);
        if after.is_some() {
            // The file took a part; the next call returns the reason.
            state.refused = after;
        }
        Ok(taken)
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        let mut state = self.disk.state();
        if !state.can_truncate {
            return Err(ErrorKind::PermissionDenied.into());
        }
        let after = state.call("truncate")?;
        let file = state.files.get_mut(&self.path).ok_or(ErrorKind::NotFound)?;
        let cut = file.bytes.len() - length as usize;
        file.bytes.truncate(length as usize);
        file.synced = file.synced.min(length as usize);
        state.room = state.room.map(|room| room + cut);
        done_or((), after)
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut state = self.disk.state();
        if state.cannot_sync {
            return Err(ErrorKind::Other.into());
        }
        let after = state.call("sync")?;
        state.done.push(format!("sync {}", note(&self.path)));
        let file = state.files.get_mut(&self.path).ok_or(ErrorKind::NotFound)?;
        file.synced = file.bytes.len();
        done_or((), after)
    }

    fn is_at(&self, path: &Path) -> bool {
        let mut state = self.disk.state();
        match state.call("look") {
            Ok(None) => state.files.contains_key(path),
            Ok(Some(_)) => false, // it was moved away and came back
            Err(_) => true,       // the system cannot say
        }
    }
}
