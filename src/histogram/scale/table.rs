//! The cell in which a value is counted.
//!
//! # Theorem
//!
//! Cell `i` of schema `s` holds the values in `(2^((i - 1) / 2^s), 2^(i / 2^s)]`: those of
//! Prometheus' native histograms. (In OpenTelemetry's scale `s` their numbers are less by one.)
//! This module returns that cell for each `u64` above zero, also beside borders.
//!
//! # Why
//!
//! Let `v` be a value with `z` zero bits in front, and `n = v * 2^z`, whose highest bit is set. In
//! the finest schema, 5, `v` lies in cell `32 * (63 - z) + k`, where `k` of the numbers
//! `2^(63 + j / 32)`, `j = 0..32`, are less than `n`. A whole number is greater than such a number
//! if and only if it is greater than its floor: the *threshold* `j`. The six bits after the highest
//! say in which 64th of its octave `n` lies. No 64th has two thresholds. So these bits give the
//! number of thresholds that lie below this whole 64th, and the one threshold that is left to
//! compare with.
//!
//! (The code numbers cells from 2^-1 on, an octave earlier, so that no number is negative.)
//!
//! # Quickly
//!
//! A number with a binary point has the logarithm's whole part in its exponent, and what is left of
//! it beside that, in the mantissa `m`, of 52 bits. So its bits, as a whole number, rise by 2^47
//! from one thirty-second of an octave to the next. In each 64th of an octave there is one number,
//! the *carry*, which moves the threshold to the next multiple of 2^47:
//!
//! ```text
//!    in an octave, as mantissas:    |..64th..|..t.....|........|
//!    m + carry = (k + 1) * 2^47 + (m - t - 1)
//!              is below (k + 1) * 2^47  if  m <= t    and not above it by 2^47 otherwise
//! ```
//!
//! The conversion is exact up to 2^53, and a carry beyond the mantissa is the next octave's first
//! cell, as it must be. So one addition and a shift have the number of the cell, without counting
//! zeros and without a comparison.
//!
//! A coarser schema's cell is `2^(5 - s)` cells of schema 5, the last of which ends where it ends.
//! So its number is a division, rounded up.

/// The finest schema.
pub(super) const FINEST: u8 = 5;
/// The number of its cells in an octave.
const THIRTY_TWO: usize = 1 << FINEST;

/// The floors of `2^(63 + j / 32)`.
const THRESHOLDS: [u64; THIRTY_TWO] = [
    0x8000_0000_0000_0000,
    0x82cd_8698_ac2b_a1d7,
    0x85aa_c367_cc48_7b14,
    0x8898_0e80_92da_8527,
    0x8b95_c1e3_ea8b_d6e6,
    0x8ea4_398b_45cd_53c0,
    0x91c3_d373_ab11_c336,
    0x94f4_efa8_fef7_0961,
    0x9837_f051_8db8_a96f,
    0x9b8d_39b9_d54e_5538,
    0x9ef5_3260_91a1_11ad,
    0xa270_4303_0c49_6818,
    0xa5fe_d6a9_b151_38ea,
    0xa9a1_5ab4_ea7c_0ef8,
    0xad58_3eea_42a1_4ac6,
    0xb123_f581_d2ac_258f,
    0xb504_f333_f9de_6484,
    0xb8fb_af47_62fb_9ee9,
    0xbd08_a39f_580c_36be,
    0xc12c_4cca_6670_9456,
    0xc567_2a11_5506_dadd,
    0xc9b9_bd86_6e2f_27a2,
    0xce24_8c15_1f84_80e3,
    0xd2a8_1d91_f12a_e45a,
    0xd744_fcca_d69d_6af4,
    0xdbfb_b797_daf2_3755,
    0xe0cc_deec_2a94_e111,
    0xe5b9_06e7_7c83_48a8,
    0xeac0_c6e7_dd24_392e,
    0xefe4_b99b_dcda_f5cb,
    0xf525_7d15_2486_cc2c,
    0xfa83_b2db_722a_033a,
];

/// A 64th of an octave.
#[derive(Clone, Copy)]
struct Slice {
    /// The first threshold at or after its beginning; no other one lies within it. (The greatest
    /// number if there is none.)
    threshold: u64,
    /// The number of thresholds below all of it.
    below: u32,
}

const SLICES: [Slice; 64] = {
    let mut slices = [Slice { threshold: u64::MAX, below: 0 }; 64];
    let mut slice = 0;
    while slice < 64 {
        let start = (64 + slice as u64) << 57;
        let mut below = 0;
        while below < THIRTY_TWO && THRESHOLDS[below] < start {
            below += 1;
        }
        slices[slice].below = below as u32;
        if below < THIRTY_TWO {
            slices[slice].threshold = THRESHOLDS[below];
        }
        slice += 1;
    }
    slices
};

/// The octave that begins behind 2^53. [Quick bits](quick_bits) are exact up to there, because
/// numbers with a binary point have 53 bits for a whole number; and those of greater values, which
/// are rounded, are of the cell that ends there, or of later ones.
pub(super) const QUICK_END: u8 = 54;

/// The number of bits of a mantissa, and of the part of it that lies within a 64th of an octave.
const MANTISSA: u32 = 52;
const SLICE: u32 = MANTISSA - 6;
/// The number of bits of it that a cell of schema 5 leaves.
pub(super) const CELL: u32 = MANTISSA - FINEST as u32;
/// The cell of schema 5 that the quick bits of the first octave's numbers begin with: their
/// exponent is that of 1/2.
pub(super) const QUICK_FIRST: u64 = 1022 << FINEST;

/// The carry of each 64th of an octave.
const CARRIES: [u64; 64] = {
    let mut carries = [0; 64];
    let mut slice = 0;
    while slice < 64 {
        let Slice { threshold, below } = SLICES[slice];
        let last = ((slice as u64 + 1) << SLICE) - 1;
        // Without its highest bit. The rest of a value of 53 bits is zero.
        let within = (threshold << 1) >> (64 - MANTISSA);
        let last_below = if threshold < u64::MAX && within < last { within } else { last };
        carries[slice] = ((below as u64 + 1) << CELL) - (last_below + 1);
        slice += 1;
    }
    carries
};

/// Returns a number that rises with the `value`: without its last [`CELL`] bits it is the cell of
/// schema 5, counted from that of [`QUICK_FIRST`]. It is exact for values from 1 to 2^53. That of
/// zero is below all cells, and that of a value of 2^63 or more, as an `i64` less than zero, is
/// beyond them by more than there are.
#[inline]
#[allow(clippy::cast_precision_loss)] // none that matters
pub(super) const fn quick_bits(value: u64) -> u64 {
    // (Signed: that conversion is one instruction.)
    let bits = (value.cast_signed() as f64).to_bits();
    bits.wrapping_add(CARRIES[(bits >> SLICE) as usize & 63])
}

/// Returns the cell of schema 5 of a `value` that is not zero: 32 to 2080.
pub(super) const fn finest_cell(value: u64) -> u32 {
    let zeros = value.leading_zeros();
    let normal = value << zeros;
    let slice = &SLICES[(normal >> 57) as usize & 63];
    (64 - zeros) * THIRTY_TWO as u32 + slice.below + (normal > slice.threshold) as u32
}

/// Returns the greatest value up to the end of a cell of schema 5. (The last cell ends at 2^64,
/// which is no value.)
pub(super) const fn finest_border(cell: usize) -> u64 {
    match cell / THIRTY_TWO {
        0 => 0,
        octave @ 1..65 => THRESHOLDS[cell % THIRTY_TWO] >> (64 - octave),
        _ => u64::MAX,
    }
}

/// Returns the greatest value up to the beginning of an octave; the first octave is `(1/2, 1]`.
pub(super) const fn begin(octave: u8) -> u64 {
    finest_border((octave as usize) << FINEST)
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    /// A natural number of any size: its digits to the base 2^32, the lowest first.
    #[derive(Debug, PartialEq, Eq)]
    struct Natural(Vec<u32>);

    impl Natural {
        fn from(number: u128) -> Natural {
            let mut digits: Vec<u32> =
                (0..4).map(|digit| (number >> (32 * digit)) as u32).collect();
            while digits.last() == Some(&0) {
                digits.pop();
            }
            Natural(digits)
        }

        fn power_of_two(power: usize) -> Natural {
            let mut digits = vec![0; power / 32 + 1];
            digits[power / 32] = 1 << (power % 32);
            Natural(digits)
        }

        fn squared(&self) -> Natural {
            let mut digits = vec![0_u32; 2 * self.0.len()];
            for (i, one) in self.0.iter().enumerate() {
                let mut carry = 0_u64;
                for (j, other) in self.0.iter().enumerate() {
                    let sum =
                        u64::from(*one) * u64::from(*other) + u64::from(digits[i + j]) + carry;
                    (digits[i + j], carry) = (sum as u32, sum >> 32);
                }
                digits[i + self.0.len()] = carry as u32;
            }
            while digits.last() == Some(&0) {
                digits.pop();
            }
            Natural(digits)
        }

        /// To the power of 32.
        fn to_the_32nd(&self) -> Natural {
            (0..5).fold(Natural(self.0.clone()), |power, _| power.squared())
        }

        fn is_at_most(&self, other: &Natural) -> bool {
            let of =
                |natural: &Natural| (natural.0.len(), natural.0.iter().rev().copied().collect());
            let (one, two): ((usize, Vec<u32>), (usize, Vec<u32>)) = (of(self), of(other));
            one <= two
        }
    }

    /// `t <= 2^(63 + j / 32) < t + 1`, each to the power of 32.
    #[test]
    fn the_thresholds_are_the_floors_of_the_roots() {
        for (j, threshold) in THRESHOLDS.into_iter().enumerate() {
            let root = Natural::power_of_two(63 * 32 + j);
            assert!(Natural::from(threshold.into()).to_the_32nd().is_at_most(&root), "{j}");
            let next = Natural::from(u128::from(threshold) + 1).to_the_32nd();
            assert!(!next.is_at_most(&root), "{j}");
        }
    }

    #[test]
    fn no_64th_of_an_octave_has_two_thresholds() {
        for slice in 0..64_u64 {
            let start = (64 + slice) << 57;
            let end = start + ((1 << 57) - 1);
            let within = THRESHOLDS.iter().filter(|threshold| (start..=end).contains(*threshold));
            assert!(within.count() <= 1, "{slice}");
        }
    }

    /// The number of the cell by its definition: the first whose border is not below the value.
    fn by_definition(value: u64) -> u32 {
        (32..=2080).find(|cell| value <= finest_border(*cell)).unwrap() as u32
    }

    #[test]
    fn each_value_beside_a_border_is_in_the_cell_of_the_definition() {
        for cell in 32..2080 {
            let border = finest_border(cell);
            for value in [border.saturating_sub(1).max(1), border, border + 1] {
                assert_eq!(finest_cell(value), by_definition(value), "{value} beside {cell}");
                let quick = (quick_bits(value) >> CELL).wrapping_sub(QUICK_FIRST);
                if value <= begin(QUICK_END) {
                    let cell = u64::from(by_definition(value));
                    assert_eq!(quick, cell, "{value} beside {cell}");
                } else {
                    let end = u64::from(QUICK_END) << FINEST;
                    assert!(quick >= end, "{value} beside {cell}");
                }
            }
        }
        assert_eq!(finest_cell(u64::MAX), 2080);
        assert!(quick_bits(0) >> CELL < QUICK_FIRST);
    }
}
