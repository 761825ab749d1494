//! Tests of the quick clock, beside the system's precise one.

use std::cell::Cell;
use std::time::Duration;

use crate::pulse::{Pulse, margin};

fn precise() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec of this call.
    unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &raw mut time) };
    (time.tv_sec * 1_000_000_000 + time.tv_nsec).cast_unsigned()
}

#[test]
fn the_quick_clock_is_behind_by_less_than_its_margin() {
    let pulse = Pulse::stopped();
    assert_eq!(pulse.quick(), None);
    let margin = margin().unwrap() * 1_000;
    let (mut quick, mut beats) = (0, 0);
    while quick < 10_000 {
        let before = precise();
        if let Some(now) = pulse.quick() {
            assert!(now + margin > before, "{now} is behind {before}");
            quick += 1;
        } else {
            pulse.beat(precise);
            beats += 1;
        }
    }
    println!("{quick} readings, {beats} beats");
    std::thread::sleep(Duration::from_nanos(margin + 20_000_000)); // a beat is less
    assert_eq!(pulse.quick(), None);
    pulse.beat(precise);
    pulse.stop();
    assert_eq!(pulse.quick(), None);
}

#[test]
fn a_pulse_within_a_pulse_is_not_kept() {
    let pulse = Pulse::stopped();
    let inner = Cell::new(0);
    let now = pulse.beat(|| {
        if inner.get() == 0 {
            inner.set(pulse.beat(|| 7));
        }
        1 << 50
    });
    assert_eq!((now, inner.get()), (1 << 50, 7));
    assert!(pulse.quick().is_none_or(|quick| quick >= 1 << 50));
}
