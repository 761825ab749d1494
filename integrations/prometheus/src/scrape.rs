//! Writing a source: part by part, because the samples of a name stand together.

use std::fmt;

use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use windrow::export::{Part, Source};

use crate::buckets::Buckets;
use crate::show::{Kept, Visited, write};

/// A part with its full name and help.
#[derive(Debug)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) help: String,
    pub(crate) kind: MetricType,
}

impl Named {
    pub(crate) fn descriptor<'e>(
        &'e self,
        encoder: &'e mut DescriptorEncoder<'_>,
    ) -> Result<MetricEncoder<'e>, fmt::Error> {
        encoder.encode_descriptor(&self.name, &self.help, None, self.kind)
    }
}

/// Writes all samples of a source.
///
/// `named` are its parts; behind them stands, where there may be an overflow series, the number of
/// its uses.
pub(crate) fn scrape(
    source: &dyn Source,
    parts: &[&Part],
    named: &[Named],
    buckets: &Buckets,
    encoder: &mut DescriptorEncoder<'_>,
) -> fmt::Result {
    let (own, overflow) = named.split_at(parts.len());
    if let ([part], [only]) = (parts, own) {
        // A series is read, written and released while it is in the processor's cache.
        let mut encoder = only.descriptor(encoder)?;
        let mut written = Ok(());
        source.visit(&mut |series| {
            if written.is_ok() {
                let pairs = Visited { series };
                written = write(&series.metric().read(), part, &pairs, buckets, &mut encoder);
            }
        });
        written?;
    } else {
        // A series is read once: its samples are of one moment.
        let mut all = Vec::new();
        source.visit(&mut |series| all.push((Kept::of(series), series.metric().read())));
        for (part, named) in parts.iter().zip(own) {
            let mut encoder = named.descriptor(encoder)?;
            for (pairs, reading) in &all {
                write(reading, part, pairs, buckets, &mut encoder)?;
            }
        }
    }
    for named in overflow {
        let mut encoder = named.descriptor(encoder)?;
        if let Some(refused) = source.refused() {
            encoder.encode_counter::<NoLabelSet, _, u64>(&refused, None)?;
        }
    }
    Ok(())
}
