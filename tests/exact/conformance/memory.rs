//! The allocations of reads.

use windrow::Event;

use super::Http;
use testkit::heap::allocations_of;
use testkit::{clock_at, ms, window};

/// Defect: 350 to 900 MB of extra heap, and 60 nodes made by one read. Here reads do not allocate,
/// but for the one list that a snapshot returns.
#[test]
fn b12_reads_do_not_allocate() {
    let clock = clock_at(100_000);
    let window = window::<Http>(ms(100), 60, &clock);
    for _ in 0..200 {
        clock.advance(ms(100));
        window.add(Http::Pass, 1);
        window.record(Http::Rt, 5);
    }
    // Once to warm up: the first reads may close what the writes left open.
    let _ = (window.snapshot(), window.previous());

    let over = window.over(ms(1_000)).expect("a tenth of the interval");
    assert_eq!(allocations_of(|| (window.sum(Http::Pass), window.sum(Http::Rt))), 0, "sum");
    assert_eq!(allocations_of(|| (window.rate(Http::Pass), window.rate(Http::Rt))), 0, "rate");
    assert_eq!(allocations_of(|| (over.sum(Http::Pass), over.sum(Http::Rt))), 0, "over");
    assert_eq!(allocations_of(|| (over.rate(Http::Pass), over.weighted_rate(Http::Rt))), 0, "over");
    for event in [Event::<Http>::from(Http::Pass), Http::Rt.into()] {
        assert_eq!(allocations_of(|| over.stats(event)), 0, "over");
        assert_eq!(allocations_of(|| window.stats(event)), 0, "stats");
        assert_eq!(allocations_of(|| window.lifetime(event)), 0, "lifetime");
        assert_eq!(allocations_of(|| window.late(event)), 0, "late");
    }
    assert_eq!(allocations_of(|| (window.totals(), over.totals(), over.complete())), 0, "totals");
    let now = over.totals().at();
    assert_eq!(allocations_of(|| over.totals_at(now).is_ok()), 0, "totals_at");
    assert_eq!(allocations_of(|| window.previous()), 0, "previous");
    assert_eq!(allocations_of(|| window.snapshot()), 1, "snapshot: its list");
    let snapshot = window.snapshot();
    assert_eq!(allocations_of(|| snapshot.totals()), 0);
}
