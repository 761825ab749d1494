//! The model of the script `lease.lua`: what an ask does with the engine's memory.

use std::collections::HashMap;

use super::twin::Twin;
use crate::machine::{Answer, Ask, State, Terms};

/// The memory of an engine for one limit.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    /// The id of the engine's run.
    pub(super) run: u64,
    pub(super) epoch: Option<Epoch>,
    /// The version of the limit, and the limit.
    pub(super) agreed: Option<(u64, u64)>,
    pub(super) sheet: Option<Sheet>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Epoch {
    pub(super) run: u64,
    pub(super) born: u64,
    /// The first bucket with grants.
    pub(super) since: u64,
}

/// The hash that expires.
#[derive(Clone, Debug)]
pub(super) struct Sheet {
    pub(super) born: u64,
    pub(super) newest: u64,
    /// The clients that asked, in the newest bucket and in the one before.
    asks: [u64; 2],
    /// Their wishes.
    want: [u64; 2],
    /// The counts, bucket `b` at `b % (buckets + 1)`.
    pub(super) counts: Vec<u64>,
    answers: HashMap<u64, Last>,
    /// The engine's time at which the key expires.
    pub(super) expires: u64,
}

/// The last answer to a client.
#[derive(Clone, Copy, Debug)]
struct Last {
    number: u64,
    granted: u64,
    bucket: u64,
}

impl Ledger {
    /// Returns an engine that has always been there: it is warm.
    pub(super) fn warm() -> Ledger {
        let epoch = Epoch { run: 1, born: 0, since: 0 };
        Ledger { run: 1, epoch: Some(epoch), ..Ledger::default() }
    }

    /// Returns an engine that was started again, without memory.
    pub(super) fn restarted(&self) -> Ledger {
        Ledger { run: self.run + 1, ..Ledger::default() }
    }

    /// Executes an ask of a client, at the engine's time `now`.
    pub(super) fn ask(
        &mut self,
        now: u64,
        client: u64,
        ask: &Ask,
        terms: &Terms,
        twin: Twin,
    ) -> Answer {
        let (length, n) = (terms.length, terms.buckets);
        let keep = n + 4;
        let present = now / length;
        let sheet = self.sheet.take().filter(|sheet| now < sheet.expires);

        // The epoch.
        let is_lost = |epoch: &Epoch| {
            let fell = sheet.as_ref().filter(|s| s.born == epoch.born).map(|s| s.newest);
            epoch.run != self.run
                || epoch.since > present + n + 2
                || fell.is_some_and(|newest| newest > present + n + 2)
        };
        let epoch = self.epoch.filter(|epoch| !is_lost(epoch)).unwrap_or(Epoch {
            run: self.run,
            born: now,
            since: if twin == Twin::NoCold { present } else { present + n + 2 },
        });
        self.epoch = Some(epoch);
        let (version, limit) = match self.agreed {
            Some((version, limit)) if version >= terms.version => (version, limit),
            _ => (terms.version, terms.limit),
        };
        let answer = Answer {
            state: State::Answered,
            granted: 0,
            bucket: present,
            age: 0,
            left: 0,
            limit,
            version,
            clients: 0,
            wait: Some(0),
            born: epoch.born,
        };

        // A repetition, or an ask that was overtaken: nothing is written.
        let is_present = |sheet: &Sheet| match twin {
            Twin::NoToken => sheet.newest >= epoch.since,
            _ => sheet.born == epoch.born,
        };
        let is_void = !sheet.as_ref().is_some_and(is_present);
        let last = sheet.as_ref().and_then(|sheet| sheet.answers.get(&client)).copied();
        let last = last.filter(|last| last.bucket + keep >= present);
        let last = last.filter(|_| !is_void || twin == Twin::OldAnswer);
        let last = last.filter(|_| twin != Twin::NoNumbers);
        let is_cold = present < epoch.since && !(twin == Twin::OldAnswer && last.is_some());
        if let Some(last) = last.filter(|last| last.number >= ask.number && !is_cold) {
            let newest = sheet.as_ref().map_or(0, |sheet| sheet.newest);
            self.sheet = sheet;
            if last.number > ask.number {
                return Answer { state: State::Overtaken, ..answer };
            }
            let latest = if twin == Twin::NoNewest { 0 } else { newest * length };
            let age = now.max(latest).saturating_sub(last.bucket * length);
            return Answer { granted: last.granted, bucket: last.bucket, age, ..answer };
        }
        self.agreed = Some((version, limit));
        if present < epoch.since {
            self.sheet = sheet;
            let wait = Some(epoch.since * length - now);
            return Answer { state: State::Cold, wait, ..answer };
        }

        // The ledger at the present bucket.
        let new = || Sheet::new(epoch.born, present, n);
        let mut sheet = sheet.filter(|_| !is_void).unwrap_or_else(new);
        if twin == Twin::NoToken {
            sheet.born = epoch.born;
        }
        sheet.advance(present);
        let bucket = sheet.newest;
        sheet.answers.retain(|_, last| last.bucket + keep >= bucket);

        // Permits that are given back, and those that are granted.
        let is_of_epoch = match twin {
            Twin::NoToken => ask.back.bucket >= epoch.since,
            _ => ask.back.born == epoch.born,
        };
        if ask.back.count > 0
            && is_of_epoch
            && ask.back.bucket <= bucket
            && ask.back.bucket + n >= bucket
        {
            let count = sheet.count(ask.back.bucket);
            *count = count.saturating_sub(ask.back.count);
        }
        if ask.want > 0 && last.is_none_or(|last| last.bucket != bucket) {
            sheet.asks[0] += 1;
            sheet.want[0] += ask.want;
        }
        let spare = if twin == Twin::NoSpare { *sheet.count(bucket + 1) } else { 0 };
        let mut used = sheet.counts.iter().sum::<u64>() - spare;
        let left = limit.saturating_sub(used);
        let (mut granted, mut wait) = (0, Some(0));
        if ask.want > 0 && left >= ask.need {
            let expected = ask.want.max((sheet.want[1] + ask.want).saturating_sub(sheet.want[0]));
            granted = ask.want.min(left).min(ask.need.max(part(left, ask.want, expected)));
            *sheet.count(bucket) += granted;
        } else if ask.want > 0 && ask.need > limit {
            wait = None;
        } else if ask.want > 0 {
            let mut first = bucket + 1; // at the place of the oldest count, that of `bucket - n`
            while limit.saturating_sub(used) < ask.need {
                used = used.saturating_sub(*sheet.count(first));
                first += 1;
            }
            wait = Some(((first - 1) * length).saturating_sub(now));
        }
        sheet.expires = now + keep * length;
        let last = Last { number: ask.number, granted, bucket };
        sheet.answers.insert(client, last);
        let clients = sheet.asks[0].max(sheet.asks[1]);
        self.sheet = Some(sheet);
        let age = now.saturating_sub(bucket * length);
        Answer { granted, bucket, age, left: left - granted, clients, wait, ..answer }
    }

    /// Returns the number of permits that count, of all buckets that the ledger has.
    pub(super) fn used(&self) -> u64 {
        self.sheet.as_ref().map_or(0, |sheet| sheet.counts.iter().sum())
    }
}

impl Sheet {
    fn new(born: u64, newest: u64, buckets: u64) -> Sheet {
        Sheet {
            born,
            newest,
            asks: [0; 2],
            want: [0; 2],
            counts: vec![0; buckets as usize + 1],
            answers: HashMap::new(),
            expires: 0,
        }
    }

    fn count(&mut self, bucket: u64) -> &mut u64 {
        let places = self.counts.len() as u64;
        &mut self.counts[(bucket % places) as usize]
    }

    fn advance(&mut self, present: u64) {
        if present <= self.newest {
            return; // a clock that fell back stands still
        }
        let places = self.counts.len() as u64;
        for bucket in self.newest + 1..=present.min(self.newest + places) {
            *self.count(bucket) = 0;
        }
        let is_next = present == self.newest + 1;
        self.asks = [0, if is_next { self.asks[0] } else { 0 }];
        self.want = [0, if is_next { self.want[0] } else { 0 }];
        self.newest = present;
    }
}

/// The part of what is left for a wish, as the script computes it.
#[allow(clippy::cast_sign_loss)]
fn part(left: u64, want: u64, expected: u64) -> u64 {
    (left as f64 * want as f64 / expected as f64).floor() as u64
}
