//! Random numbers of a schedule: the same for the same seed.

/// A xorshift generator.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn of(seed: u64) -> Random {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        for _ in 0..4 {
            random.next();
        }
        random
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `bound`.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 16) % bound
    }

    /// A number from `-most` to `most`.
    pub(super) fn around(&mut self, most: i64) -> i64 {
        self.below(2 * most.unsigned_abs() + 1).cast_signed() - most
    }

    fn part(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(super) fn is(&mut self, probability: f64) -> bool {
        self.part() < probability
    }

    /// A time of an exponential distribution.
    #[allow(clippy::cast_sign_loss)]
    pub(super) fn time(&mut self, mean: f64) -> u64 {
        (-mean * (1.0 - self.part()).ln()) as u64
    }

    pub(super) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
}
