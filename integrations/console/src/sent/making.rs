//! The making of the answers to all requests that wait, of one reading.

use std::collections::HashMap;
use std::sync::Arc;

use windrow::export::Series;

use super::answer::{Answer, Asked};
use super::snapshot::{self, Snapshot};
use super::text::Text;
use super::walk::{Read, Walk};
use crate::read::audit::{Checks, Turn, audit};
use crate::read::ledger::Ledger;
use crate::shown::key::write_key;
use crate::shown::registry::Shown;
use crate::unusual::keeper::Keeper;

/// Makes the answers to these questions. `turn` has the series to audit.
pub(crate) fn make(
    shown: &Shown,
    keeper: &Arc<Keeper>,
    asked: Vec<Asked>,
    turn: &mut Turn,
) -> HashMap<Asked, Answer> {
    let mut made: HashMap<Asked, Answer> =
        asked.into_iter().map(|asked| (asked, Answer::NoSeries)).collect();
    let mut text = made.contains_key(&Asked::Text).then(Text::default);
    let mut snapshot = made.contains_key(&Asked::Snapshot).then(Snapshot::default);
    let mut checks = Checks::default();
    let is_whole = text.is_some() || snapshot.is_some();
    let mut walk = is_whole.then(|| Walk::begin(shown, keeper));
    for (index, metric) in shown.metrics.iter().enumerate() {
        let is_asked =
            |asked: &Asked| matches!(asked, Asked::Series(key) if key.starts_with(&metric.name));
        let has_series = made.keys().any(is_asked);
        let mut one = |key: &str, series: &dyn Series| {
            if has_series && let Some(one) = made.get_mut(&Asked::Series(key.to_owned())) {
                *one = Answer::Made(snapshot::one(shown, metric, key, series).into());
            }
        };
        if let Some(walk) = &mut walk {
            walk.metric(index, |read| {
                let Read { key, series, .. } = *read;
                if turn.places().contains(&read.place) {
                    checks.note(key, audit(read.metric, &mut Ledger::default()));
                }
                if let Some(text) = &mut text {
                    text.series(shown, metric, read);
                }
                if let Some(snapshot) = &mut snapshot {
                    snapshot.series(metric, key, series);
                }
                one(key, series);
            });
        } else if has_series {
            let mut key = String::new();
            metric.source.visit(&mut |series| {
                write_key(&mut key, &metric.name, series);
                one(&key, series);
            });
        }
        if let Some(text) = &mut text {
            text.metric(metric);
        }
        if let Some(snapshot) = &mut snapshot {
            snapshot.metric(shown, metric);
        }
    }
    if let Some(walk) = walk {
        let (unusual, walked) = walk.end();
        turn.end(walked);
        if let Some(text) = text {
            let text = text.finish(shown, &checks, &unusual);
            made.insert(Asked::Text, Answer::Made(text.into()));
        }
        if let Some(snapshot) = snapshot {
            let snapshot = snapshot.finish(shown, &checks, &unusual);
            made.insert(Asked::Snapshot, Answer::Made(snapshot.into()));
        }
    }
    for (asked, answer) in &mut made {
        if let Asked::Metrics(format, prefers_gzip) = asked {
            let scrape = shown.scraped.respond_in(*format, *prefers_gzip);
            *answer = Answer::Scrape(scrape.body.into(), scrape.content_encoding);
        }
    }
    made
}
