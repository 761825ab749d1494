//! Times of a call that finds a permit, printed and not judged:
//! `cargo test --release -p windrow-redis --test engine figures -- --ignored --nocapture`.

use std::hint::black_box;
use std::time::{Duration, Instant};

use windrow::{AtMost, Gate};
use windrow_redis::SharedGate;

use crate::server::engine;
use crate::shared::block_on;

const CALLS: u32 = 20_000;

#[test]
#[ignore = "it prints times"]
fn a_call_that_finds_a_permit_beside_a_rationed_gate() {
    let Some(server) = engine() else { return };
    let second = Duration::from_secs(1);
    let shared = SharedGate::builder(AtMost(100_000_000)).interval(second).buckets(10);
    let shared = shared.connect(&server.url()).unwrap();
    let rationed = Gate::builder(1_000_000_000).interval(second).buckets(10);
    let rationed = rationed.build_rationed(100_000).unwrap();
    let mut best = [f64::MAX; 3];
    let mut time = |place: usize, call: &dyn Fn() -> bool| {
        let begun = Instant::now();
        let admitted = (0..CALLS).filter(|_| black_box(call())).count();
        let took = begun.elapsed().as_nanos() as f64 / f64::from(CALLS);
        if admitted == CALLS as usize {
            best[place] = best[place].min(took);
        }
    };
    for _ in 0..2_000 {
        time(0, &|| rationed.try_admit(1));
        time(1, &|| shared.try_admit(1));
        time(2, &|| block_on(shared.admit(1, Duration::ZERO)).is_granted());
    }
    let [gate, call, future] = best;
    println!(
        "RationedGate::try_admit {gate:.1} ns, SharedGate::try_admit {call:.1} ns ({:.2}), a \
         future {future:.1} ns",
        call / gate,
    );
}
