//! The figures of the process, and whether they grow.
//!
//! # The rule
//!
//! Every figure is taken at rest, when no short-lived thread or window is there. The first quarter
//! of the run is the warm-up. The typical value of the last quarter must not be above that of the
//! second by more than
//!
//! * nothing, for threads and for descriptors;
//! * 1 MiB, for resident memory: what an allocator may scatter, and a leak of 16 bytes a
//!   rotation passes in seconds;
//! * 64 MiB, for mapped memory: what glibc's allocator reserves at once when threads have met in
//!   one of its heaps.
//!
//! For memory, the typical value is the median. For threads and descriptors it is the least: a
//! thread that was joined may be listed for a moment longer.

use std::fs;
use std::path::Path;

/// Kibibytes in a page, here as everywhere on x86-64 and mostly elsewhere.
const PAGE: u64 = 4;

/// The names of the figures, and the amounts by which the last quarter may be above the second.
const FIGURES: [(&str, u64); 4] =
    [("resident KiB", 1024), ("mapped KiB", 64 * 1024), ("descriptors", 0), ("threads", 0)];

/// The figures of the process at one time, in the order of [`FIGURES`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Holding([u64; FIGURES.len()]);

impl Holding {
    /// Returns the current figures.
    pub(super) fn now() -> Result<Holding, String> {
        let file = "/proc/self/statm";
        let statm = fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
        let mut pages = statm.split(' ').map_while(|pages| pages.parse::<u64>().ok());
        let (Some(mapped), Some(resident)) = (pages.next(), pages.next()) else {
            return Err(format!("{file} says {statm}"));
        };
        let (descriptors, threads) = (entries("/proc/self/fd")?, entries("/proc/self/task")?);
        Ok(Holding([resident * PAGE, mapped * PAGE, descriptors, threads]))
    }
}

fn entries(directory: impl AsRef<Path>) -> Result<u64, String> {
    let directory = directory.as_ref();
    let entries = fs::read_dir(directory);
    entries.map(|all| all.count() as u64).map_err(|e| format!("{}: {e}", directory.display()))
}

/// The figures at each rest.
#[derive(Debug, Default)]
pub(super) struct Record(Vec<Holding>);

impl Record {
    pub(super) fn note(&mut self, holding: Holding) {
        self.0.push(holding);
    }

    /// Returns the number of rests.
    pub(super) fn rests(&self) -> usize {
        self.0.len()
    }

    /// Returns the figures at the last rest.
    pub(super) fn last_line(&self) -> String {
        let Some(Holding(last)) = self.0.last() else { return String::new() };
        let all = FIGURES.iter().zip(last).map(|((name, _), figure)| format!("{figure} {name}"));
        all.collect::<Vec<_>>().join(", ")
    }

    /// Returns the typical value of a figure in a quarter of the rests, counted from 0.
    fn typical(&self, figure: usize, quarter: usize) -> u64 {
        let quarter = self.0.len() * quarter / 4..self.0.len() * (quarter + 1) / 4;
        let mut figures: Vec<u64> = self.0[quarter].iter().map(|held| held.0[figure]).collect();
        figures.sort_unstable();
        let is_memory = FIGURES[figure].1 > 0;
        figures.get(if is_memory { figures.len() / 2 } else { 0 }).copied().unwrap_or(0)
    }

    /// Returns a line for each figure.
    pub(super) fn report(&self) -> Vec<String> {
        let line = |(figure, (name, slack)): (usize, &(&str, u64))| {
            let [first, second, third, last] = [0, 1, 2, 3].map(|q| self.typical(figure, q));
            format!(
                "{name:>13}: {first} in the warm-up, then {second}, {third}, {last}; \
                 may grow by {slack}"
            )
        };
        FIGURES.iter().enumerate().map(line).collect()
    }

    /// Says which figure has grown.
    pub(super) fn judge(&self) -> Result<(), String> {
        for (figure, (name, slack)) in FIGURES.iter().enumerate() {
            let (second, last) = (self.typical(figure, 1), self.typical(figure, 3));
            if last > second + slack {
                return Err(format!(
                    "{last} {name} in the last quarter, {second} in the second: \
                     more than {slack} above it"
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(held: impl Fn(u64) -> [u64; 4]) -> Record {
        Record((0..40).map(|rest| Holding(held(rest))).collect())
    }

    #[test]
    fn what_grows_in_the_warm_up_alone_is_right() {
        assert_eq!(record(|rest| [rest.min(10) * 10_000, 1, 6, 8]).judge(), Ok(()));
    }

    #[test]
    fn what_grows_is_seen() {
        let memory = record(|rest| [7_000 + rest * 60, 1, 6, 8]).judge().unwrap_err();
        assert!(memory.contains("resident"), "{memory}");
        let descriptors = record(|rest| [7_000, 1, 6 + rest / 20, 8]).judge().unwrap_err();
        assert!(descriptors.starts_with("7 descriptors"), "{descriptors}");
        let threads = record(|rest| [7_000, 1, 6, 8 + rest / 10]).judge().unwrap_err();
        assert!(threads.starts_with("11 threads"), "{threads}");
    }

    #[test]
    fn what_is_there_for_a_moment_is_no_growth() {
        assert_eq!(record(|rest| [7_000, 1, 6, 8 + rest % 2 * (rest / 20)]).judge(), Ok(()));
    }

    #[test]
    fn a_process_holds_something() {
        let Holding([resident, mapped, descriptors, threads]) = Holding::now().expect("/proc");
        assert!(0 < resident && resident < mapped && descriptors > 0 && threads > 0);
    }
}
