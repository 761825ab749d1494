//! Callers of the hottest functions, which `cargo xtask assembly` compiles and reads.

use windrow::clock::{Coarse, Manual, Precise, Ticker};
use windrow::{Clock, Counter, Events, Gate, SlidingWindow, gate::RationedGate};

windrow::events! { pub enum Http { Pass: Count, Rt: Value } }

windrow::events! { pub enum Queue { Depth: Maximum } }

windrow::events! { pub enum Answer { Rt: Histogram } }

/// A caller's add, as it is inlined there.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn add_one(counter: &Counter) {
    counter.add(1);
}

/// Adds to a window, with the cheapest clock.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn window_add(window: &SlidingWindow<Http, Ticker>) {
    window.add(Http::Pass, 1);
}

/// And with each of the others.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn window_add_manual(window: &SlidingWindow<Http, Manual>) {
    window.add(Http::Pass, 1);
}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn window_add_coarse(window: &SlidingWindow<Http, Coarse>) {
    window.add(Http::Pass, 1);
}

#[unsafe(no_mangle)]
#[inline(never)]
pub fn window_add_precise(window: &SlidingWindow<Http, Precise>) {
    window.add(Http::Pass, 1);
}

/// A record.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn window_record(window: &SlidingWindow<Http, Ticker>, value: u64) {
    window.record(Http::Rt, value);
}

/// A record of which the greatest is kept.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn window_raise(window: &SlidingWindow<Queue, Ticker>, value: u64) {
    window.record(Queue::Depth, value);
}

/// A record of a histogram, of a value in the scale's range: otherwise the shortest path would be
/// that of a value below it.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn window_place(window: &SlidingWindow<Answer, Ticker>, value: u64) {
    window.record(Answer::Rt, value & 0xffff_ffff | 0x400);
}

/// A grant, out of a ration.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn ration_take(gate: &RationedGate<Ticker>) -> bool {
    gate.try_admit(1)
}

fn main() {
    add_one(&Counter::new());
    let started = Ticker::start(std::time::Duration::from_millis(1));
    let gate = Gate::builder(1_000_000).clock(started.clone());
    assert!(ration_take(&gate.build_rationed(1_000).expect("sound")));
    window_raise(&window(started.clone()), 1);
    window_place(&window(started.clone()), 1);
    let ticker = window(started);
    window_add(&ticker);
    window_record(&ticker, 1);
    window_add_manual(&window(Manual::default()));
    window_add_coarse(&window(Coarse::default()));
    window_add_precise(&window(Precise::default()));
}

fn window<E: Events, C: Clock>(clock: C) -> SlidingWindow<E, C> {
    SlidingWindow::builder().clock(clock).build().expect("sound")
}
