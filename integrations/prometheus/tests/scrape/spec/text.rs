//! The text formats: Prometheus' 0.0.4 and 1.0.0, and `OpenMetrics` 1.0.0 with quoted names.

#![allow(clippy::float_cmp, reason = "the numbers are exact")]

use std::collections::{BTreeMap, BTreeSet};

use super::{Exemplar, Family, Sample};

/// The rules in which the formats differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rules {
    /// 0.0.4: plain names only.
    Old,
    /// 1.0.0: names of UTF-8 in quotes.
    New,
    OpenMetrics,
}

/// Returns the metrics of a text, or what is wrong with it.
pub(crate) fn parse(text: &str, rules: Rules) -> Result<Vec<Family>, String> {
    let mut lines: Vec<&str> = text.split('\n').collect();
    if lines.pop() != Some("") {
        return Err("the last line does not end".to_owned());
    }
    if rules == Rules::OpenMetrics && lines.pop() != Some("# EOF") {
        return Err("no end".to_owned());
    }
    let (mut families, mut names) = (Vec::<Family>::new(), BTreeSet::new());
    for line in lines {
        parse_line(line, rules, &mut families, &mut names)
            .map_err(|why| format!("{why}: {line}"))?;
    }
    for family in &families {
        check(family, rules).map_err(|why| format!("{why}: {family:?}"))?;
    }
    Ok(families)
}

fn parse_line(
    line: &str,
    rules: Rules,
    families: &mut Vec<Family>,
    names: &mut BTreeSet<String>,
) -> Result<(), String> {
    let Some(comment) = line.strip_prefix("# ") else {
        let (sample, exemplar) = Cursor { rest: line, rules }.sample()?;
        let family = families.last_mut().ok_or("a sample before any description")?;
        let of = |suffix: &&str| sample.name == format!("{}{suffix}", family.name);
        if !suffixes(&family.kind, rules).iter().any(of) {
            return Err(format!("a sample of another metric than {}", family.name));
        }
        let may_have = family.kind == "counter" && sample.name.ends_with("_total")
            || sample.name.ends_with("_bucket");
        if exemplar.is_some() && (rules != Rules::OpenMetrics || !may_have) {
            return Err("an exemplar that is not allowed".to_owned());
        }
        family.exemplars.extend(exemplar.map(|exemplar| (family.samples.len(), exemplar)));
        family.samples.push(sample);
        return Ok(());
    };
    let (what, rest) = comment.split_once(' ').ok_or("an empty comment")?;
    let mut cursor = Cursor { rest, rules };
    let name = cursor.name(true)?;
    let text = cursor.rest.strip_prefix(' ').ok_or("no space behind the name")?;
    if families.last().is_none_or(|last| last.name != name) {
        if !names.insert(name.clone()) {
            return Err("a metric whose lines do not stand together".to_owned());
        }
        families.push(Family { name, ..Family::default() });
    }
    let family = families.last_mut().expect("it was pushed");
    let place = match what {
        "HELP" => &mut family.help,
        "TYPE" => &mut family.kind,
        "UNIT" if rules == Rules::OpenMetrics => &mut family.unit,
        _ => return Err("an unknown comment".to_owned()),
    };
    if !place.is_empty() || !family.samples.is_empty() {
        return Err("a second description, or one behind samples".to_owned());
    }
    *place =
        if what == "HELP" { unescaped(text, rules == Rules::OpenMetrics)? } else { text.into() };
    Ok(())
}

/// Returns the suffixes of the samples of a type.
fn suffixes(kind: &str, rules: Rules) -> &'static [&'static str] {
    match (kind, rules) {
        ("counter", Rules::OpenMetrics) => &["_total", "_created"],
        ("histogram", Rules::OpenMetrics) => &["_bucket", "_sum", "_count", "_created"],
        ("info", Rules::OpenMetrics) => &["_info"],
        ("histogram", _) => &["_bucket", "_sum", "_count"],
        ("counter" | "gauge", Rules::Old | Rules::New) | ("gauge", _) => &[""],
        _ => &[],
    }
}

/// Checks a whole metric.
fn check(family: &Family, rules: Rules) -> Result<(), String> {
    if suffixes(&family.kind, rules).is_empty() {
        return Err("an unknown type".to_owned());
    }
    if !family.unit.is_empty() && !family.name.ends_with(&format!("_{}", family.unit)) {
        return Err("a name without its unit".to_owned());
    }
    let mut series = BTreeSet::new();
    let mut buckets = BTreeMap::<_, Vec<(f64, f64)>>::new();
    for (index, Sample { name, labels, value }) in family.samples.iter().enumerate() {
        if !series.insert((name, labels)) {
            return Err(format!("{name} {labels:?} twice"));
        }
        let total =
            name.ends_with("_total") || name.ends_with("_bucket") || name.ends_with("_count");
        if family.kind != "gauge" && total && (value.is_nan() || *value < 0.0) {
            return Err("a negative total".to_owned());
        }
        if family.kind == "info" && *value != 1.0 {
            return Err("an info that is not 1".to_owned());
        }
        let is_bucket = family.kind == "histogram" && name.ends_with("_bucket");
        if let Some(exemplar) = family.exemplars.get(&index).filter(|_| is_bucket) {
            // The bucket before it is of the same series, unless it is the first one.
            let bound = |labels: &BTreeMap<String, String>| number(&labels["le"]);
            let before = index.checked_sub(1).map(|before| &family.samples[before]);
            let before = before.filter(|before| before.labels.contains_key("le"));
            let from = before.map_or(Ok(f64::NEG_INFINITY), |before| bound(&before.labels))?;
            let from = if from < bound(labels)? { from } else { f64::NEG_INFINITY };
            if exemplar.value <= from || exemplar.value > bound(labels)? {
                return Err("an exemplar in another bucket".to_owned());
            }
        }
        if is_bucket {
            let mut labels = labels.clone();
            let bound = labels.remove("le").ok_or("a bucket without a bound")?;
            let bound = number(&bound)?;
            buckets.entry(labels).or_default().push((bound, *value));
        }
    }
    for (labels, buckets) in buckets {
        if !buckets.is_sorted_by(|one, next| one.0 < next.0 && one.1 <= next.1) {
            return Err("buckets out of order".to_owned());
        }
        let count = family
            .samples
            .iter()
            .find(|sample| sample.name.ends_with("_count") && sample.labels == labels);
        let (bound, up_to) = buckets[buckets.len() - 1];
        if bound != f64::INFINITY || count.is_none_or(|count| count.value != up_to) {
            return Err("the last bucket has not all values".to_owned());
        }
    }
    Ok(())
}

/// The rest of a line.
struct Cursor<'l> {
    rest: &'l str,
    rules: Rules,
}

impl Cursor<'_> {
    /// Takes a text, if it comes next.
    fn take(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Takes a name, in quotes or not.
    fn name(&mut self, is_metric: bool) -> Result<String, String> {
        if self.rest.starts_with('"') {
            let name = self.quoted()?;
            return if self.rules == Rules::Old {
                Err("a quoted name".to_owned())
            } else {
                Ok(name)
            };
        }
        let is_right = |(index, character): (usize, char)| {
            matches!(character, 'a'..='z' | 'A'..='Z' | '_')
                || (is_metric && character == ':')
                || (index > 0 && character.is_ascii_digit())
        };
        let end =
            self.rest.char_indices().find(|at| !is_right(*at)).map_or(self.rest.len(), |at| at.0);
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        if name.is_empty() { Err("no name".to_owned()) } else { Ok(name.to_owned()) }
    }

    /// Takes a text between quotes.
    fn quoted(&mut self) -> Result<String, String> {
        if !self.take("\"") {
            return Err("no quote".to_owned());
        }
        let mut is_escaped = false;
        let end = self.rest.find(|character| {
            let ends = character == '"' && !is_escaped;
            is_escaped = character == '\\' && !is_escaped;
            ends
        });
        let (text, rest) = self.rest.split_at(end.ok_or("a quote without end")?);
        self.rest = &rest[1..];
        unescaped(text, true)
    }

    fn sample(mut self) -> Result<(Sample, Option<Exemplar>), String> {
        let mut name = String::new();
        if !self.rest.starts_with('{') {
            name = self.name(true)?;
        }
        let mut labels = BTreeMap::new();
        if self.take("{") {
            if name.is_empty() {
                name = if self.rest.starts_with('"') { self.name(true)? } else { String::new() };
                if name.is_empty() || !(self.take(",") || self.rest.starts_with('}')) {
                    return Err("no name".to_owned());
                }
            }
            labels = self.labels()?;
        }
        let value = self.rest.strip_prefix(' ').ok_or("no space before the value")?;
        let (value, exemplar) = match value.split_once(" # {") {
            None => (value, None),
            Some((value, rest)) => {
                self.rest = rest;
                (value, Some(self.exemplar()?))
            }
        };
        Ok((Sample { name, labels, value: number(value)? }, exemplar))
    }

    /// Takes labels and the bracket behind them.
    fn labels(&mut self) -> Result<BTreeMap<String, String>, String> {
        let mut labels = BTreeMap::new();
        while !self.take("}") {
            let label = self.name(false)?;
            if !self.take("=") {
                return Err("no value of a label".to_owned());
            }
            if labels.insert(label, self.quoted()?).is_some() {
                return Err("a label twice".to_owned());
            }
            if !self.take(",") && !self.rest.starts_with('}') {
                return Err("no comma".to_owned());
            }
        }
        Ok(labels)
    }

    /// Takes the rest of an exemplar, behind its first bracket.
    fn exemplar(&mut self) -> Result<Exemplar, String> {
        let labels = self.labels()?;
        let length = |text: &String| text.chars().count();
        if labels.iter().map(|(name, value)| length(name) + length(value)).sum::<usize>() > 128 {
            return Err("an exemplar with too long labels".to_owned());
        }
        let numbers = self.rest.strip_prefix(' ').ok_or("an exemplar without a value")?;
        let (value, time) = numbers.split_once(' ').ok_or("an exemplar without a time")?;
        Ok(Exemplar { labels, value: number(value)?, time: number(time)? })
    }
}

/// Returns a number, which has no spaces.
fn number(text: &str) -> Result<f64, String> {
    match text {
        "+Inf" => Ok(f64::INFINITY),
        "-Inf" => Ok(f64::NEG_INFINITY),
        "NaN" => Ok(f64::NAN),
        _ if text.bytes().all(|byte| b"0123456789+-.e".contains(&byte)) => {
            text.parse().map_err(|_| format!("{text} is no number"))
        }
        _ => Err(format!("{text} is no number")),
    }
}

/// Returns a text without escapes. In a help of Prometheus' own formats, quotes have none.
fn unescaped(text: &str, quotes: bool) -> Result<String, String> {
    let (mut plain, mut characters) = (String::new(), text.chars());
    while let Some(character) = characters.next() {
        let escaped = if character == '\\' { characters.next() } else { None };
        plain.push(match (character, escaped) {
            ('\\', Some('\\')) => '\\',
            ('\\', Some('n')) => '\n',
            ('\\', Some('"')) if quotes => '"',
            ('\\', _) => return Err("an unknown escape".to_owned()),
            ('"', _) if quotes => return Err("a quote without an escape".to_owned()),
            (other, _) => other,
        });
    }
    Ok(plain)
}
