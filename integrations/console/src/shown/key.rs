//! A series' name: as `/metrics` writes it.

use std::fmt::Write;

use windrow::export::Series;
use windrow::labels::LabelValue;

/// Writes a series' name into `key`: `requests{method="GET",route="/cart"}`, with backslashes,
/// quotes and line feeds escaped as Prometheus' text has them.
pub(crate) fn write_key(key: &mut String, metric: &str, series: &dyn Series) {
    key.clear();
    key.push_str(metric);
    let mut begins = '{';
    series.labels(&mut |name, value| {
        key.push(begins);
        begins = ',';
        key.push_str(name);
        key.push_str("=\"");
        match value {
            LabelValue::Text(text) => {
                for character in text.chars() {
                    match character {
                        '\n' => key.push_str("\\n"),
                        '\\' | '"' => key.extend(['\\', character]),
                        _ => key.push(character),
                    }
                }
            }
            number => _ = write!(key, "{number}"), // writing to a `String` cannot fail
        }
        key.push('"');
    });
    if begins == ',' {
        key.push('}');
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use windrow::export::AnyMetric;

    use super::*;

    struct Some(&'static [(&'static str, LabelValue<'static>)]);

    impl Series for Some {
        fn number(&self) -> u64 {
            0
        }

        fn is_overflow(&self) -> bool {
            false
        }

        fn created(&self) -> Option<SystemTime> {
            None
        }

        fn labels(&self, see: &mut dyn FnMut(&str, LabelValue<'_>)) {
            self.0.iter().for_each(|(name, value)| see(name, *value));
        }

        fn metric(&self) -> AnyMetric<'_> {
            unreachable!("a name needs no numbers")
        }
    }

    fn key(pairs: &'static [(&'static str, LabelValue<'static>)]) -> String {
        let mut key = String::from("what was there");
        write_key(&mut key, "hits", &Some(pairs));
        key
    }

    #[test]
    fn a_key_is_written_as_a_scrape_writes_it() {
        assert_eq!(key(&[]), "hits");
        let two = &[("route", LabelValue::Text("/")), ("status", LabelValue::Unsigned(200))];
        assert_eq!(key(two), "hits{route=\"/\",status=\"200\"}");
    }

    #[test]
    fn labels_cannot_make_two_keys_alike() {
        let one = key(&[("a", LabelValue::Text("x\",b=\"y"))]);
        let two = key(&[("a", LabelValue::Text("x")), ("b", LabelValue::Text("y"))]);
        assert_ne!(one, two);
        assert_eq!(one, r#"hits{a="x\",b=\"y"}"#);
    }
}
