//! Trying an order out that is too weak: which models notice.
//!
//! To build the library anew for each would take most of the time. So it is built once, with a
//! switch in the place of every order (`xtask/weakened.rs`), and the environment says which is
//! weakened. The switch also says when it is reached: a model that never comes to a site cannot
//! judge it, and is not asked.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::sites::{Site, with_switches};
use crate::copy;
use crate::models::{Build, CHECKER};

/// The switch, which goes behind the library's own `sync`.
const SWITCH: &str = include_str!("../../weakened.rs");

/// The time that a model may take to notice. A mistake that takes longer counts as survived.
const PATIENCE: Duration = Duration::from_mins(2);

/// The preemptions that a model may look at: so few that it is done in a second or so, and nearly
/// every mistake shows.
pub(super) const FEW: &[Bound] = &[("LOOM_MAX_PREEMPTIONS", "1")];

/// Some more; and the model's own number.
pub(super) const MORE: [&[Bound]; 2] = [&[("LOOM_MAX_PREEMPTIONS", "2")], &[]];

pub(super) type Bound = (&'static str, &'static str);

/// The models, built with switches.
pub(super) struct Bench {
    folder: PathBuf,
    models: Vec<Model>,
}

/// A model in one of the builds.
struct Model {
    build: &'static str,
    program: PathBuf,
    name: String,
    reached: HashSet<usize>,
    time: Duration,
}

impl Model {
    /// Returns what the table calls it.
    fn title(&self) -> String {
        if self.build == CHECKER.name {
            format!("`{}`", self.name)
        } else {
            format!("`{}`, {}", self.name, self.build)
        }
    }
}

impl Bench {
    /// Puts switches into a copy of the workspace at `root`.
    pub(super) fn set_up(root: &Path, sites: &[Site]) -> Result<Bench, String> {
        let folder = root.join("target/orderings");
        copy::make(root, &folder.join("sources"))?;
        put_switches(&folder.join("sources"), sites)?;
        Ok(Bench { folder, models: Vec::new() })
    }

    /// Builds the models one more way, and runs each once with nothing weakened.
    pub(super) fn add(&mut self, build: &Build) -> Result<(), String> {
        println!("    building, {}", build.name);
        let name = build.name.replace(' ', "-");
        let (target, log) = (self.folder.join(&name), self.log(&format!("{name}.build")));
        let program = copy::build(&self.folder.join("sources"), build, &target, &log)?;
        let mut models = self.soundness(build, &program)?;
        models.sort_by_key(|model| model.time);
        self.models.append(&mut models);
        Ok(())
    }

    /// Runs every model of a build as it is: it must pass, and says which sites it reaches.
    fn soundness(&self, build: &Build, program: &Path) -> Result<Vec<Model>, String> {
        let listed = Command::new(program).args(["--list", "--format", "terse"]).output();
        let listed = listed.map_err(|error| format!("cannot list the models: {error}"))?;
        let listed = String::from_utf8_lossy(&listed.stdout);
        let mut models = Vec::new();
        for name in listed.lines().filter_map(|line| line.strip_suffix(": test")) {
            let begin = Instant::now();
            let log = self.log("sound");
            if let Some(words) = copy::run_model(program, name, FEW, PATIENCE, &log)? {
                return Err(format!("{name} fails as it is: {words}"));
            }
            let words = copy::read(&log)?;
            let reached = words.lines().filter_map(|line| line.strip_prefix("reached "));
            models.push(Model {
                build: build.name,
                program: program.to_owned(),
                name: name.to_owned(),
                reached: reached.filter_map(|number| number.parse().ok()).collect(),
                time: begin.elapsed(),
            });
        }
        Ok(models)
    }

    /// Weakens a site, and asks the models that reach it. The one that `last` has noticed goes
    /// first, with its own bound. Returns the title of the first that notices, and its words.
    pub(super) fn killer(
        &self,
        site: usize,
        order: &str,
        bound: &[Bound],
        last: Option<&str>,
    ) -> Result<Option<(String, String)>, String> {
        let is_last = |model: &&Model| last.is_some_and(|last| model.title() == last);
        let mut asked: Vec<&Model> =
            self.models.iter().filter(|model| model.reached.contains(&site)).collect();
        asked.sort_by_key(|model| !is_last(model));
        let weakened = format!("{site}:{order}");
        let log = self.log(&format!("{site}.{order}"));
        for model in asked {
            let bound = if is_last(&model) { &[] } else { bound };
            let variables = [bound, &[("WINDROW_WEAKENED", &weakened)]].concat();
            let run = copy::run_model(&model.program, &model.name, &variables, PATIENCE, &log);
            // Only in a model can a thread see old values forever.
            let complaint = run?.filter(|words| !words.starts_with("Model exceeded maximum"));
            if let Some(words) = complaint {
                return Ok(Some((model.title(), words)));
            }
        }
        Ok(None)
    }

    /// Returns whether any model reaches a site.
    pub(super) fn reaches(&self, site: usize) -> bool {
        self.models.iter().any(|model| model.reached.contains(&site))
    }

    fn log(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.log"))
    }
}

/// Puts a switch in the place of every site of the copy.
fn put_switches(sources: &Path, sites: &[Site]) -> Result<(), String> {
    let edit = |file: &str, edit: &dyn Fn(String) -> String| {
        let path = sources.join("src").join(file);
        let source = fs::read_to_string(&path);
        let edited = source.and_then(|source| fs::write(&path, edit(source)));
        edited.map_err(|error| format!("{file}: {error}"))
    };
    let numbered: Vec<(usize, &Site)> = sites.iter().enumerate().collect();
    for of_file in numbered.chunk_by(|(_, one), (_, next)| one.file == next.file) {
        edit(&of_file[0].1.file, &|source| with_switches(&source, of_file.iter().copied()))?;
    }
    edit("sync.rs", &|source| source + SWITCH)
}
