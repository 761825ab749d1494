//! Bytes become a history of a window, and each answer in it must be the oracle's.
//!
//! History, oracle and comparison are those of `tests/oracle`, by `testkit`: there a generator
//! proposes histories, here the fuzzer, from inputs that reached new code. Steps are made by this
//! thread or by one that lives for that step alone, so that rows change; one after the other, so
//! that every answer has one right value.

#![no_main]

use libfuzzer_sys::fuzz_target;

mod bytes;

use bytes::{Bytes, Thread};
use testkit::oracle::Pair;

fuzz_target!(|input: &[u8]| {
    let mut bytes = Bytes::new(input);
    let (plan, begin) = (bytes.plan(), bytes.begin());
    let mut pair = Pair::new(&plan, begin);
    let mut history = Vec::new();
    while let Some((thread, op)) = bytes.step() {
        let step = history.len();
        history.push((thread, op));
        let (thread, op) = &history[step];
        let outcome = match thread {
            Thread::This => pair.apply(op),
            Thread::New => std::thread::scope(|scope| {
                scope.spawn(|| pair.apply(op)).join().expect("no step panics")
            }),
        };
        if let Err(error) = outcome.and_then(|()| pair.compare(step)) {
            panic!("{error}\nwhen {plan:?} begins at {begin}, after {history:#?}");
        }
    }
});
