//! The pace that a request asks.

use windrow::{Clock, Pace, Paces};

/// A pace in a static, which a [`PaceLayer`](crate::PaceLayer) asks: `&'static Pace` or `&'static
/// Paces`, on any clock.
///
/// The trait is sealed.
///
/// ```
/// use std::sync::LazyLock;
/// use std::time::Duration;
/// use windrow::{AtMost, Pace, Paces};
///
/// static EVEN: Pace = Pace::of(Duration::from_millis(20), AtMost(10));
/// static BOTH: LazyLock<Paces> = LazyLock::new(|| {
///     let (second, minute) = (Duration::from_secs(1), Duration::from_secs(60));
///     Paces::builder().limit(10, second).limit(200, minute).build().expect("two limits")
/// });
///
/// fn is_a_pace(_: impl windrow_tower::RequestPace) {}
/// is_a_pace(&EVEN);
/// is_a_pace(&*BOTH);
/// ```
pub trait RequestPace: sealed::InStatic {}

impl<P: sealed::InStatic> RequestPace for P {}

pub(crate) mod sealed {
    use crate::turn::sealed::Holds;

    pub trait InStatic: Holds + Copy {
        /// Returns the pace.
        fn pace(self) -> &'static Self::Limiter;
    }
}

impl<C: Clock + Send + Sync + 'static> sealed::InStatic for &'static Pace<C> {
    fn pace(self) -> &'static Self::Limiter {
        self
    }
}

impl<C: Clock + Send + Sync + 'static> sealed::InStatic for &'static Paces<C> {
    fn pace(self) -> &'static Self::Limiter {
        self
    }
}
