//! An ignored answer limits nothing, so the compiler warns of it. Each expectation that is not met
//! is an error here: then that call can be ignored in silence.

#![deny(unfulfilled_lint_expectations)]

use std::time::Duration;

use windrow::{Gate, gate::Admission};

#[test]
fn the_compiler_warns_of_each_ignored_answer() {
    let gate = Gate::builder(100).build().unwrap();
    let rationed = Gate::builder(100).build_rationed(10).unwrap();
    #[expect(unused_must_use)]
    {
        gate.try_admit(1);
    }
    #[expect(unused_must_use)]
    {
        gate.admit(1, Duration::ZERO);
    }
    #[expect(unused_must_use)]
    {
        gate.admit(1, Duration::ZERO).is_granted();
    }
    #[expect(unused_must_use)]
    {
        rationed.try_admit(1);
    }
    #[expect(unused_must_use)]
    {
        rationed.admit(1, Duration::ZERO);
    }
    #[expect(unused_must_use)]
    {
        gate.retire();
    }
    assert_eq!((gate.granted(), rationed.gate().granted() - rationed.unused()), (3, 2));
}

/// A match of the three answers needs no arm for others.
#[test]
fn there_are_three_answers() {
    let gate = Gate::builder(1).build().unwrap();
    let wait = match gate.admit(1, Duration::ZERO) {
        Admission::Now => Some(Duration::ZERO),
        Admission::After(wait) => Some(wait),
        Admission::Refused { retry_after } => retry_after,
    };
    assert_eq!(wait, Some(Duration::ZERO));
}
