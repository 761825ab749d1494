//! governor's direct limiters.

use std::hint::black_box;
use std::num::NonZeroU32;

use windrow::Clock;
use windrow::clock::Coarse;

use crate::contender::{COARSE, Call, Contender, OWN, OWN_COARSE, PORTED};

/// A clock for one copy of the crate: windrow's, which shows some milliseconds at a time.
macro_rules! coarse {
    ($governor:ident) => {{
        use $governor::clock::Clock as Theirs;
        use $governor::nanos::Nanos;

        struct Stepping(Coarse);

        impl Theirs for Stepping {
            type Instant = Nanos;

            fn now(&self) -> Nanos {
                Nanos::new(self.0.now().as_nanos())
            }
        }

        Stepping(Coarse::default())
    }};
}

/// The calls of a program on limiters, for one copy of the crate and each clock that `$clock`
/// makes.
macro_rules! uses {
    ($governor:ident, $whose:expr, $clock:expr) => {{
        use $governor::{Quota, RateLimiter};

        // One each nanosecond, which is more than are asked for; and one in an hour.
        let all = RateLimiter::direct_with_clock(Quota::per_second(NonZeroU32::MAX), $clock);
        let [none, told] = [0; 2].map(|_| {
            let none = RateLimiter::direct_with_clock(Quota::per_hour(NonZeroU32::MIN), $clock);
            assert!(none.check().is_ok());
            none
        });
        [
            Contender::new(
                "governor: a check, granted",
                $whose,
                Call(move || assert!(all.check().is_ok(), "there is enough")),
            ),
            Contender::new(
                "governor: a check, refused",
                $whose,
                Call(move || assert!(none.check().is_err(), "there is nothing")),
            ),
            Contender::new(
                "governor: a check, refused, and until when",
                $whose,
                Call(move || {
                    let refused = told.check().expect_err("there is nothing");
                    black_box(refused.earliest_possible());
                }),
            ),
        ]
    }};
}

pub(crate) fn contenders() -> Vec<Contender> {
    let own = uses!(own_governor, OWN, own_governor::clock::DefaultClock::default());
    let ported = uses!(ported_governor, PORTED, ported_governor::clock::DefaultClock::default());
    let own_coarse = uses!(own_governor, OWN_COARSE, coarse!(own_governor));
    let coarse = uses!(ported_governor, COARSE, coarse!(ported_governor));
    let each = own.into_iter().zip(ported).zip(own_coarse).zip(coarse);
    each.flat_map(|(((own, ported), own_coarse), coarse)| [own, ported, own_coarse, coarse])
        .collect()
}
