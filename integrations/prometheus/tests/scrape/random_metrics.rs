//! Random names, labels, helps and values: whatever they are, a scrape of them is read as it is.

use std::collections::BTreeMap;
use std::sync::Arc;

use windrow::{Counter, Family, Histogram};
use windrow_prometheus::{Escaping, Exposition, Format};

use crate::formats::{read, samples};
use crate::spec::text::Rules;
use crate::spec::{Family as Found, protobuf};

/// Random numbers, the same ones in each run.
struct Random(u64);

impl Random {
    /// Returns a number below a limit.
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }

    /// Returns a text of characters that are hard to read.
    fn text(&mut self, most: usize) -> String {
        const HARD: [char; 20] = [
            '"',
            '\\',
            '\n',
            '\r',
            '\t',
            '{',
            '}',
            ',',
            '=',
            '#',
            ' ',
            '_',
            '.',
            ':',
            'a',
            'n',
            '1',
            'é',
            '\u{0}',
            '\u{1F600}',
        ];
        (0..self.below(most)).map(|_| HARD[self.below(HARD.len())]).collect()
    }
}

/// Returns metrics of one family with random names and values, and what was counted by labels.
fn counted(random: &mut Random) -> Option<(Exposition, BTreeMap<Vec<String>, u64>)> {
    // Two labels that begin with odd characters would be one for some scrapers.
    let names = ["a", "b"].map(|begin| begin.to_owned() + &random.text(6));
    let counts = Arc::new(Family::<_, Counter>::with_names(&names).ok()?);
    let values = Arc::new(Family::<_, Histogram>::with_names(names).ok()?);
    let mut book = BTreeMap::new();
    for _ in 0..random.below(5) {
        let (labels, count) = ([random.text(12), random.text(12)], random.below(1_000) as u64);
        let borrowed = labels.each_ref().map(String::as_str);
        counts.with(&borrowed).add(count);
        values.with(&borrowed).record(count);
        *book.entry(labels.to_vec()).or_default() += count;
    }
    let mut metrics = Exposition::new().with_prefix(&random.text(4));
    metrics.register(&(random.text(8) + "c"), &random.text(12), counts).ok()?;
    metrics.register(&(random.text(8) + "h"), &random.text(12), values).ok()?;
    Some((metrics, book))
}

/// Returns the names, types and helps of metrics.
fn described(families: &[Found]) -> Vec<[&str; 3]> {
    families.iter().map(|one| [&*one.name, &*one.kind, &*one.help]).collect()
}

#[test]
fn whatever_is_registered_is_read_as_it_is() {
    let mut random = Random(0x5eed);
    let (mut taken, mut series) = (0, 0);
    for _ in 0..400 {
        let Some((metrics, book)) = counted(&mut random) else { continue };
        taken += 1;
        series += book.len();
        let utf_8 = |format: Format| format.with_escaping(Escaping::AllowUtf8);
        let text = read(&metrics, utf_8(Format::TEXT_1_0_0), Rules::New);
        let counted = text
            .iter()
            .filter(|one| one.kind == "counter" && !one.name.ends_with("_overflow_total"));
        let counted = counted.flat_map(|one| &one.samples);
        let mut found: Vec<f64> = counted.map(|sample| sample.value).collect();
        let mut expected: Vec<f64> = book.values().map(|count| *count as f64).collect();
        found.sort_by(f64::total_cmp);
        expected.sort_by(f64::total_cmp);
        assert_eq!(found, expected);
        let bodies: Vec<Found> = protobuf::parse(&metrics.encode(utf_8(Format::PROTOBUF)))
            .into_iter()
            .map(|found| found.family)
            .collect();
        assert_eq!(samples(&bodies), samples(&text));
        assert_eq!(described(&bodies), described(&text));
        let open = read(&metrics, utf_8(Format::OPENMETRICS), Rules::OpenMetrics);
        let mut open = samples(&open);
        open.retain(|(name, _), _| !name.ends_with("_created"));
        assert_eq!(open, samples(&text));
        for escaping in [Escaping::Underscores, Escaping::Dots, Escaping::Values] {
            let old = read(&metrics, Format::TEXT.with_escaping(escaping), Rules::Old);
            assert_eq!(samples(&old).len(), samples(&text).len(), "{escaping:?}");
            read(&metrics, Format::OPENMETRICS.with_escaping(escaping), Rules::OpenMetrics);
        }
    }
    assert!(taken > 50 && series > 100, "{taken} with {series} series");
}
