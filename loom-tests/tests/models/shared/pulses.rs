//! Pulses: the quick clock is behind the precise one by less than a beat, though the real time is
//! set back.
//!
//! Explores a reader against a thread that takes a pulse, and against two of them; the real time is
//! set back once.

use windrow_loom_tests::Model;
use windrow_loom_tests::engine::{sync::Arc, thread, turn};

use super::pulse::{Pulse, margin};
use crate::coarse::{precise, set};

/// A pulse at the precise time 100, when the coarse clock shows 1000.
fn pulse() -> Arc<Pulse> {
    let pulse = Pulse::stopped();
    set(100, 1_000);
    assert_eq!(pulse.beat(precise), precise());
    Arc::new(pulse)
}

/// Reads the quick clock, which may be behind by less than the margin.
fn read(pulse: &Pulse) {
    turn();
    let before = precise();
    if let Some(quick) = pulse.quick() {
        let margin = margin().expect("there is a coarse clock") * 1_000;
        assert!(quick + margin > before, "at {before} it shows {quick}");
    }
}

fn spawn(pulse: &Arc<Pulse>, body: impl FnOnce(&Pulse) + Send + 'static) -> thread::JoinHandle<()> {
    let pulse = Arc::clone(pulse);
    thread::spawn(move || body(&pulse))
}

#[test]
fn read_against_a_pulse() {
    Model::new("shared::pulses::read_against_a_pulse").explore(|| {
        let pulse = pulse();
        let other = spawn(&pulse, |pulse| {
            set(101, 950);
            pulse.beat(precise);
        });
        read(&pulse);
        read(&pulse);
        other.join().unwrap();
        read(&pulse);
    });
}

/// One of two threads that take pulses may have read the clocks before they were set.
#[test]
fn pulse_against_pulse() {
    Model::new("shared::pulses::pulse_against_pulse").explore(|| {
        let pulse = pulse();
        let other = spawn(&pulse, |pulse| {
            pulse.beat(precise);
        });
        turn();
        set(101, 950);
        pulse.beat(precise);
        read(&pulse);
        other.join().unwrap();
        read(&pulse);
    });
}

/// A thread stops the clock while another one takes a pulse: it stands, or shows a time that is
/// right.
#[test]
fn stop_against_a_pulse() {
    Model::new("shared::pulses::stop_against_a_pulse").explore(|| {
        let pulse = pulse();
        let other = spawn(&pulse, |pulse| {
            set(101, 950);
            pulse.beat(precise);
        });
        turn();
        pulse.stop();
        read(&pulse);
        other.join().unwrap();
        read(&pulse);
    });
}
