//! Checks the text of a registry to which one metric was added.

use std::collections::HashSet;
use std::fmt::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::stage::{REFUSED, SHOWN, WRITES};
use crate::accept::split;
use crate::described::Type;
use crate::error::RegisterError;
use crate::rules::{Characters, check_labels, check_name};

/// Takes a text line by line, and keeps the names in it. The new metric is shown if no check fails;
/// if one does, or if the encoding of the text panics, it never is.
pub(crate) struct Probe {
    line: String,
    /// The state of the new metric.
    stage: Arc<AtomicU8>,
    /// The names and types of the new metric.
    new: Vec<(String, String)>,
    /// Each name that a sample of the other metrics may have.
    taken: HashSet<String>,
    /// The first error found.
    wrong: Result<(), RegisterError>,
}

impl Probe {
    pub(crate) fn new(stage: &Arc<AtomicU8>) -> Probe {
        Probe {
            line: String::new(),
            stage: Arc::clone(stage),
            new: Vec::new(),
            taken: HashSet::new(),
            wrong: Ok(()),
        }
    }

    /// Makes scrapes show the new metric, if no error was found.
    pub(crate) fn outcome(self) -> Result<(), RegisterError> {
        self.wrong.clone()?;
        for (name, kind) in &self.new {
            if names(name, kind).any(|name| self.taken.contains(&name)) {
                return Err(RegisterError::NameTaken { name: name.clone() });
            }
        }
        self.stage.store(SHOWN, Ordering::Relaxed);
        Ok(())
    }

    fn take(&mut self) {
        let is_new = self.stage.load(Ordering::Relaxed) == WRITES;
        let found = if let Some(described) = self.line.strip_prefix("# TYPE ") {
            let (name, kind) = described.trim_end().rsplit_once(' ').unwrap_or((described, ""));
            if !is_new {
                return self.taken.extend(names(name, kind));
            }
            self.new.push((name.to_owned(), kind.to_owned()));
            check_name(Characters::Plain, name)
        } else if is_new && !self.line.starts_with('#') {
            check_labels(Characters::Plain, label_names(&self.line))
        } else {
            return;
        };
        self.wrong = self.wrong.clone().and(found);
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        if self.stage.load(Ordering::Relaxed) != SHOWN {
            self.stage.store(REFUSED, Ordering::Relaxed);
        }
    }
}

impl Write for Probe {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for part in text.split_inclusive('\n') {
            self.line.push_str(part);
            if part.ends_with('\n') {
                self.take();
                self.line.clear();
            }
        }
        Ok(())
    }
}

/// Returns the names that samples of a metric may have, and its own.
fn names(name: &str, kind: &str) -> impl Iterator<Item = String> {
    let kind = match kind {
        "counter" => Type::Counter,
        "histogram" => Type::Histogram,
        "info" => Type::Info,
        _ => Type::Gauge,
    };
    kind.suffixes().iter().map(move |suffix| format!("{name}{suffix}"))
}

/// Returns the names of a sample's labels.
fn label_names(sample: &str) -> impl Iterator<Item = &str> {
    let labels = sample.split_once('{').map_or("", |(_, labels)| labels);
    split(labels, ',').filter_map(|label| Some(label.split_once('=')?.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_labels_of_a_sample_are_found_behind_hostile_values() {
        let label_names = |sample| label_names(sample).collect::<Vec<_>>();
        assert_eq!(label_names("a 1"), [""; 0]);
        let sample = r#"a{b="",c="\"d=\\",e="}, f=\"",g=""} 0"#;
        assert_eq!(label_names(sample), ["b", "c", "e", "g"]);
    }

    #[test]
    fn a_counter_takes_three_names() {
        assert_eq!(names("a", "counter").collect::<Vec<_>>(), ["a", "a_total", "a_created"]);
        assert_eq!(names("a", "gauge").collect::<Vec<_>>(), ["a"]);
    }
}
