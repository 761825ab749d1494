//! The meaning of bytes: one or two for nearly everything, so that a changed byte changes one
//! thing.

use std::time::Duration;

use testkit::oracle::{EVENTS, Geometry, Op, Plan, Time};

/// The thread that makes a step.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Thread {
    This,
    /// One that ends with it.
    New,
}

/// The rest of an input. Behind its end are zeros.
pub(crate) struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    pub(crate) fn new(input: &'a [u8]) -> Bytes<'a> {
        Bytes(input)
    }

    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    fn wide(&mut self) -> u64 {
        u64::from_le_bytes([(); 8].map(|()| self.byte()))
    }

    fn below(&mut self, limit: u8) -> u64 {
        (self.byte() % limit).into()
    }

    /// From `-limit` to `limit`.
    fn around(&mut self, limit: u8) -> i64 {
        self.below(2 * limit + 1).cast_signed() - i64::from(limit)
    }

    /// Returns a window of some kind, the extremes among them.
    pub(crate) fn plan(&mut self) -> Plan {
        let kind = self.byte();
        let ring = self.geometry_of(kind);
        let tiers = (0..kind >> 6).map(|_| {
            let tier = self.byte();
            (u64::from(tier % 5) + 1, u64::from(tier / 5 % 7) + 1)
        });
        Plan::new(ring, &tiers.collect::<Vec<_>>())
    }

    fn geometry(&mut self) -> Geometry {
        let kind = self.byte();
        self.geometry_of(kind)
    }

    fn geometry_of(&mut self, kind: u8) -> Geometry {
        let buckets = self.below(9) + 1;
        let length = match kind % 8 {
            0..5 => self.below(12) + 1,
            5 => u64::from(self.byte()) * 1_000_000 + 1,
            6 => u64::MAX / buckets - self.below(4),
            _ => self.wide().max(1).min(u64::MAX / buckets),
        };
        Geometry { length, buckets }
    }

    /// Returns the time when a history begins.
    pub(crate) fn begin(&mut self) -> u64 {
        match self.below(4) {
            0 | 1 => self.byte().into(),
            2 => u64::MAX - u64::from(self.byte()),
            _ => self.wide(),
        }
    }

    /// Returns the next step; `None` at the end.
    pub(crate) fn step(&mut self) -> Option<(Thread, Op)> {
        if self.0.is_empty() {
            return None;
        }
        let kind = self.byte();
        let thread = if kind & 0xe0 == 0 { Thread::New } else { Thread::This };
        let op = match kind % 16 {
            0..4 => Op::Add(self.event(), self.amount()),
            4..7 => Op::AddAt(self.time(), self.event(), self.amount()),
            7..10 => Op::Set(self.time()),
            10 => Op::Advance(self.duration()),
            11 => Op::Reconfigure(self.geometry()),
            12 => Op::TryReconfigure(self.duration(), self.below(10) as usize),
            13 => match kind >> 4 & 3 {
                0 => Op::Last(self.duration()),
                1 => Op::LastBuckets(self.below(10), self.around(1)),
                _ => Op::LastCoarse(self.tier(), self.below(10), self.around(1)),
            },
            14 if kind & 0x10 == 0 => Op::Drain,
            14 => Op::Clear,
            _ => Op::Renew(self.plan()),
        };
        Some((thread, op))
    }

    fn tier(&mut self) -> usize {
        self.below(4) as usize
    }

    fn event(&mut self) -> usize {
        self.below(EVENTS.len() as u8) as usize
    }

    /// Small mostly, sometimes so large that sums wrap.
    fn amount(&mut self) -> u64 {
        match self.byte() {
            255 => self.wide(),
            less @ 250.. => u64::MAX - u64::from(254 - less),
            small => small.into(),
        }
    }

    fn time(&mut self) -> Time {
        match self.below(16) {
            0..5 => Time::Buckets(self.around(4), self.byte().into()),
            5 | 6 => Time::Coarse(self.tier(), self.around(4), self.byte().into()),
            7..11 => Time::FromNewest(self.around(10), self.byte().into()),
            11 | 12 => Time::Intervals(self.around(2), self.around(2)),
            13 => Time::Early(self.byte().into()),
            14 => Time::Final(self.byte().into()),
            _ => Time::Any(self.wide()),
        }
    }

    /// Returns a span that may be too short or too long for anything.
    fn duration(&mut self) -> Duration {
        match self.below(8) {
            0..5 => Duration::from_nanos(self.byte().into()),
            5 => Duration::from_nanos(self.wide()),
            6 => Duration::from_nanos(u64::MAX) + Duration::from_nanos(1),
            _ => Duration::MAX,
        }
    }
}
