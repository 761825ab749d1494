//! The packages that are built: of this library with and without its features, and of its rivals.

use std::fs;
use std::path::Path;

use super::measured::Sizes;
use crate::sources::write;

/// The rival whose build is the measure of ours: the folder of its package.
pub(super) const YARDSTICK: &str = "prometheus-client";

/// A program of a package.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Program {
    Empty,
    Counter,
    Window,
}

impl Program {
    pub(super) const ALL: [Program; 3] = [Program::Empty, Program::Counter, Program::Window];

    /// Returns the program's name, which is its file's name, too.
    pub(super) fn name(self) -> &'static str {
        match self {
            Program::Empty => "empty",
            Program::Counter => "counter",
            Program::Window => "window",
        }
    }

    /// Returns the ceiling of the bytes that the program adds with this library.
    pub(super) fn ceiling(self) -> Option<Sizes> {
        match self {
            Program::Empty => None,
            Program::Counter => Some(Sizes { loaded: 27_000, zeroed: 13_000 }),
            Program::Window => Some(Sizes { loaded: 90_500, zeroed: 13_000 }),
        }
    }
}

/// A package that uses a library.
pub(super) struct Subject {
    /// The name that the table shows.
    pub(super) shown: String,
    pub(super) folder: &'static str,
    /// The table of dependencies in its manifest.
    dependencies: String,
    counter: &'static str,
    window: Option<&'static str>,
    /// The ceiling of its build's CPU time, as a ratio to the yardstick's.
    pub(super) ratio_ceiling: Option<f64>,
}

const EMPTY: &str = "fn main() {
    println!(\"{}\", std::env::args().count());
}
";

const COUNTER: &str = "use windrow::Counter;
static REQUESTS: Counter = Counter::new();
fn main() {
    REQUESTS.add(std::env::args().count() as u64);
    println!(\"{}\", REQUESTS.sum());
}
";

const WINDOW: &str = "use std::time::Duration;
use windrow::{Counter, SlidingWindow};
windrow::events! {
    enum Http { Pass: Count, Block: Count }
}
static REQUESTS: Counter = Counter::new();
static HTTP: SlidingWindow<Http> = SlidingWindow::of(Duration::from_secs(60), 60);
fn main() {
    let n = std::env::args().count() as u64;
    REQUESTS.add(n);
    HTTP.add(Http::Pass, n);
    println!(\"{} {}\", REQUESTS.sum(), HTTP.sum(Http::Pass));
}
";

/// Returns the packages of the library at `root`: as a user gets it, and without its features.
pub(super) fn ours(root: &Path) -> Vec<Subject> {
    let path = root.display();
    let with = |shown: &str, folder, more: &str, ceiling| Subject {
        shown: shown.to_owned(),
        folder,
        dependencies: format!("windrow = {{ path = '{path}'{more} }}"),
        counter: COUNTER,
        window: Some(WINDOW),
        ratio_ceiling: Some(ceiling),
    };
    vec![
        with("windrow", "default", "", 1.8),
        with("windrow, no features", "bare", ", default-features = false", 1.5),
    ]
}

impl Subject {
    /// Returns the package of the library at an earlier `commit`, in the folder `sources`.
    pub(super) fn earlier(commit: &str, sources: &Path) -> Subject {
        Subject {
            shown: format!("windrow at {commit}"),
            folder: "before",
            dependencies: format!("windrow = {{ path = '{}' }}", sources.display()),
            counter: COUNTER,
            window: Some(WINDOW),
            ratio_ceiling: None,
        }
    }

    /// Returns the source of a program, if the package has it.
    pub(super) fn source(&self, program: Program) -> Option<&'static str> {
        match program {
            Program::Empty => Some(EMPTY),
            Program::Counter => Some(self.counter),
            Program::Window => self.window,
        }
    }

    /// Returns the name of the program with most in it.
    pub(super) fn heaviest(&self) -> &'static str {
        let program = if self.window.is_some() { Program::Window } else { Program::Counter };
        program.name()
    }

    /// Writes the package, with the versions in `lock`.
    pub(super) fn write(&self, folder: &Path, lock: &Path) -> Result<(), String> {
        let programs = folder.join("src/bin");
        fs::create_dir_all(&programs).map_err(|error| error.to_string())?;
        // What a build needs of the lock, it keeps.
        fs::copy(lock, folder.join("Cargo.lock")).map_err(|error| error.to_string())?;
        let manifest = format!(
            "[package]\nname = \"weight-{}\"\nedition = \"2024\"\n\n[dependencies]\n{}\n\n\
             [profile.release]\nstrip = true\n\n[workspace]\n",
            self.folder, self.dependencies
        );
        write(&folder.join("Cargo.toml"), &manifest)?;
        for program in Program::ALL {
            if let Some(source) = self.source(program) {
                write(&programs.join(format!("{}.rs", program.name())), source)?;
            }
        }
        Ok(())
    }
}

/// Returns the packages of the first `count` rivals, as their users get them. The first one is the
/// yardstick.
pub(super) fn rivals(count: usize) -> Vec<Subject> {
    let all = [
        (
            YARDSTICK,
            "prometheus-client = \"0.25\"",
            "use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;
fn main() {
    let requests = <Counter>::default();
    let mut registry = Registry::default();
    registry.register(\"requests\", \"Requests\", requests.clone());
    requests.inc_by(std::env::args().count() as u64);
    println!(\"{}\", requests.get());
}
",
        ),
        (
            "contatori",
            "contatori = \"0.7.5\"",
            "use contatori::counters::Observable;
use contatori::counters::unsigned::Unsigned;
static REQUESTS: Unsigned = Unsigned::new();
fn main() {
    REQUESTS.add(std::env::args().count());
    println!(\"{:?}\", REQUESTS.value());
}
",
        ),
        (
            "governor",
            "governor = \"0.10\"",
            "use std::num::NonZeroU32;
use governor::{Quota, RateLimiter};
fn main() {
    let limiter = RateLimiter::direct(Quota::per_second(NonZeroU32::MIN));
    println!(\"{}\", limiter.check().is_ok());
}
",
        ),
        (
            "metrics",
            "metrics = \"0.24\"
metrics-exporter-prometheus = { version = \"0.18\", default-features = false }",
            "use metrics_exporter_prometheus::PrometheusBuilder;
fn main() {
    let handle = PrometheusBuilder::new().install_recorder().unwrap();
    metrics::counter!(\"requests\").increment(std::env::args().count() as u64);
    println!(\"{}\", handle.render());
}
",
        ),
        (
            "prometheus",
            "prometheus = \"0.14\"",
            "use prometheus::{Encoder, IntCounter, TextEncoder};
fn main() {
    let requests = IntCounter::new(\"requests\", \"Requests\").unwrap();
    prometheus::register(Box::new(requests.clone())).unwrap();
    requests.inc_by(std::env::args().count() as u64);
    let mut text = Vec::new();
    TextEncoder::new().encode(&prometheus::gather(), &mut text).unwrap();
    println!(\"{}\", text.len());
}
",
        ),
    ];
    let subject = |(folder, dependencies, counter): (&'static str, &str, &'static str)| Subject {
        shown: folder.to_owned(),
        folder,
        dependencies: dependencies.to_owned(),
        counter,
        window: None,
        ratio_ceiling: None,
    };
    all.into_iter().take(count).map(subject).collect()
}
