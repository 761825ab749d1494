//! Broken twins: the library with one mistake in it, which a model must find.
//!
//! A twin is made from the sources as they are: in a [copy](crate::copy) of the workspace one text in
//! one file is replaced, and the model that answers for it is built and run. A text that does not stand
//! in its file exactly once is an error, so the table in [`twins`](crate::twins) cannot rot.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::copy::{self, Verdict};
use crate::models::Build;
use crate::steps::{Failed, Steps, seconds};
use crate::twins::TWINS;

/// One mistake.
pub(crate) struct Twin {
    /// What it is called.
    pub(crate) name: &'static str,
    /// The file with the mistake, from the workspace's root.
    pub(crate) file: &'static str,
    /// What stands there, exactly once.
    pub(crate) find: &'static str,
    /// What shall stand there instead.
    pub(crate) replace: &'static str,
    /// The build whose model must notice.
    pub(crate) build: &'static Build,
    /// The model that must notice.
    pub(crate) model: &'static str,
    /// What goes wrong.
    pub(crate) why: &'static str,
}

/// How long a model may take to notice. A mistake that takes longer counts as survived.
const PATIENCE: Duration = Duration::from_mins(2);

/// Makes every twin whose name contains `filter`, and demands that its model fails.
pub(crate) fn run(steps: &mut Steps, filter: &str) -> Result<(), Failed> {
    let root = steps.root().to_owned();
    let chosen: Vec<&Twin> = TWINS.iter().filter(|twin| twin.name.contains(filter)).collect();
    steps.step("broken twins", &format!("{} twins", chosen.len()), || {
        if chosen.is_empty() {
            return Err(format!("no twin's name contains `{filter}`"));
        }
        let mut survivors = Vec::new();
        for twin in chosen {
            let begin = Instant::now();
            let killed = twin.try_out(&root).map_err(|error| format!("{}: {error}", twin.name))?;
            let verdict = if killed.is_some() { "killed" } else { "SURVIVED" };
            let time = seconds(begin.elapsed());
            println!("{verdict} {} by {} in {time}: {}", twin.name, twin.model, twin.why);
            match killed {
                Some(words) => println!("       {words}"),
                None => survivors.push(twin.name),
            }
        }
        if survivors.is_empty() {
            Ok(())
        } else {
            Err(format!("survived: {}", survivors.join(", ")))
        }
    })
}

impl Twin {
    /// Makes the twin and runs its model. Returns the model's complaint, or `None` if it had none.
    fn try_out(&self, root: &Path) -> Result<Option<String>, String> {
        let twins = root.join("target/twins");
        let sources = twins.join("sources");
        copy::make(root, &sources)?;
        self.break_in(&sources)?;
        let log = |kind: &str| twins.join(format!("{}.{kind}", self.name));
        let models = copy::build(&sources, self.build, &twins.join("build"), &log("build.log"))?;
        match copy::run_model(&models, self.model, &[], PATIENCE, &log("log"))? {
            Verdict::Failed(words) => Ok(Some(words)),
            Verdict::Passed | Verdict::OutOfTime => Ok(None),
        }
    }

    /// Makes the mistake in the copy.
    fn break_in(&self, copy: &Path) -> Result<(), String> {
        let path = copy.join(self.file);
        let sound = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", self.file))?;
        match sound.matches(self.find).count() {
            1 => fs::write(&path, sound.replace(self.find, self.replace))
                .map_err(|error| format!("{}: {error}", self.file)),
            found => Err(format!("`{}` stands {found} times in {}", self.find, self.file)),
        }
    }
}
