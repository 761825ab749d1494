//! The settings that the builders of shared limits have in common.

use std::sync::Arc;
use std::time::Duration;

use windrow::AtMost;

use crate::absence::Absence;
use crate::bounds::terms;
use crate::engine::Engine;
use crate::error::SharedError;
use crate::limit::{Limit, gate};
use crate::machine::Terms;
use crate::names::{Kind, Tag};

/// The settings of a limit.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) limit: AtMost,
    pub(crate) interval: Duration,
    pub(crate) buckets: usize,
    pub(crate) name: String,
    pub(crate) absence: Absence,
}

/// The checked settings, which all keys of a limit have in common.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) terms: Terms,
    name: Arc<str>,
    tag: Tag,
    absence: Absence,
}

impl Settings {
    pub(crate) fn new(limit: AtMost) -> Settings {
        Settings {
            limit,
            interval: Duration::from_secs(1),
            buckets: 10,
            name: "windrow".into(),
            absence: Absence::default(),
        }
    }

    pub(crate) fn check(&self, kind: Kind) -> Result<Checked, SharedError> {
        let terms = terms(self.limit, self.interval, self.buckets)?;
        if let Absence::Share(share) = self.absence {
            let made = gate(share.0, terms.length, terms.buckets);
            made.map_err(|error| SharedError::Absence { reason: error.to_string() })?;
        }
        let tag = Tag::of(&self.name, kind)?;
        Ok(Checked { terms, name: self.name.as_str().into(), tag, absence: self.absence })
    }
}

impl Checked {
    /// Returns this process's part of the limit of a key, on these terms.
    pub(crate) fn limit(&self, engine: &Engine, key: &[u8], terms: Terms) -> Arc<Limit> {
        let client = engine.hub().identities.next();
        let keys = self.tag.keys(key);
        Arc::new(Limit::new(self.name.clone(), terms, client, keys, self.absence))
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}
