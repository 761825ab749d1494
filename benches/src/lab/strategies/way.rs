//! The processes: the requested strategy of each, and its actual one.
//!
//! The requested strategy is not always available: a kernel may have no restartable sequences, or
//! no barrier for the whole process. A process reports its actual strategy, the tables show it, and
//! no ratio is taken with a process that has another one.

use std::env;
use std::path::Path;
use std::process::Command;

use serde::Serialize;

use crate::lab::worker::Worker;

/// By restartable sequences.
pub(super) const PER_CORE: &str = "per core";
/// Leased rows, announced buckets.
pub(super) const PORTABLE: &str = "portable";
/// The name of the way without a barrier for the whole process.
pub(super) const FENCED: &str = "fenced";
/// By restartable sequences, as an earlier windrow.
pub(super) const PER_CORE_BEFORE: &str = "before: per core";
/// Portable, as an earlier windrow.
pub(super) const PORTABLE_BEFORE: &str = "before: portable";

/// The requested strategy of a process.
pub(super) struct Wish {
    name: &'static str,
    /// `WINDROW_STRATEGY`.
    strategy: &'static str,
    /// `WINDROW_LEASES`.
    leases: bool,
    /// True if it is a process of an earlier windrow.
    before: bool,
    /// The report that it then makes.
    expected: &'static str,
}

const fn wish(
    name: &'static str,
    strategy: &'static str,
    leases: bool,
    expected: &'static str,
) -> Wish {
    Wish { name, strategy, leases, before: false, expected }
}

const fn before(name: &'static str, strategy: &'static str, expected: &'static str) -> Wish {
    Wish { name, strategy, leases: false, before: true, expected }
}

/// All of them. The first is asked for the yardsticks too.
pub(super) const WAYS: [Wish; 10] = [
    wish(PER_CORE, "", true, "PerCore"),
    wish("per core, by processor", "cpu-id", true, "PerCore"),
    wish(PORTABLE, "portable", true, "Portable"),
    wish("portable, leases off", "portable", false, "Portable"),
    wish(FENCED, "fenced", true, "Fenced"),
    wish("fenced, leases off", "fenced", false, "Fenced"),
    wish("epochs", "epochs", true, "Epochs"),
    wish("epochs, leases off", "epochs", false, "Epochs"),
    before(PER_CORE_BEFORE, "", "PerCore"),
    before(PORTABLE_BEFORE, "portable", "Portable"),
];

/// A process and its actual strategy.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Way {
    /// The name of the request.
    pub(super) name: &'static str,
    /// The strategy of its counters, as it reports.
    pub(super) counters: String,
    /// The strategy of its windows.
    pub(super) windows: String,
    /// True if it has the requested strategy.
    pub(super) as_asked: bool,
}

/// A process that answers.
pub(super) struct Asked {
    pub(super) way: Way,
    pub(super) worker: Worker,
}

impl Wish {
    /// Returns whether it has this name.
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.name == name
    }

    /// Starts a process; returns `None` if it would be of an earlier windrow and there is none.
    pub(super) fn start(&self, before: Option<&Path>) -> Result<Option<Asked>, String> {
        let program = match (self.before, before) {
            (false, _) => env::current_exe()
                .map_err(|error| error.to_string())?
                .with_file_name(format!("windrow-loops{}", env::consts::EXE_SUFFIX)),
            (true, Some(program)) => program.to_owned(),
            (true, None) => return Ok(None),
        };
        let mut command = Command::new(program);
        command.env("WINDROW_STRATEGY", self.strategy);
        command.env("WINDROW_LEASES", if self.leases { "on" } else { "off" });
        let mut worker = Worker::start(command)?;
        let way = self.is(&worker.listen()?)?;
        Ok(Some(Asked { way, worker }))
    }

    /// Reads what a process says of itself.
    fn is(&self, line: &str) -> Result<Way, String> {
        let words: Vec<&str> = line.split('\t').collect();
        let &["is", counters, windows, leases] = &words[..] else {
            return Err(format!("{}: `{line}` says nothing", self.name));
        };
        let shown = |strategy: &str| match (strategy, leases) {
            ("PerCore", _) => strategy.to_owned(),
            (_, "true") => format!("{strategy}, leased rows"),
            (_, _) => format!("{strategy}, dealt rows"),
        };
        let rows_as_asked = windows == "PerCore" || (leases == "true") == self.leases;
        Ok(Way {
            name: self.name,
            counters: shown(counters),
            windows: shown(windows),
            as_asked: counters == self.expected && windows == self.expected && rows_as_asked,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_is_something_else_is_known() {
        let portable = WAYS.iter().find(|way| way.name == PORTABLE).expect("it is there");
        let is = |line| portable.is(line).expect("it reports its strategy");
        assert!(is("is\tPortable\tPortable\ttrue").as_asked);
        assert!(!is("is\tPortable\tPortable\tfalse").as_asked);
        assert!(!is("is\tPortable\tFenced\ttrue").as_asked);
        assert!(!is("is\tPerCore\tPerCore\ttrue").as_asked);
        assert_eq!(is("is\tPortable\tEpochs\tfalse").windows, "Epochs, dealt rows");
        assert!(portable.is("Segmentation fault").is_err());
    }
}
