//! A disk in memory that fails when it is told to, and forgets what was not synced when the system fails.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use fastrand::Rng;

use super::{AppendFile, Disk};

#[derive(Clone, Debug, Default)]
struct Contents {
    bytes: Vec<u8>,
    /// How many of them are on the disk.
    synced: usize,
    /// Whether the directory's entry is on the disk.
    is_listed: bool,
}

#[derive(Debug, Default)]
struct State {
    files: BTreeMap<PathBuf, Contents>,
    /// Removed, and still on the disk.
    removed: BTreeMap<PathBuf, Contents>,
    /// How many more bytes there is room for.
    room: Option<usize>,
    can_truncate: bool,
    cannot_sync: bool,
    /// What was done: for tests of the order.
    done: Vec<String>,
}

/// The disk: clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct Forgetful(Arc<Mutex<State>>);

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

    /// From now on there is room for so many bytes more.
    pub(crate) fn set_room(&self, room: Option<usize>) {
        self.state().room = room;
    }

    /// Whether what was written can be cut off.
    pub(crate) fn set_can_truncate(&self, can: bool) {
        self.state().can_truncate = can;
    }

    /// Whether a file can be synced.
    pub(crate) fn set_can_sync(&self, can: bool) {
        self.state().cannot_sync = !can;
    }

    /// What was done since this was last called.
    pub(crate) fn done(&self) -> Vec<String> {
        std::mem::take(&mut self.state().done)
    }

    /// What all files hold, the oldest first.
    pub(crate) fn files(&self) -> Vec<Vec<u8>> {
        self.state().files.values().map(|file| file.bytes.clone()).collect()
    }

    /// The disk as it may be after the system has failed now: of each file what was synced, and some of the rest.
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
    type Lock = ();

    fn lock(&self, _: &Path) -> io::Result<Option<()>> {
        Ok(Some(()))
    }

    fn list(&self, _: &Path) -> io::Result<Vec<OsString>> {
        Ok(self.state().files.keys().map(|path| path.file_name().unwrap().to_owned()).collect())
    }

    fn create(&self, path: &Path) -> io::Result<Remembered> {
        let mut state = self.state();
        state.done.push(format!("make {}", note(path)));
        assert!(state.files.insert(path.to_owned(), Contents::default()).is_none(), "{path:?}");
        Ok(Remembered { disk: self.clone(), path: path.to_owned() })
    }

    fn open(&self, path: &Path) -> io::Result<(Remembered, u64)> {
        let length = self.state().files.get(path).ok_or(ErrorKind::NotFound)?.bytes.len() as u64;
        Ok((Remembered { disk: self.clone(), path: path.to_owned() }, length))
    }

    fn tail(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        let state = self.state();
        let bytes = &state.files.get(path).ok_or(ErrorKind::NotFound)?.bytes;
        Ok(bytes[bytes.len().saturating_sub(most as usize)..].to_vec())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.done.push(format!("remove {}", note(path)));
        let file = state.files.remove(path).ok_or(ErrorKind::NotFound)?;
        state.removed.insert(path.to_owned(), file);
        Ok(())
    }

    fn sync_directory(&self, _: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.done.push("sync directory".to_owned());
        state.files.values_mut().for_each(|file| file.is_listed = true);
        state.removed.clear();
        Ok(())
    }
}

impl AppendFile for Remembered {
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.disk.state();
        let taken = bytes.len().min(state.room.unwrap_or(usize::MAX));
        if taken == 0 {
            return Err(ErrorKind::StorageFull.into());
        }
        state.done.push(format!("write {}", note(&self.path)));
        state.room = state.room.map(|room| room - taken);
        let file = state.files.get_mut(&self.path).ok_or(ErrorKind::NotFound)?;
        file.bytes.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        let mut state = self.disk.state();
        if !state.can_truncate {
            return Err(ErrorKind::PermissionDenied.into());
        }
        let file = state.files.get_mut(&self.path).ok_or(ErrorKind::NotFound)?;
        let cut = file.bytes.len() - length as usize;
        file.bytes.truncate(length as usize);
        file.synced = file.synced.min(length as usize);
        state.room = state.room.map(|room| room + cut);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut state = self.disk.state();
        if state.cannot_sync {
            return Err(ErrorKind::Other.into());
        }
        state.done.push(format!("sync {}", note(&self.path)));
        let file = state.files.get_mut(&self.path).ok_or(ErrorKind::NotFound)?;
        file.synced = file.bytes.len();
        Ok(())
    }

    fn is_at(&self, path: &Path) -> bool {
        self.disk.state().files.contains_key(path)
    }
}
