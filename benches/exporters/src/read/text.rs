//! Prometheus' text in each version, and `OpenMetrics`: strictly, but that names may be in quotes.

use std::collections::HashMap;

/// The contents of a text.
#[derive(Debug, Default)]
pub(crate) struct Text {
    /// Types by name, as `# TYPE` says them.
    pub(crate) types: HashMap<String, String>,
    /// Units by name.
    pub(crate) units: HashMap<String, String>,
    pub(crate) samples: Vec<Sample>,
    /// The text ends as `OpenMetrics` does.
    pub(crate) has_end: bool,
}

/// A line with a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) labels: Vec<(String, String)>,
    pub(crate) value: f64,
    /// The part of the line behind ` # `.
    pub(crate) exemplar: Option<String>,
    /// A name of it is in quotes.
    pub(crate) is_quoted: bool,
}

impl Sample {
    /// Returns the value of a label.
    pub(crate) fn label(&self, name: &str) -> Option<&str> {
        let label = self.labels.iter().find(|(label, _)| label == name);
        label.map(|(_, value)| value.as_str())
    }
}

impl Text {
    /// Returns the samples of this name.
    pub(crate) fn named<'t>(&'t self, name: &'t str) -> impl Iterator<Item = &'t Sample> {
        self.samples.iter().filter(move |sample| sample.name == name)
    }
}

/// Reads a text. `None` if a line of it is none, a name has two types, or a sample is there twice.
pub(crate) fn read(text: &[u8]) -> Option<Text> {
    let text = std::str::from_utf8(text).ok()?;
    let mut found = Text::default();
    for line in text.lines() {
        if found.has_end {
            return None;
        }
        if line == "# EOF" {
            found.has_end = true;
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = described(rest)?;
            if found.types.insert(name, kind).is_some() {
                return None;
            }
        } else if let Some(rest) = line.strip_prefix("# UNIT ") {
            let (name, unit) = described(rest)?;
            found.units.insert(name, unit);
        } else if let Some(rest) = line.strip_prefix("# HELP ") {
            described(rest)?;
        } else if line.starts_with('#') {
            return None;
        } else if !line.is_empty() {
            let sample = sample(line)?;
            let is_there = |before: &Sample| before.labels == sample.labels;
            if found.named(&sample.name).any(is_there) {
                return None;
            }
            found.samples.push(sample);
        }
    }
    Some(found)
}

/// Returns the name, and what is said of it.
fn described(text: &str) -> Option<(String, String)> {
    let (name, rest) = if let Some(quoted) = text.strip_prefix('"') {
        unquoted(quoted)?
    } else {
        let end = text.find(' ').unwrap_or(text.len());
        is_plain(&text[..end]).then(|| (text[..end].to_owned(), &text[end..]))?
    };
    Some((name, rest.trim_start().to_owned()))
}

fn sample(line: &str) -> Option<Sample> {
    let end = line.find(['{', ' '])?;
    let (mut name, mut rest) = (line[..end].to_owned(), &line[end..]);
    let (mut labels, mut is_quoted) = (Vec::new(), false);
    if let Some(inside) = rest.strip_prefix('{') {
        rest = inside;
        while !rest.starts_with('}') {
            let (label, behind) = if let Some(quoted) = rest.strip_prefix('"') {
                is_quoted = true;
                unquoted(quoted)?
            } else {
                let end = rest.find('=')?;
                is_plain(&rest[..end]).then(|| (rest[..end].to_owned(), &rest[end..]))?
            };
            rest = behind;
            if let Some(value) = rest.strip_prefix("=\"") {
                let (value, behind) = unquoted(value)?;
                if labels.iter().any(|(before, _)| *before == label) {
                    return None;
                }
                labels.push((label, value));
                rest = behind;
            } else if name.is_empty() {
                name = label;
            } else {
                return None;
            }
            rest = rest.strip_prefix(',').unwrap_or(rest);
        }
        rest = rest.strip_prefix('}')?;
    }
    if !is_quoted && !is_plain(&name) {
        return None;
    }
    let (value, exemplar) = match rest.split_once(" # ") {
        Some((value, exemplar)) => (value, Some(exemplar.to_owned())),
        None => (rest, None),
    };
    let value = value.strip_prefix(' ')?.split(' ').next()?.parse().ok()?;
    labels.sort();
    Some(Sample { name, labels, value, exemplar, is_quoted })
}

/// Returns the text up to a quote, without its escapes, and what is behind the quote.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let (mut found, mut characters) = (String::new(), text.char_indices());
    loop {
        match characters.next()? {
            (end, '"') => return Some((found, &text[end + 1..])),
            (_, '\\') => found.push(match characters.next()?.1 {
                'n' => '\n',
                other @ ('\\' | '"') => other,
                _ => return None,
            }),
            (_, other) => found.push(other),
        }
    }
}

/// Returns whether a name has Prometheus' own characters only.
fn is_plain(name: &str) -> bool {
    let is_character = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b':';
    !name.is_empty() && !name.as_bytes()[0].is_ascii_digit() && name.bytes().all(is_character)
}
