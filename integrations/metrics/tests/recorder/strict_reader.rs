//! A strict reader of Prometheus' classic text: what the format's page allows and no more.

use std::collections::{BTreeMap, BTreeSet};

/// Sorted labels.
type Labels = Vec<(String, String)>;

/// The contents of a text.
#[derive(Debug, Default)]
pub(crate) struct Text {
    /// By name, as `# TYPE` says it.
    pub(crate) kinds: BTreeMap<String, String>,
    /// By name, unescaped.
    pub(crate) help: BTreeMap<String, String>,
    /// By the line's name and labels.
    pub(crate) samples: BTreeMap<(String, Labels), f64>,
}

impl Text {
    /// Returns the value of a line.
    pub(crate) fn get(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let labels = labels.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        let mut labels: Labels = labels.collect();
        labels.sort();
        self.samples.get(&(name.to_owned(), labels)).copied()
    }
}

/// Reads `text`, or says which line breaks which rule.
pub(crate) fn read(text: &str) -> Result<Text, String> {
    let mut all = Text::default();
    let mut family: Option<(String, String)> = None;
    if !text.is_empty() && !text.ends_with('\n') {
        return Err("the last line has no end".to_owned());
    }
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        let because = |why: &str| Err(format!("{why}: {line:?}"));
        if line.is_empty() {
            family = None;
        } else if let Some(rest) = line.strip_prefix("# HELP ") {
            let Some((name, help)) = rest.split_once(' ') else { return because("no help") };
            if family.is_some() || all.help.contains_key(name) {
                return because("help that does not begin a family");
            }
            all.help.insert(name.to_owned(), unescape(help, "\\n")?);
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let Some((name, kind)) = rest.split_once(' ') else { return because("no type") };
            if !is_name(name, true) || !["counter", "gauge", "histogram"].contains(&kind) {
                return because("not a name and a type");
            }
            if all.kinds.insert(name.to_owned(), kind.to_owned()).is_some() {
                return because("a second type");
            }
            family = Some((name.to_owned(), kind.to_owned()));
        } else {
            let Some((name, kind)) = &family else { return because("a line of no family") };
            let (full, labels, value) = sample(line)?;
            let part = full.strip_prefix(&**name).unwrap_or("?");
            let parts: &[&str] =
                if kind == "histogram" { &["_bucket", "_sum", "_count"] } else { &[""] };
            if !parts.contains(&part) {
                return because("a line of another family");
            }
            if kind == "counter" && (value < 0.0 || !value.is_finite()) {
                return because("not a counter's value");
            }
            if all.samples.insert((full, labels), value).is_some() {
                return because("a second line of one series");
            }
        }
    }
    if let Some(name) = all.help.keys().find(|name| !all.kinds.contains_key(*name)) {
        return Err(format!("help and no type: {name}"));
    }
    for (name, _) in all.kinds.iter().filter(|(_, kind)| *kind == "histogram") {
        histogram(&all, name)?;
    }
    Ok(all)
}

/// One line with a value.
fn sample(line: &str) -> Result<(String, Labels, f64), String> {
    let because = |why: &str| Err(format!("{why}: {line:?}"));
    let end = line.find(['{', ' ']).ok_or(format!("no value: {line:?}"))?;
    let (name, mut rest) = line.split_at(end);
    if !is_name(name, true) {
        return because("not a name");
    }
    let (mut labels, mut names) = (Labels::new(), BTreeSet::new());
    if let Some(inside) = rest.strip_prefix('{') {
        rest = inside;
        loop {
            let Some((label, after)) = rest.split_once("=\"") else { return because("no label") };
            if !is_name(label, false) || label.starts_with("__") {
                return because("not a label's name");
            }
            if !names.insert(label.to_owned()) {
                return because("a label twice");
            }
            let end = closing_quote(after).ok_or(format!("no end of a label: {line:?}"))?;
            labels.push((label.to_owned(), unescape(&after[..end], "\\n\"")?));
            rest = &after[end + 1..];
            if let Some(after) = rest.strip_prefix('}') {
                rest = after;
                break;
            }
            let Some(after) = rest.strip_prefix(',') else { return because("no comma") };
            rest = after;
        }
    }
    let Some(value) = rest.strip_prefix(' ') else { return because("no value") };
    let number = match value {
        "NaN" => f64::NAN,
        "+Inf" => f64::INFINITY,
        "-Inf" => f64::NEG_INFINITY,
        _ if value.contains(['i', 'I', 'n', 'N', ' ', '+']) => return because("not a number"),
        _ => value.parse().map_err(|_| format!("not a number: {line:?}"))?,
    };
    labels.sort();
    Ok((name.to_owned(), labels, number))
}

/// Returns where a label's value ends.
fn closing_quote(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends.then_some(at)
    })
}

/// Without backslashes, of which each must stand before one of `special`.
fn unescape(text: &str, special: &str) -> Result<String, String> {
    let (mut plain, mut letters) = (String::new(), text.chars());
    while let Some(c) = letters.next() {
        match c {
            '\\' => match letters.next() {
                Some('n') => plain.push('\n'),
                Some(escaped) if special.contains(escaped) => plain.push(escaped),
                other => return Err(format!("a backslash before {other:?}: {text:?}")),
            },
            '"' if special.contains('"') => return Err(format!("a bare quote: {text:?}")),
            c => plain.push(c),
        }
    }
    Ok(plain)
}

fn is_name(name: &str, colons: bool) -> bool {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_' || (colons && c == ':');
    name.starts_with(letter) && name.chars().all(|c| letter(c) || c.is_ascii_digit())
}

/// Returns whether each series of a histogram has buckets that rise to its count, and a sum.
fn histogram(all: &Text, name: &str) -> Result<(), String> {
    let mut series: BTreeMap<Labels, Vec<(f64, f64)>> = BTreeMap::new();
    for ((part, labels), value) in &all.samples {
        if *part == format!("{name}_bucket") {
            let (le, others): (Labels, Labels) =
                labels.iter().cloned().partition(|(label, _)| label == "le");
            let bound = match le.first().map(|(_, bound)| bound.as_str()) {
                Some("+Inf") => f64::INFINITY,
                Some(bound) => bound.parse().map_err(|_| format!("the bound {bound} of {name}"))?,
                None => return Err(format!("a bucket of {name} without a bound")),
            };
            series.entry(others).or_default().push((bound, *value));
        }
    }
    if series.is_empty() {
        return Err(format!("{name} has no buckets"));
    }
    for (labels, mut buckets) in series {
        buckets.sort_by(|one, other| one.0.total_cmp(&other.0));
        let of = |part: &str| all.samples.get(&(format!("{name}_{part}"), labels.clone()));
        if !buckets.windows(2).all(|pair| pair[0].1 <= pair[1].1) {
            return Err(format!("buckets of {name} fall: {buckets:?}"));
        }
        let last = buckets[buckets.len() - 1];
        if last.0 != f64::INFINITY || of("count") != Some(&last.1) || of("sum").is_none() {
            return Err(format!("{name}{labels:?} ends with {last:?}, not with its count"));
        }
    }
    Ok(())
}

#[test]
fn the_reader_refuses_what_the_format_forbids() {
    let cases = [
        "# TYPE a counter\na 1",
        "a 1\n",
        "# TYPE a counter\n# TYPE a counter\n",
        "# TYPE a counter\na 1\n\n# TYPE a gauge\na 1\n",
        "# TYPE a counter\nb 1\n",
        "# TYPE a counter\na 1\na 1\n",
        "# TYPE a counter\na{x=\"1\",y=\"2\"} 1\na{y=\"2\",x=\"1\"} 1\n",
        "# TYPE a counter\na -1\n",
        "# TYPE a counter\na NaN\n",
        "# TYPE a gauge\na inf\n",
        "# TYPE a gauge\na 1 \n",
        "# TYPE a gauge\na{x=\"1\" 1\n",
        "# TYPE a gauge\na{x=\"1\",x=\"2\"} 1\n",
        "# TYPE a gauge\na{x=\"\\\"} 1\n",
        "# TYPE a gauge\na{x=\"\\t\"} 1\n",
        "# TYPE a gauge\na{x=\"\"\"} 1\n",
        "# TYPE a gauge\na{0x=\"\"} 1\n",
        "# TYPE a gauge\na{__name__=\"b\"} 1\n",
        "# TYPE a.b gauge\na.b 1\n",
        "# HELP a one\n# HELP a two\n# TYPE a gauge\na 1\n",
        "# HELP a \\t\n# TYPE a gauge\na 1\n",
        "# HELP a one\n",
        "# TYPE a histogram\na_sum 1\na_count 1\n",
        "# TYPE a histogram\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 2\n",
        "# TYPE a histogram\na_bucket{le=\"1\"} 2\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 1\n",
        "# TYPE a histogram\na_bucket{le=\"1\"} 1\na_sum 1\na_count 1\n",
        "# TYPE a histogram\na_bucket{le=\"+Inf\"} 1\na_count 1\n",
    ];
    for case in cases {
        assert!(read(case).is_err(), "{case}");
    }
    let sound = "# HELP a b \\\\ \\n\n# TYPE a counter\na{x=\"\\\\\\n\\\"\"} 1\n\n";
    assert_eq!(read(sound).unwrap().get("a", &[("x", "\\\n\"")]), Some(1.0));
}
