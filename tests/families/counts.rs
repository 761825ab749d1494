//! How many series there are, while they come and go.

use std::sync::atomic::{AtomicBool, Ordering};

use testkit::race;
use windrow::{Counter, Family};

use crate::{Method, Switch, Text};

/// A series of enums comes back by its use while another thread removes it.
#[test]
fn a_family_never_has_more_series_than_there_may_be() {
    let switches: Family<Switch, Counter> = Family::new();
    let texts: Family<Text, Counter> = Family::new().limit(2);
    let on = Switch { method: Method::Get, on: true };
    let done = AtomicBool::new(false);
    race(3, |thread| {
        for number in 0..60_000_u32 {
            match thread {
                0 => {
                    switches.with(on).increment();
                    texts.with(Text { text: &(number % 5).to_string() }).increment();
                }
                1 => {
                    switches.remove(on);
                    texts.remove(Text { text: &(number % 5).to_string() });
                }
                _ => {
                    let (some, most) = (switches.len(), switches.max_series());
                    assert!(some <= most && texts.len() <= 2, "{some} of {most}");
                    assert!(switches.iter().len() <= 1);
                }
            }
            if done.load(Ordering::Relaxed) {
                break;
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    switches.remove(on);
    assert!(switches.is_empty());
}
