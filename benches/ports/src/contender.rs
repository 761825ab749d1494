//! A contender: one thing that a program does, by one of the copies of its crate.

use windrow_benches::harness::Rival;

/// The crate as it is published.
pub(crate) const OWN: &str = "its own";
/// The name of the copy with a file of ours.
pub(crate) const PORTED: &str = "windrow's";
/// That, by a clock of windrow's that is cheaper than the crate's.
pub(crate) const COARSE: &str = "windrow's, Coarse";
/// The crate as it is published, by that clock.
pub(crate) const OWN_COARSE: &str = "its own, Coarse";

/// One thing that a program does, by one of the copies of its crate.
pub(crate) struct Contender {
    pub(crate) what: &'static str,
    pub(crate) whose: &'static str,
    pub(crate) rival: Box<dyn Rival>,
}

impl Contender {
    pub(crate) fn new(what: &'static str, whose: &'static str, rival: impl Rival + 'static) -> Contender {
        Contender { what, whose, rival: Box::new(rival) }
    }
}

/// Something that a program does, over and over.
pub(crate) struct Call<F>(pub(crate) F);

impl<F: Fn() + Send + Sync> Rival for Call<F> {
    #[inline]
    fn add(&self, _n: u64) {
        (self.0)();
    }

    /// Its counts are not checked here, but in the crates' own tests.
    fn sum(&self) -> u64 {
        0
    }
}
