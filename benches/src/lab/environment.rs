//! The environment of a run: processor, versions, and command.

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
    pub fn new(command: &str, with_java: bool, left_out: &[String]) -> Environment {
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
        paragraphs.extend(left_out.iter().map(|line| format!("Left out: {line}.")));
        Environment {
            caption: paragraphs.join("\n\n"),
            line: format!("{processor}, {cores} cores; {rustc}; {command}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caption_names_the_rivals_that_took_part() {
        let Environment { caption, .. } = Environment::new("some command", false, &[]);
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
