//! Parsers of the formats, written from their specifications alone.

pub(crate) mod protobuf;
pub(crate) mod text;

use std::collections::BTreeMap;

/// A metric as a parser finds it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Family {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) help: String,
    pub(crate) unit: String,
    pub(crate) samples: Vec<Sample>,
    /// The exemplars, each by the index of its sample.
    pub(crate) exemplars: BTreeMap<usize, Exemplar>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Exemplar {
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) value: f64,
    /// In seconds since 1970.
    pub(crate) time: f64,
}

impl Family {
    /// Returns each exemplar with its sample.
    pub(crate) fn exemplars(&self) -> impl Iterator<Item = (&Sample, &Exemplar)> {
        self.exemplars.iter().map(|(index, exemplar)| (&self.samples[*index], exemplar))
    }
}

/// A sample, with the name in its line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) value: f64,
}

impl Sample {
    pub(crate) fn of(name: &str, labels: &[(&str, &str)], value: f64) -> Sample {
        let labels = labels.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        Sample { name: name.to_owned(), labels, value }
    }
}
