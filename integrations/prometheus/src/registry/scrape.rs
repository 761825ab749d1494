//! Writing a source: part by part, because the samples of a name stand together.

use std::fmt;

use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};

use super::show::{Kept, Visited, metric_type, write, write_number};
use crate::described::{Described, Named};

/// Writes the description of a metric.
pub(crate) fn descriptor<'e>(
    named: &'e Named,
    encoder: &'e mut DescriptorEncoder<'_>,
) -> Result<MetricEncoder<'e>, fmt::Error> {
    encoder.encode_descriptor(&named.name, &named.help, None, metric_type(named.kind))
}

/// Writes all samples of a source.
pub(crate) fn scrape(described: &Described, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let Described { source, outline, parts, uses } = described;
    let is_labelled = !outline.labels.is_empty();
    if let [shown] = &parts[..] {
        // A series is read, written and released while it is in the processor's cache.
        let number = shown.of_one_number(outline.form);
        let mut encoder = descriptor(&shown.named, encoder)?;
        let mut written = Ok(());
        source.visit(&mut |series| {
            let (metric, pairs) = (series.metric(), Visited { series, is_labelled });
            if written.is_err() {
                return;
            }
            if let Some(buckets) = number {
                let Some(value) = metric.number() else { return };
                written = write_number(shown.number(value, buckets), &pairs, &mut encoder);
            } else {
                written = write(&metric.read(), shown, &pairs, &mut encoder);
            }
        });
        written?;
    } else {
        // A series is read once: its samples are of one moment.
        let mut all = Vec::new();
        source.visit(&mut |series| all.push((Kept::of(series), series.metric().read())));
        for shown in parts {
            let mut encoder = descriptor(&shown.named, encoder)?;
            for (pairs, reading) in &all {
                write(reading, shown, pairs, &mut encoder)?;
            }
        }
    }
    if let Some(named) = uses {
        let mut encoder = descriptor(named, encoder)?;
        if let Some(refused) = source.refused() {
            encoder.encode_counter::<NoLabelSet, _, u64>(&refused, None)?;
        }
    }
    Ok(())
}
