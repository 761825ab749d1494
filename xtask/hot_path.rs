//! Callers of the hottest functions, which `cargo xtask assembly` compiles and reads.

use windrow::clock::{Coarse, Manual, Precise, Ticker};
use windrow::{Counter, SlidingWindow, gate::RationedGate};

windrow::events! { pub enum Http { Pass: Count, Rt: Value } }

windrow::events! { pub enum Queue { Depth: Maximum } }

windrow::events! { pub enum Answer { Rt: Histogram } }

/// A caller's add, as it is inlined there.
#[unsafe(no_mangle)]
pub fn add_one(counter: &Counter) {
    counter.add(1);
}

/// Adds to a window, with the cheapest clock.
#[unsafe(no_mangle)]
pub fn window_add(window: &SlidingWindow<Http, Ticker>) {
    window.add(Http::Pass, 1);
}

/// And with each of the others.
#[unsafe(no_mangle)]
pub fn window_add_manual(window: &SlidingWindow<Http, Manual>) {
    window.add(Http::Pass, 1);
}

#[unsafe(no_mangle)]
pub fn window_add_coarse(window: &SlidingWindow<Http, Coarse>) {
    window.add(Http::Pass, 1);
}

#[unsafe(no_mangle)]
pub fn window_add_precise(window: &SlidingWindow<Http, Precise>) {
    window.add(Http::Pass, 1);
}

/// A record.
#[unsafe(no_mangle)]
pub fn window_record(window: &SlidingWindow<Http, Ticker>, value: u64) {
    window.record(Http::Rt, value);
}

/// A record of which the greatest is kept.
#[unsafe(no_mangle)]
pub fn window_raise(window: &SlidingWindow<Queue, Ticker>, value: u64) {
    window.record(Queue::Depth, value);
}

/// A record of a histogram, of a value in the scale's range: otherwise the shortest path would be
/// that of a value below it.
#[unsafe(no_mangle)]
pub fn window_place(window: &SlidingWindow<Answer, Ticker>, value: u64) {
    window.record(Answer::Rt, value & 0xffff_ffff | 0x400);
}

/// A grant, out of a ration.
#[unsafe(no_mangle)]
pub fn ration_take(gate: &RationedGate<Ticker>) -> bool {
    gate.try_admit(1)
}

fn main() {}
