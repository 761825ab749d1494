//! The rules for names, and the metrics that a source is sent as.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::SystemTime;

use windrow::export::{Outline, Part, Source, StartTimes, fields};

use crate::error::StartError;

/// The attribute of an overflow series: `true`.
pub(crate) const OVERFLOW: &str = "otel.metric.overflow";

/// The greatest length of a name.
const LONGEST: usize = 255;

/// A source, with the metrics that it is sent as.
pub(crate) struct Described {
    pub(crate) source: Arc<dyn Source>,
    /// One metric for each part.
    pub(crate) parts: Vec<(&'static Part, Name)>,
    /// The uses of the overflow series, if there may be one.
    pub(crate) uses: Option<Name>,
    /// True if a removed series may return with its former counts.
    pub(crate) series_return: bool,
    pub(crate) starts: StartTimes,
}

impl Described {
    /// Returns the name of the metric with this index: that of a part, or behind them that of the
    /// uses.
    pub(crate) fn name(&self, index: usize) -> &Name {
        let parts = self.parts.iter().map(|(_, name)| name);
        parts.chain(&self.uses).nth(index).expect("an index of a part, or of uses that there are")
    }
}

/// The name of a metric, its description and its unit.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) full: String,
    pub(crate) description: String,
    pub(crate) unit: String,
}

/// Checks and names the metrics of each field of a source; of a source without fields, its own.
/// `since` is the time since which metrics count that do not know their own, and `taken` has the
/// names of others, in lower case.
pub(crate) fn describe(
    given: &Name,
    source: Arc<dyn Source>,
    since: SystemTime,
    taken: &mut HashSet<String>,
) -> Result<Vec<Described>, StartError> {
    let mut all = Vec::new();
    for (position, field) in fields(source).iter().enumerate() {
        let outline = field.source.outline();
        let own = field.full_name(&given.full, ".");
        let given_unit = if field.is_in_unit { &*given.unit } else { "" };
        check_name(&own)?;
        check_labels(&outline)?;
        let named = |of: &str, part: &Part| Name {
            full: join(of, ".", part.suffix),
            description: join(&given.description, ": ", part.about),
            // That of all samples, if they have one in common.
            unit: match outline.form.units(part, given_unit)[..] {
                [unit] => unit.to_owned(),
                _ => String::new(),
            },
        };
        let parts: Vec<_> = outline.form.parts().map(|part| (part, named(&own, part))).collect();
        // All fields have one overflow series.
        let has_uses = position == 0 && outline.overflows;
        let uses = has_uses.then(|| named(&given.full, &Part::OVERFLOW));
        for Name { full, .. } in parts.iter().map(|(_, name)| name).chain(&uses) {
            if full.len() > LONGEST {
                let problem = format!("has {} characters, of 255 at most", full.len());
                return Err(wrong(full, problem));
            }
            if !taken.insert(full.to_lowercase()) {
                return Err(wrong(full, "is taken; case makes no difference"));
            }
        }
        all.push(Described {
            source: Arc::clone(&field.source),
            parts,
            uses,
            series_return: outline.series_return,
            starts: StartTimes::since(since),
        });
    }
    Ok(all)
}

fn join(one: &str, between: &str, other: &str) -> String {
    [one, other].join(if one.is_empty() || other.is_empty() { "" } else { between })
}

fn check_name(name: &str) -> Result<(), StartError> {
    if name.is_empty() {
        return Err(wrong(name, "is empty"));
    }
    let right = |(index, character): (usize, char)| {
        character.is_ascii_alphabetic()
            || (index > 0 && (character.is_ascii_digit() || "_.-/".contains(character)))
    };
    let Some((_, character)) = name.char_indices().find(|at| !right(*at)) else { return Ok(()) };
    let problem = format!(
        "has {character:?}; a name is made of ASCII letters, digits, `_`, `.`, `-` and `/`, \
         and begins with a letter"
    );
    Err(wrong(name, problem))
}

fn wrong(name: &str, problem: impl Into<String>) -> StartError {
    StartError::Name { name: name.to_owned(), problem: problem.into() }
}

fn check_labels(outline: &Outline) -> Result<(), StartError> {
    let overflow = outline.overflows.then_some(OVERFLOW);
    let own = outline.labels.iter().map(String::as_str);
    let mut seen = HashSet::new();
    for label in outline.form.sample_labels().iter().copied().chain(overflow).chain(own) {
        if label.is_empty() {
            return Err(StartError::NoLabel);
        }
        if !seen.insert(label) {
            return Err(StartError::LabelTwice { label: label.to_owned() });
        }
    }
    Ok(())
}
