//! A call that finds a permit in a ration, beside one of a `RationedGate`, in turns.

use std::error::Error;
use std::hint::black_box;
use std::time::Duration;

use windrow::{AtMost, Gate};
use windrow_benches::harness::{keep_to_core, time};
use windrow_benches::lab::stats::Spread;
use windrow_benches::terminal::print_table;
use windrow_redis::SharedGate;

use super::engine::Engine;

const CALLS: u32 = 20_000;
const ROUNDS: usize = 2_000;

pub(super) fn run() -> Result<(), Box<dyn Error>> {
    let engine = Engine::start()?;
    let shared = SharedGate::builder(AtMost(100_000_000)).connect(&engine.url())?;
    let rationed = Gate::builder(1_000_000_000).interval(Duration::from_secs(1)).buckets(10);
    let rationed = rationed.build_rationed(100_000)?;
    keep_to_core(0); // not the engine, nor the thread that asks
    let each = |call: &dyn Fn() -> bool| {
        let mut admitted = 0;
        let spent = time(|| admitted = (0..CALLS).filter(|_| black_box(call())).count());
        (admitted == CALLS as usize).then(|| spent.as_nanos() as f64 / f64::from(CALLS))
    };
    let mut figures = Vec::new();
    for _ in 0..ROUNDS {
        let theirs = each(&|| rationed.try_admit(1));
        // A round in which a ration had ended measures something else.
        if let (Some(theirs), Some(ours)) = (theirs, each(&|| shared.try_admit(1))) {
            figures.push([ours / theirs, ours, theirs]);
        }
    }
    if figures.is_empty() {
        return Err("no round found all its permits".into());
    }
    let of = |column: usize| Spread::of(figures.iter().map(|figure| figure[column]));
    let case = "`SharedGate::try_admit` / `RationedGate::try_admit`".to_owned();
    let row = vec![case, of(0).show(), of(1).show_median(), of(2).show_median()];
    print_table(&["a permit from a ration", "ratio", "ns", "its ns"], &[row]);
    println!("{} of {ROUNDS} rounds", figures.len());
    Ok(())
}
