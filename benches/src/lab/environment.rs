//! The environment of a run: processor, versions, command, and the share of the machine that other
//! processes used meanwhile, which limits the precision of every figure.

use std::env;
use std::fs;
use std::process::Command;

use crate::harness::cores;
use crate::terminal::processor;

/// The versions of everything that was compiled.
const LOCK: &str = include_str!("../../../Cargo.lock");

/// The crates whose versions the report names.
const RIVALS: [&str; 6] =
    ["contatori", "crossbeam-epoch", "fast-counter", "metrics", "prometheus", "prometheus-client"];

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

/// Returns name and version of `package`, by the lock file.
fn version(package: &str) -> Option<String> {
    let (_, rest) = LOCK.split_once(&format!("name = \"{package}\"\nversion = \""))?;
    Some(format!("{package} {}", rest.split_once('"')?.0))
}

/// Returns the first line of `java -version`, if there is a Java.
fn java() -> Option<String> {
    let output = Command::new("java").arg("-version").output().ok()?;
    String::from_utf8_lossy(&output.stderr).lines().next().map(str::to_owned)
}

/// The environment of a run, in words.
pub struct Environment {
    /// Paragraphs for the head of a report.
    pub caption: String,
    /// A line for the head of a picture.
    pub line: String,
}

impl Environment {
    /// Returns the current environment of a `command`; `left_out` are the contenders that did not
    /// take part, with the reasons.
    pub fn new(
        command: &str,
        with_java: bool,
        others: &Others,
        left_out: &[String],
    ) -> Environment {
        let (processor, cores, rustc) = (processor(), cores(), env!("BENCHES_RUSTC"));
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let kernel =
            format!("{} {}", env::consts::OS, kernel.trim().split('-').next().unwrap_or(""));
        let strategy = windrow::diagnostics::strategy();
        let sentinel = cfg!(feature = "sentinel").then_some("sentinel-core");
        let rivals = RIVALS.into_iter().chain(sentinel).filter_map(version);
        let rivals: Vec<String> = rivals.chain(java().filter(|_| with_java)).collect();
        let mut paragraphs = vec![
            format!(
                "{processor}, {cores} cores, {kernel}; {rustc}; strategy {strategy:?}. `{command}`"
            ),
            format!("Rivals: {}.", rivals.join(", ")),
        ];
        // What a reader must know, if it is not little.
        let mut noise = String::new();
        paragraphs.push(match others.share().map(|share| (share, (100.0 * share).round())) {
            Some((share, percent)) if share > 0.05 => {
                noise = format!(" ({percent} % used by others)");
                format!(
                    "**Others used {percent} % of the processors meanwhile**: times of several \
                     threads, and the ends of all spreads, are worse than they would be on a quiet \
                     machine."
                )
            }
            Some((_, percent)) => format!("Others used {percent} % of the processors."),
            None => "How busy others kept the processors is not known.".to_owned(),
        });
        paragraphs.extend(left_out.iter().map(|line| format!("Left out: {line}.")));
        Environment {
            caption: paragraphs.join("\n\n"),
            line: format!("{processor}, {cores} cores{noise}; {rustc}; {command}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caption_names_the_rivals_that_took_part() {
        let Environment { caption, .. } =
            Environment::new("some command", false, &Others::watch(), &[]);
        assert!(caption.contains("; strategy ") && caption.contains("`some command`"), "{caption}");
        let line =
            caption.lines().find(|line| line.starts_with("Rivals: ")).expect("a line of them");
        assert!(
            line.contains(" prometheus 0.") && line.contains(", prometheus-client 0."),
            "{line}"
        );
        let count = RIVALS.len() + usize::from(cfg!(feature = "sentinel"));
        assert_eq!(line.split(", ").count(), count, "{line}");
    }
}
