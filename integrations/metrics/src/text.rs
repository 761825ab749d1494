//! The text that Prometheus reads, in its classic format.

use std::fmt::{self, Display, Formatter, Write};

use crate::names::Labels;
use crate::snapshot::{Snapshot, Value};

/// The Prometheus text: the same whenever the numbers are the same.
impl Display for Snapshot {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for family in &self.families {
            let (name, kind) = (&family.name, family.kind);
            if let Some(help) = &family.help {
                write!(f, "# HELP {name} ")?;
                escape(f, help, &['\\', '\n'])?;
                f.write_char('\n')?;
            }
            writeln!(f, "# TYPE {name} {kind}")?;
            for series in &family.series {
                let mut line = Line { f: &mut *f, name, labels: &series.labels };
                match &series.value {
                    Value::Counter(n) => line.write("", None, n)?,
                    Value::Gauge(value) => line.write("", None, &Number(*value))?,
                    Value::Histogram(values) => {
                        for (bound, below) in values.buckets() {
                            line.write("_bucket", Some(Number(bound)), &below)?;
                        }
                        line.write("_sum", None, &Number(values.sum()))?;
                        line.write("_count", None, &values.count())?;
                    }
                }
            }
            f.write_char('\n')?;
        }
        Ok(())
    }
}

/// The lines of one series.
struct Line<'a, 'f> {
    f: &'a mut Formatter<'f>,
    name: &'a str,
    labels: &'a Labels,
}

impl Line<'_, '_> {
    fn write(&mut self, part: &str, bound: Option<Number>, value: &dyn Display) -> fmt::Result {
        self.f.write_str(self.name)?;
        self.f.write_str(part)?;
        let mut before = '{';
        for (name, label) in self.labels.iter() {
            self.f.write_char(before)?;
            self.f.write_str(name)?;
            self.f.write_str("=\"")?;
            escape(self.f, label, &['\\', '\n', '"'])?;
            self.f.write_char('"')?;
            before = ',';
        }
        if let Some(bound) = bound {
            write!(self.f, "{before}le=\"{bound}\"")?;
            before = ',';
        }
        if before == ',' {
            self.f.write_char('}')?;
        }
        writeln!(self.f, " {value}")
    }
}

/// Writes `text` with a backslash before each of `special`, which is an `n` for a line's end.
fn escape(f: &mut Formatter<'_>, text: &str, special: &[char]) -> fmt::Result {
    let mut rest = text;
    while let Some(at) = rest.find(special) {
        let (plain, found) = rest.split_at(at);
        f.write_str(plain)?;
        f.write_char('\\')?;
        f.write_str(if found.starts_with('\n') { "n" } else { &found[..1] })?;
        rest = &found[1..]; // all of them are one byte long
    }
    f.write_str(rest)
}

/// A number as Prometheus writes it, in as few digits as tell it from every other.
struct Number(f64);

impl Display for Number {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            f64::INFINITY => f.write_str("+Inf"),
            f64::NEG_INFINITY => f.write_str("-Inf"),
            value if value == 0.0 || value.is_nan() || (1e-5..1e17).contains(&value.abs()) => {
                write!(f, "{value}")
            }
            value => write!(f, "{value:e}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_read_back_as_themselves() {
        let cases = [
            (0.0, "0"),
            (42.0, "42"),
            (-3.14, "-3.14"),
            (0.005, "0.005"),
            (1e-7, "1e-7"),
            (1e300, "1e300"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "+Inf"),
            (f64::NEG_INFINITY, "-Inf"),
        ];
        for (value, text) in cases {
            assert_eq!(Number(value).to_string(), text);
        }
    }
}
