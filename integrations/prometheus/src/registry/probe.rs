//! Checks the text of a registry to which one metric was added.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::registered::{REFUSED, SHOWN, WRITES};
use crate::described::Type;
use crate::error::RegisterError;
use crate::escaping::unquoted;
use crate::rules::{Characters, check_labels, check_name};

/// Takes a text line by line, and keeps the names in it. The new metric is shown if no check fails;
/// if one does, or if the encoding of the text panics, it never is.
pub(crate) struct Probe {
    /// The stage of the new metric.
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
        let (new, taken) = Default::default();
        Probe { stage: Arc::clone(stage), new, taken, wrong: Ok(()) }
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

    pub(crate) fn take(&mut self, line: &str) {
        let is_new = self.stage.load(Ordering::Relaxed) == WRITES;
        if let Some(described) = line.strip_prefix("# TYPE ") {
            let (name, kind) = described.rsplit_once(' ').unwrap_or((described, ""));
            if is_new {
                self.note(check_name(Characters::Plain, name));
                self.new.push((name.to_owned(), kind.to_owned()));
            } else {
                self.taken.extend(names(name, kind));
            }
        } else if is_new && !line.starts_with('#') {
            let labels = label_names(line);
            self.note(check_labels(Characters::Plain, labels.iter().map(String::as_str)));
        }
    }

    fn note(&mut self, checked: Result<(), RegisterError>) {
        if self.wrong.is_ok() {
            self.wrong = checked;
        }
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        if self.stage.load(Ordering::Relaxed) != SHOWN {
            self.stage.store(REFUSED, Ordering::Relaxed);
        }
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
fn label_names(sample: &str) -> Vec<String> {
    // Of each value, the quote before it is left.
    let sample: String = unquoted(sample).map(|(_, character)| character).collect();
    let (_, labels) = sample.split_once('{').unwrap_or_default();
    let names = labels.split(',').filter_map(|label| label.split_once("=\""));
    names.map(|(name, _)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_labels_of_a_sample_are_found_behind_hostile_values() {
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
