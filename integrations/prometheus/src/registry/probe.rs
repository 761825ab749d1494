//! Checks the text of a registry to which one metric was added.

use std::collections::HashSet;
use std::fmt::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::stage::{REFUSED, SHOWN, WRITES};
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
        if let Some(described) = self.line.strip_prefix("# TYPE ") {
            let (name, kind) = described.rsplit_once(' ').unwrap_or((described, ""));
            if is_new {
                self.wrong = self.wrong.clone().and(check_name(Characters::Plain, name));
                self.new.push((name.to_owned(), kind.to_owned()));
            } else {
                self.taken.extend(names(name, kind));
            }
        } else if is_new && !self.line.starts_with('#') {
            self.wrong =
                self.wrong.clone().and(check_labels(Characters::Plain, label_names(&self.line)));
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

impl Write for Probe {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        while let Some((end, next)) = rest.split_once('\n') {
            self.line.push_str(end);
            self.take();
            self.line.clear();
            rest = next;
        }
        self.line.push_str(rest);
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
fn label_names(sample: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = sample.split_once('{').map_or("", |(_, labels)| labels);
    while let Some((name, value)) = rest.split_once("=\"") {
        names.push(name.trim_start_matches(','));
        rest = after_value(value);
    }
    names
}

/// Returns the text behind the quote that ends a value.
fn after_value(value: &str) -> &str {
    let mut escaped = false;
    for (index, byte) in value.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return &value[index + 1..],
            _ => {}
        }
    }
    ""
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
