//! Writing lines to files, one after the other, and removing the oldest files.
//!
//! # The order of things
//!
//! 1. A file that is full is synced before the next one is made. So a system failure never leaves a
//!    line of a file without those of the files before it.
//! 2. The directory is synced before a line is written to the new file, and before the oldest file
//!    is removed.
//! 3. A line leaves the memory when the system has taken all of it, and not before.
//!
//! # What fails
//!
//! Each completed step is recorded, and a write begins with the first step that is not complete. So
//! the next write retries a failed step, and does not repeat the steps before it. Two errors are
//! handled at once: on a [full disk](make_room) the oldest file is removed, and if a file may not
//! grow, the next one is begun.

mod make_room;

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::active::{Active, Stage};
use crate::disk::{AppendFile, Disk, Found};
use crate::entry::Run;
use crate::error::{LogError, Step};
use crate::options::Options;
use crate::order::LEAST_SLACK;
use crate::pending::{Line, Pending};
use crate::segment::{self, Segment};

/// The number of lines that are copied together for one system call.
const AT_ONCE: usize = 256;

/// Keeps a directory locked, and writes to it.
pub(crate) struct Writer<D: Disk> {
    disk: D,
    pub(crate) directory: PathBuf,
    pub(crate) options: Options,
    run: Run,
    /// The lock; `None` before it is taken, and after the directory was found to be gone.
    lock: Option<D::Lock>,
    /// The current file; `None` before it is opened, after it was ended, and after it was found to
    /// be gone.
    file: Option<Active<D::File>>,
    /// The number of the last file that was ended.
    ended: u64,
    /// The slack of the next file.
    slack: Duration,
    pub(crate) pending: Pending,
    synced: Instant,
    /// The error of removing an old file: returned by the next write, after it has written all
    /// lines.
    not_removed: Option<LogError>,
    /// Files that were removed because the disk was full.
    pub(crate) removed: u64,
}

impl<D: Disk> Writer<D> {
    /// Opens an existing directory, and begins a run in it.
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
            lock: None,
            file: None,
            ended: 0,
            slack: LEAST_SLACK,
            synced: Instant::now(),
            not_removed: None,
            removed: 0,
        };
        writer.with_room(Self::get_ready)?;
        Ok(writer)
    }

    /// Queues a line for the next [`write`](Self::write).
    pub(crate) fn push(&mut self, line: Line) {
        self.pending.push(line, &self.options.format);
    }

    /// Returns the number of lines that were written and not synced.
    pub(crate) fn unsynced(&self) -> u64 {
        self.file.as_ref().map_or(0, |file| file.unsynced)
    }

    /// Writes the waiting lines, and syncs if that is due. Returns the number of lines written.
    pub(crate) fn write(&mut self) -> Result<usize, LogError> {
        let written = self.write_all();
        let is_due = self.unsynced() > 0 && self.synced.elapsed() >= self.options.sync_every;
        let synced = if is_due { self.sync() } else { Ok(()) };
        let count = written?;
        synced?;
        self.not_removed.take().map_or(Ok(count), Err)
    }

    fn write_all(&mut self) -> Result<usize, LogError> {
        let mut count = 0;
        loop {
            if self.pending.lines.is_empty() {
                self.pending.say_what_was_dropped(&self.options.format);
            }
            if self.pending.lines.is_empty() {
                return Ok(count);
            }
            count += self.with_room(Self::write_some)?;
        }
    }

    /// Writes the first waiting lines, up to what the file takes; or ends the file.
    fn write_some(&mut self) -> Result<usize, LogError> {
        self.get_ready()?;
        let Some(file) = &mut self.file else { return Ok(0) };
        let takes = file.takes(self.pending.lines.iter().take(AT_ONCE));
        if takes == 0 {
            self.end()?;
            return Ok(0);
        }
        let (count, result) = file.write(self.pending.lines.range(..takes));
        self.pending.written(count);
        match result {
            // The file may not grow, so it is full.
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge && file.has_lines => {
                self.end()?;
                Ok(count)
            }
            // The lines written count; the others are retried, and meet the error again if it
            // lasts.
            Err(_) if count > 0 => Ok(count),
            result => result.map(|()| count).map_err(failed(Step::Write, &file.path)),
        }
    }

    /// Syncs all written lines to the disk.
    pub(crate) fn sync(&mut self) -> Result<(), LogError> {
        if let Some(file) = &mut self.file {
            file.sync().map_err(failed(Step::Sync, &file.path))?;
        }
        self.synced = Instant::now();
        Ok(())
    }

    /// Ends the file. The next step begins another.
    fn end(&mut self) -> Result<(), LogError> {
        self.sync()?;
        self.forget();
        Ok(())
    }

    /// Drops the file and its state.
    fn forget(&mut self) {
        if let Some(file) = self.file.take() {
            self.ended = file.segment.number;
            self.slack = file.order.slack_with(self.pending.lines.front().map(|line| line.ends));
        }
    }

    /// Ensures that there is a file with this run in it, that its path leads to it, and that no
    /// other log writes to the directory.
    fn get_ready(&mut self) -> Result<(), LogError> {
        if !self.lock.as_ref().is_some_and(|lock| self.disk.has(lock, &self.directory)) {
            self.leave();
            self.lock = None; // before it is taken again
            self.ended = 0;
            let path = self.directory.join(segment::LOCK);
            let lock = self.disk.lock(&self.directory).map_err(failed(Step::Lock, &path))?;
            self.lock = Some(lock.ok_or(LogError::Locked { path })?);
        }
        if self.file.as_ref().is_some_and(|file| !file.is_there()) {
            self.leave();
        }
        if self.file.is_none() {
            self.file = Some(self.choose()?);
        }
        let (Some(lock), Some(file)) = (&self.lock, &mut self.file) else { return Ok(()) };
        if file.stage < Stage::Listed {
            self.disk.sync_directory(lock).map_err(failed(Step::Sync, &self.directory))?;
            file.stage = Stage::Listed;
        }
        if file.stage < Stage::HasRun {
            let format = &self.options.format;
            // Behind other lines, no reader looks at a slack.
            let slack = if file.length == 0 { file.order.slack } else { LEAST_SLACK };
            let (line, started) = (format.run(&self.run, slack), format.started(&self.run));
            file.begin(&line, started).map_err(failed(Step::Write, &file.path))?;
            self.remove_oldest();
        }
        Ok(())
    }

    /// Gives up a file to which no path leads, or that belongs to another log now.
    fn leave(&mut self) {
        if let Some(mut file) = self.file.take() {
            let _ = file.sync(); // if it has another name, it is whole
        }
    }

    /// Returns the last file, if this run can go on in it; otherwise a new one.
    fn choose(&mut self) -> Result<Active<D::File>, LogError> {
        let all = self.list()?;
        let (format, size) = (&self.options.format, self.size(&all));
        let is_open = |found: &&Found| found.length.is_some() && found.segment.number > self.ended;
        if let Some(Found { segment, .. }) = all.iter().rev().find(is_open) {
            let path = segment.path(&self.directory);
            if segment.kind == format.kind() {
                let begin = (format.started(&self.run), format.run(&self.run, LEAST_SLACK).len());
                match Active::reuse(&self.disk, path.clone(), *segment, size, begin) {
                    Ok(Ok(file)) => return Ok(file),
                    Ok(Err(slack)) => self.slack = slack,
                    Err(_) => {} // then a new file does
                }
            }
            // Lines that the previous run left unsynced come before the lines of this run.
            match self.disk.open(&path) {
                Ok((mut file, _)) => file.sync().map_err(failed(Step::Sync, &path))?,
                Err(error) if is_not_ours(&error) => {}
                Err(error) => return Err(failed(Step::Open, &path)(error)),
            }
        }
        let number = all.last().map_or(0, |last| last.segment.number).max(self.ended);
        let kind = self.options.format.kind();
        let segment = Segment { number: number + 1, kind };
        let path = segment.path(&self.directory);
        if segment.number > Segment::LAST {
            let rule = format!("a log's files have numbers up to {}", Segment::LAST);
            let error = io::Error::new(io::ErrorKind::InvalidInput, rule);
            return Err(failed(Step::Open, &path)(error));
        }
        let file = self.disk.create(&path).map_err(failed(Step::Open, &path))?;
        Ok(Active::empty(path, segment, file, (size, self.slack)))
    }

    /// Returns the log's files, the oldest first.
    fn list(&self) -> Result<Vec<Found>, LogError> {
        let mut all =
            self.disk.list(&self.directory).map_err(failed(Step::List, &self.directory))?;
        all.sort_unstable_by_key(|found| found.segment);
        Ok(all)
    }

    /// Removes the oldest files beyond the number to keep.
    fn remove_oldest(&mut self) {
        let removed = self.list().and_then(|mut all| {
            all.retain(|found| found.length.is_some());
            let old = &all[..all.len().saturating_sub(self.options.files)];
            // Each removal is tried, even if an earlier one fails.
            old.iter().map(|found| self.remove(found.segment)).fold(Ok(()), Result::and)
        });
        self.not_removed = removed.err().or(self.not_removed.take());
    }

    fn remove(&self, segment: Segment) -> Result<(), LogError> {
        let path = segment.path(&self.directory);
        match self.disk.remove(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(failed(Step::Remove, &path)(error))
            }
            _ => Ok(()),
        }
    }
}

/// Returns whether a file belongs to another user or is gone: that it cannot be opened says nothing
/// about the next file.
fn is_not_ours(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidInput, NotFound, PermissionDenied};
    matches!(error.kind(), InvalidInput | NotFound | PermissionDenied)
}

fn failed(step: Step, path: &Path) -> impl FnOnce(io::Error) -> LogError {
    let path = path.to_owned();
    move |error| LogError::Failed { step, path, error }
}

#[cfg(test)]
mod tests;
