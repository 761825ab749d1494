//! tower's retry budget.

use std::convert::Infallible;
use std::future::{self, Future, Ready};
use std::hint::black_box;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use windrow::clock::Coarse;

use crate::contender::{COARSE, Call, Contender, OWN, PORTED};

/// The time for which a deposit is remembered, and the share of deposits that may be retries:
/// tower's defaults.
const TTL: Duration = Duration::from_secs(10);
/// The shortest that there can be: an outage that is measured is long beside a tenth of it.
const SHORT: Duration = Duration::from_secs(1);
const SHARE: f32 = 0.2;
/// Retries a second, beside those: enough that each withdrawal is granted, or zero.
const ENOUGH: u32 = i32::MAX as u32 - 1;
const NONE: u32 = 0;

/// The calls of a program on a budget made by `$new`, for one copy of the crate.
macro_rules! uses {
    ($tower:ident, $whose:expr, $new:expr) => {{
        use $tower::retry::budget::Budget;
        use $tower::retry::{Policy, Retry};
        use $tower::{Service, service_fn};

        /// Pays in for each success, and asks before each retry.
        struct Paying<B>(Arc<B>);

        impl<B> Clone for Paying<B> {
            fn clone(&self) -> Self {
                Paying(Arc::clone(&self.0))
            }
        }

        impl<B: Budget> Policy<u64, u64, Infallible> for Paying<B> {
            type Future = Ready<()>;

            fn retry(
                &mut self,
                _request: &mut u64,
                result: &mut Result<u64, Infallible>,
            ) -> Option<Ready<()>> {
                match result {
                    Ok(_) => {
                        self.0.deposit();
                        None
                    }
                    Err(_) => self.0.withdraw().then(|| future::ready(())),
                }
            }

            fn clone_request(&mut self, request: &u64) -> Option<u64> {
                Some(*request)
            }
        }

        let [paid, granted, called] = [NONE, ENOUGH, NONE].map(|reserve| $new(TTL, reserve));
        let refused = $new(SHORT, NONE);
        let retry = Retry::new(Paying(Arc::new(called)), service_fn(|n: u64| future::ready(Ok(n))));
        let call = move || {
            let future = pin!(retry.clone().call(black_box(1)));
            let answer = future.poll(&mut Context::from_waker(Waker::noop()));
            assert!(matches!(answer, Poll::Ready(Ok(1))), "it does not wait");
        };
        [
            Contender::new("tower: a deposit", $whose, Call(move || paid.deposit())),
            Contender::new(
                "tower: a withdrawal, granted",
                $whose,
                Call(move || assert!(granted.withdraw(), "there is enough")),
            ),
            Contender::new(
                "tower: a withdrawal, refused in an outage",
                $whose,
                Call(move || assert!(!refused.withdraw(), "there is nothing")),
            ),
            Contender::new("tower: a call through Retry", $whose, Call(call)),
        ]
    }};
}

pub(crate) fn contenders() -> Vec<Contender> {
    use own_tower::retry::budget::TpsBudget as Own;
    use ported_tower::retry::budget::TpsBudget as Ported;

    let own = uses!(own_tower, OWN, |ttl, reserve| Own::new(ttl, reserve, SHARE));
    let ported = uses!(ported_tower, PORTED, |ttl, reserve| Ported::new(ttl, reserve, SHARE));
    let coarse = uses!(ported_tower, COARSE, |ttl, reserve| {
        Ported::with_clock(Coarse::default(), ttl, reserve, SHARE)
    });
    let each = own.into_iter().zip(ported).zip(coarse);
    each.flat_map(|((own, ported), coarse)| [own, ported, coarse]).collect()
}
