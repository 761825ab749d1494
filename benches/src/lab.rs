//! The comparison lab: windrow and its rivals side by side, in one command (`cargo xtask compare`).
//!
//! Its principles: compared figures were measured in the same round, a moment apart, by the same
//! loop ([`rounds`]); no round is picked by its result; and figures that cannot be trusted on the
//! machine at hand are marked in their tables ([`stats`]).
//!
//! One part, one file: [`speed`], [`losses`], [`latency`], [`memory`].
//! What pages show of them: [`summary`], [`ratios`], [`pictures`]. All of them end in [`report`].

// The parts of figures: statistics, the work, its workers, and the process of each.
pub mod progress;
pub mod stats;
pub mod subject;
pub mod work;
pub mod worker;

// The rounds of the other programs.
pub mod entries;

// Where they were made, and how they are shown.
pub mod chart;
pub mod environment;
pub mod report;

// The parts that are measured in rounds, and the rounds.
pub mod rounds;
pub mod speed;

// The parts that are measured once, for windrow's portable strategy, too.
pub mod latency;
pub mod losses;
pub mod memory;
pub mod portable;

// What pages show of them.
pub mod pictures;
pub mod ratios;
pub mod summary;

/// The length of a run of the lab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// A minute or two: enough for a first look.
    Quick,
    /// Some ten minutes.
    Full,
}

impl Effort {
    /// `quick` or `full`, whichever it is.
    pub fn pick<T>(self, quick: T, full: T) -> T {
        match self {
            Effort::Quick => quick,
            Effort::Full => full,
        }
    }
}
