//! Writing lines to files: one after the other, and the oldest removed.
//!
//! # The order of things
//!
//! 1. A file that is full is synced before the next one is made. So a failing system never leaves a line of a file
//!    without those of the files before it.
//! 2. The directory is synced before a line is written to the new file, and before the oldest file is removed.
//! 3. A line leaves the memory when the system has taken all of it, and not before.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::active::Active;
use crate::disk::Disk;
use crate::entry::Run;
use crate::error::{LogError, Step};
use crate::options::Options;
use crate::pending::{Line, Pending};
use crate::segment::Segment;
use crate::wall::Wall;

/// How many lines are copied together for one call of the system.
const AT_ONCE: usize = 256;

/// Keeps a directory locked, and writes to it.
pub(crate) struct Writer<D: Disk> {
    disk: D,
    directory: PathBuf,
    options: Options,
    run: Run,
    /// `None` before it is opened, and after it was found to be gone.
    file: Option<(D::Lock, Active<D::File>)>,
    pending: Pending,
    synced: Instant,
}

impl<D: Disk> Writer<D> {
    /// Opens the directory, which is there, and begins a run in it.
    pub(crate) fn open(
        disk: D,
        directory: &Path,
        options: Options,
        run: Run,
    ) -> Result<Writer<D>, LogError> {
        let mut writer = Writer {
            disk,
            directory: directory.to_owned(),
            pending: Pending::new(options.memory),
            options,
            run,
            file: None,
            synced: Instant::now(),
        };
        writer.file()?;
        Ok(writer)
    }

    /// Takes a line on, for the next [`write`](Self::write).
    pub(crate) fn push(&mut self, line: Line) {
        self.pending.push(line, &self.options.format);
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(crate) fn pending(&self) -> &Pending {
        &self.pending
    }

    /// Lines that were written and not synced.
    pub(crate) fn unsynced(&self) -> u64 {
        self.file.as_ref().map_or(0, |(_, file)| file.unsynced)
    }

    /// Writes what waits, and syncs it if that is due. Tells how many lines it wrote.
    pub(crate) fn write(&mut self) -> Result<usize, LogError> {
        let mut count = 0;
        loop {
            while self.pending.first().is_some() {
                count += self.write_some()?;
            }
            self.pending.say_what_was_dropped(&self.options.format);
            if self.pending.first().is_none() {
                break;
            }
        }
        if self.unsynced() > 0 && self.synced.elapsed() >= self.options.sync_every {
            self.sync()?;
        }
        Ok(count)
    }

    /// Writes the first lines that wait, as many as the file takes; or begins another.
    fn write_some(&mut self) -> Result<usize, LogError> {
        self.file()?;
        let Some((_, file)) = &mut self.file else { return Ok(0) };
        let takes = file.takes(self.pending.iter().take(AT_ONCE), self.options.file_size);
        if takes == 0 {
            self.rotate()?;
            return Ok(0);
        }
        let (count, result) =
            file.write(self.pending.iter().take(takes).collect::<Vec<_>>().into_iter());
        self.pending.written(count);
        result.map_err(failed(Step::Write, &file.path))?;
        Ok(count)
    }

    /// Brings all that was written to the disk.
    pub(crate) fn sync(&mut self) -> Result<(), LogError> {
        if let Some((_, file)) = &mut self.file {
            file.sync().map_err(failed(Step::Sync, &file.path))?;
        }
        self.synced = Instant::now();
        Ok(())
    }

    /// Sees to it that there is a file, and that its path leads to it.
    fn file(&mut self) -> Result<(), LogError> {
        if self.file.as_ref().is_some_and(|(_, file)| !file.is_there()) {
            self.file = None;
        }
        if self.file.is_some() {
            return Ok(());
        }
        let path = self.directory.join("lock");
        let lock = self.disk.lock(&path).map_err(failed(Step::Lock, &path))?;
        let lock = lock.ok_or(LogError::Locked { path })?;
        let last = self.segments()?.pop();
        let started = Wall::from(self.run.started);
        let begin = self.options.format.run(&self.run);
        let last = last.map(|last| self.reuse(last)).transpose()?;
        let file = match last {
            Some(last)
                if last.segment.kind == self.options.format.kind()
                    && last.has_room(begin.len(), self.options.file_size)
                    && last.may_go_on(started) =>
            {
                last
            }
            last => self.create(last.map_or(1, |last| last.segment.number + 1))?,
        };
        self.file = Some((lock, file));
        self.begin()
    }

    /// Begins the run in the file.
    fn begin(&mut self) -> Result<(), LogError> {
        let Some((_, file)) = &mut self.file else { return Ok(()) };
        let line = self.options.format.run(&self.run);
        let result = file.begin(&line, self.run.started.into());
        if let Err(error) = result {
            let path = file.path.clone();
            self.file = None; // the next attempt begins anew
            return Err(failed(Step::Write, &path)(error));
        }
        self.remove_oldest()
    }

    /// Ends the file, and begins the next.
    fn rotate(&mut self) -> Result<(), LogError> {
        self.sync()?;
        let Some((lock, file)) = self.file.take() else { return Ok(()) };
        match self.create(file.segment.number + 1) {
            Ok(next) => {
                self.file = Some((lock, next));
                self.begin()
            }
            Err(error) => {
                self.file = Some((lock, file));
                Err(error)
            }
        }
    }

    fn reuse(&self, segment: Segment) -> Result<Active<D::File>, LogError> {
        let path = segment.path(&self.directory);
        Active::reuse(&self.disk, &self.directory, segment).map_err(failed(Step::Open, &path))
    }

    fn create(&self, number: u64) -> Result<Active<D::File>, LogError> {
        let segment = Segment { number, kind: self.options.format.kind() };
        let path = segment.path(&self.directory);
        let file = Active::create(&self.disk, &self.directory, segment)
            .map_err(failed(Step::Open, &path))?;
        self.disk.sync_directory(&self.directory).map_err(failed(Step::Sync, &self.directory))?;
        Ok(file)
    }

    /// All files there are, the oldest first.
    fn segments(&self) -> Result<Vec<Segment>, LogError> {
        let names = self.disk.list(&self.directory).map_err(failed(Step::List, &self.directory))?;
        let mut all: Vec<Segment> = names.iter().filter_map(|name| Segment::of(name)).collect();
        all.sort_unstable_by_key(|segment| segment.number);
        Ok(all)
    }

    fn remove_oldest(&self) -> Result<(), LogError> {
        let all = self.segments()?;
        for segment in &all[..all.len().saturating_sub(self.options.files)] {
            let path = segment.path(&self.directory);
            match self.disk.remove(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(failed(Step::Remove, &path)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn failed(step: Step, path: &Path) -> impl FnOnce(io::Error) -> LogError {
    let path = path.to_owned();
    move |error| LogError::Failed { step, path, error }
}

#[cfg(test)]
mod tests;
