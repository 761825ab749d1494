//! A call that finds a permit in a ration, beside one of a `RationedGate`, in turns.

use std::error::Error;
use std::hint::black_box;
use std::time::Duration;

use windrow::{AtMost, Gate};
use windrow_benches::harness::{keep_to_core, time};
use windrow_benches::lab::entries::{Entry, measure, print_rows};
use windrow_benches::lab::stats::Sample;
use windrow_redis::SharedGate;

use super::engine::Engine;

const CALLS: u64 = 20_000;
const ROUNDS: usize = 2_000;

pub(super) fn run() -> Result<(), Box<dyn Error>> {
    let engine = Engine::start()?;
    let shared = SharedGate::builder(AtMost(100_000_000)).connect(&engine.url())?;
    let rationed = Gate::builder(1_000_000_000).interval(Duration::from_secs(1)).buckets(10);
    let rationed = rationed.build_rationed(100_000)?;
    keep_to_core(0); // not the engine, nor the thread that asks
    let each = |call: &dyn Fn() -> bool| {
        let mut admitted = 0;
        let sample = time(|| admitted = (0..CALLS).filter(|_| black_box(call())).count() as u64);
        // A round in which a ration had ended measures something else, and does not count.
        let running = if admitted == CALLS { sample.running } else { 0.0 };
        Sample { running, ..sample }.each(CALLS)
    };
    let mut permits = [
        Entry::new("`RationedGate`").column(|| each(&|| rationed.try_admit(1))),
        Entry::new("`SharedGate`").column(|| each(&|| shared.try_admit(1))),
    ];
    measure("permits", ROUNDS, &mut permits);
    print_rows(&["a permit from a ration", "ns", "ratio"], &permits, |permit| {
        vec![permit.cost(0).show(), permit.ratio(0, &permits[0], 0).show()]
    });
    Ok(())
}
