//! The strategies that the longer runs go through: those of the tests (`tests/kit/src/alone.rs`).

/// The strategy in words, and the variables that select it.
pub(crate) type Way = (&'static str, [(&'static str, &'static str); 2]);

const fn way(name: &'static str, strategy: &'static str, leases: &'static str) -> Way {
    (name, [("WINDROW_STRATEGY", strategy), ("WINDROW_LEASES", leases)])
}

/// The best that works here, then those of machines without restartable sequences.
pub(crate) const WAYS: [Way; 4] = [
    way("the strategy found", "", ""),
    way("portable", "portable", "on"),
    way("portable with fences", "fenced", "off"),
    way("portable by epochs", "epochs", "off"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_go_through_the_same_ways() {
        let theirs = include_str!("../../tests/kit/src/alone.rs");
        let ways = WAYS
            .map(|(_, [(_, strategy), (_, leases)])| format!("way(\"{strategy}\", \"{leases}\")"));
        assert!(theirs.contains(&ways.join(", ")), "{ways:?}");
    }
}
