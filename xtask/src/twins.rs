//! Broken twins: the library with one mistake in it, which a model must find.
//!
//! A twin is made from the sources as they are: in a [copy] of the workspace one text in
//! one file is replaced, and the model that answers for it is built and run. A text that does not
//! stand in its file exactly once is an error, so the [list] cannot rot.

mod list;

use std::path::Path;
use std::time::{Duration, Instant};

use crate::copy;
use crate::steps::{Failed, Steps, seconds};
use crate::workers;
use list::Twin;

/// The twin of the checking reclaimer that is tried first.
const FIRST: &str = "current-published-relaxed";

/// The time that a model may take to notice. A mistake that takes longer counts as survived.
const PATIENCE: Duration = Duration::from_mins(5);

/// Few preemptions first, since most mistakes need no more; at last the model's own number.
const BOUNDS: [&[(&str, &str)]; 3] =
    [&[("LOOM_MAX_PREEMPTIONS", "1")], &[("LOOM_MAX_PREEMPTIONS", "2")], &[]];

/// Makes every twin whose name contains `filter`, and demands that its model fails.
pub(crate) fn run(steps: &mut Steps, filter: &str) -> Result<(), Failed> {
    let told = |why| Failed::new("broken twins", why);
    let mut chosen = list::read(steps.root()).map_err(told)?;
    chosen.retain(|twin| twin.name.contains(filter));
    if chosen.is_empty() {
        return Err(told(format!("no twin's name contains `{filter}`")));
    }
    try_all(steps, &chosen)
}

/// Tries one twin, whose model runs over the checking reclaimer: so these models are seen to fail.
pub(crate) fn first(steps: &mut Steps) -> Result<(), Failed> {
    run(steps, FIRST)
}

fn try_all(steps: &mut Steps, chosen: &[Twin]) -> Result<(), Failed> {
    let root = steps.root().to_owned();
    steps.step("broken twins", &format!("{} twins", chosen.len()), || {
        // One worker tries all twins of a build, so their common parts are built once.
        let builds = chosen.chunk_by(|one, next| one.build.name == next.build.name);
        let failures = workers::each(&builds.collect::<Vec<_>>(), |worker, twins| {
            Ok(twins.iter().filter_map(|twin| twin.fails(&root, worker)).collect::<Vec<_>>())
        })?
        .concat();
        if failures.is_empty() { Ok(()) } else { Err(failures.join("; ")) }
    })
}

impl Twin {
    /// Tries the twin, and prints the outcome. Returns the error if the twin survived, or cannot be
    /// tried.
    fn fails(&self, root: &Path, worker: usize) -> Option<String> {
        let begin = Instant::now();
        let killed = self.try_out(root, worker);
        let time = seconds(begin.elapsed());
        let tried = format!("{} by {} in {time}: {}", self.name, self.model, self.why);
        match killed {
            Ok(Some(words)) => {
                println!("killed {tried}\n       {words}");
                None
            }
            Ok(None) => {
                println!("SURVIVED {tried}");
                Some(format!("{} survived", self.name))
            }
            Err(error) => Some(format!("{}: {error}", self.name)),
        }
    }

    /// Makes the twin and runs its model. Returns the model's complaint, or `None` if it had none.
    fn try_out(&self, root: &Path, worker: usize) -> Result<Option<String>, String> {
        let twins = root.join("target/twins").join(worker.to_string());
        let sources = twins.join("sources");
        copy::make(root, &sources)?;
        copy::break_in(&sources, &self.file, [&self.find, &self.replace])?;
        let log = |kind: &str| twins.join(format!("{}.{kind}", self.name));
        let built = twins.join("built").join(self.build.target);
        let models = copy::build(&sources, self.build, &built, &log("build.log"))?;
        for bound in BOUNDS {
            let failed = copy::run_model(&models, &self.model, bound, PATIENCE, &log("log"))?;
            if failed.is_some() {
                return Ok(failed);
            }
        }
        Ok(None)
    }
}
