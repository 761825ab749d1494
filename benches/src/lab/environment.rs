//! The environment of a run: processor, versions, command, and the share of the machine that other
//! processes used meanwhile, which limits the precision of every figure.

use std::env;
use std::fs;
use std::process::Command;

use serde::Serialize;

use super::Effort;
use crate::harness::cores;
use crate::terminal::processor;

/// The versions of everything that was compiled.
const LOCK: &str = include_str!("../../../Cargo.lock");

/// The crates whose versions the report names.
const RIVALS: [&str; 9] = [
    "contatori",
    "crossbeam-epoch",
    "fast-counter",
    "hdrhistogram",
    "metrics",
    "metrics-exporter-prometheus",
    "metrics-util",
    "prometheus",
    "prometheus-client",
];

/// The contents of a caption.
#[derive(Clone, Debug, Serialize)]
pub struct Environment {
    /// The processor's name.
    pub processor: String,
    /// The number of its threads that the run may use.
    pub cores: usize,
    /// The system's kernel.
    pub kernel: String,
    /// The compiler.
    pub rustc: &'static str,
    /// Java's version, where it took part.
    pub java: Option<String>,
    /// Name and version of each rival.
    pub rivals: Vec<String>,
    /// windrow's strategy in this process.
    pub strategy: String,
    /// The command line.
    pub command: String,
    /// The share of the machine's processor time that went to others, or was taken from the
    /// machine, while this ran; nothing where the system does not tell.
    pub others: Option<f64>,
    /// The contenders that did not take part, with the reasons.
    pub left_out: Vec<String>,
}

/// Processor time since the machine started, in the kernel's ticks.
#[derive(Clone, Copy)]
struct Ticks {
    /// In use by all processes, with what the host took away.
    used: f64,
    /// In use by this process, and by those of its children that are over.
    own: f64,
    /// All there was.
    all: f64,
}

impl Ticks {
    fn now() -> Option<Ticks> {
        let numbers = |text: &str| -> Vec<f64> {
            text.split_whitespace().map(|number| number.parse().unwrap_or(0.0)).collect()
        };
        let machine = fs::read_to_string("/proc/stat").ok()?;
        let machine = numbers(machine.lines().next()?.strip_prefix("cpu ")?);
        // user nice system idle iowait irq softirq steal; guests' time is in user's.
        let all: f64 = machine.iter().take(8).sum();
        let idle: f64 = machine.iter().skip(3).take(2).sum();
        let process = fs::read_to_string("/proc/self/stat").ok()?;
        // The name may be anything; what follows it are numbers, the times from the twelfth on.
        let process = numbers(process.rsplit_once(')')?.1);
        let own = process.iter().skip(11).take(4).sum();
        Some(Ticks { used: all - idle, own, all })
    }
}

/// Measures the CPU time of other processes.
pub struct Others {
    begin: Option<Ticks>,
}

impl Others {
    /// From now on.
    pub fn watch() -> Others {
        Others { begin: Ticks::now() }
    }

    /// The share until now.
    fn share(&self) -> Option<f64> {
        let (now, then) = (Ticks::now()?, self.begin?);
        let others = (now.used - now.own) - (then.used - then.own);
        Some((others / (now.all - then.all)).clamp(0.0, 1.0))
    }
}

/// Returns the version of `package` in the lock file.
fn version(package: &str) -> Option<&'static str> {
    let (_, rest) = LOCK.split_once(&format!("name = \"{package}\"\nversion = \""))?;
    Some(rest.split_once('"')?.0)
}

/// Returns name and version of the crates of these names.
fn versions(names: &[&str]) -> Vec<String> {
    let with_version = |name: &&str| Some(format!("{name} {}", version(name)?));
    names.iter().filter_map(with_version).collect()
}

/// Returns the first line of `java -version`, if there is a Java.
fn java() -> Option<String> {
    let output = Command::new("java").arg("-version").output().ok()?;
    String::from_utf8_lossy(&output.stderr).lines().next().map(str::to_owned)
}

impl Environment {
    /// Returns the current environment.
    pub fn new(
        command: String,
        with_java: bool,
        others: &Others,
        left_out: Vec<String>,
    ) -> Environment {
        let mut rivals: Vec<&str> = RIVALS.to_vec();
        if cfg!(feature = "sentinel") {
            rivals.push("sentinel-core");
        }
        if cfg!(feature = "labels") {
            rivals.extend(["opentelemetry", "opentelemetry_sdk"]);
        }
        if cfg!(feature = "limits") {
            rivals.push("governor");
        }
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        Environment {
            processor: processor(),
            cores: cores(),
            kernel: format!(
                "{} {}",
                env::consts::OS,
                kernel.trim().split('-').next().unwrap_or("")
            ),
            rustc: env!("BENCHES_RUSTC"),
            java: java().filter(|_| with_java),
            rivals: versions(&rivals),
            strategy: format!("{:?}", windrow::diagnostics::strategy()),
            command,
            others: others.share(),
            left_out,
        }
    }

    /// Returns the percentage of the processors that others used, if a reader must know it.
    pub fn noise(&self) -> Option<f64> {
        self.others.filter(|share| *share > 0.05).map(|share| (100.0 * share).round())
    }

    /// Returns a paragraph for the head of a report.
    pub fn caption(&self) -> String {
        let mut lines = vec![format!(
            "{}, {} cores, {}; {}; strategy {}. `{}`",
            self.processor, self.cores, self.kernel, self.rustc, self.strategy, self.command,
        )];
        let rivals: Vec<&str> = self.rivals.iter().chain(&self.java).map(String::as_str).collect();
        if !rivals.is_empty() {
            lines.push(format!("Rivals: {}.", rivals.join(", ")));
        }
        lines.push(match (self.noise(), self.others) {
            (Some(share), _) => format!(
                "**Others used {share} % of the processors meanwhile**: times of several threads, and the \
                 ends of all spreads, are worse than they would be on a quiet machine.",
            ),
            (None, Some(share)) => format!("Others used {:.0} % of the processors.", 100.0 * share),
            (None, None) => "How busy others kept the processors is not known.".to_owned(),
        });
        lines.extend(self.left_out.iter().map(|line| format!("Left out: {line}.")));
        lines.join("\n\n")
    }
}

/// Returns the command that a reader types, from what this program was called with.
pub fn command(parts: &[String], effort: Effort) -> String {
    let mut words = vec!["cargo xtask compare".to_owned()];
    words.extend(parts.iter().cloned());
    if effort == Effort::Quick {
        words.push("--quick".to_owned());
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rival_has_a_version() {
        for name in RIVALS {
            assert!(version(name).is_some(), "{name}");
        }
    }

    #[test]
    fn a_caption_names_the_rivals_that_took_part() {
        let of = |rivals: &[&str]| {
            let new = Environment::new("some command".to_owned(), false, &Others::watch(), vec![]);
            Environment { rivals: versions(rivals), ..new }.caption()
        };
        let caption = of(&["prometheus", "prometheus-client"]);
        assert!(caption.contains("; strategy ") && caption.contains("`some command`"), "{caption}");
        let rivals: Vec<_> = caption.lines().filter(|line| line.starts_with("Rivals: ")).collect();
        let [of_two] = rivals[..] else { panic!("{caption}") };
        assert!(of_two.contains(": prometheus 0.") && of_two.contains(", prometheus-client 0."));
        assert_eq!(of_two.matches(',').count(), 1, "{of_two}");
        assert!(!of(&[]).contains("Rivals"));
    }
}
