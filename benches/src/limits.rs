//! The clock of governor's limiters, which are asked as windrow's are.

use governor::clock::Clock as Reads;
use governor::nanos::Nanos;
use windrow::Clock;

/// A clock of windrow's as one of governor's.
#[derive(Clone)]
pub struct Timed<C>(pub C);

impl<C: Clock + Clone> Reads for Timed<C> {
    type Instant = Nanos;

    #[inline]
    fn now(&self) -> Nanos {
        Nanos::new(self.0.now().as_nanos())
    }
}
