//! Which cell a value is counted in.
//!
//! # Theorem
//!
//! Cell `i` of schema `s` holds the values in `(2^((i - 1) / 2^s), 2^(i / 2^s)]`: those of Prometheus' native histograms, and, one
//! number on, of OpenTelemetry's scale `s`. Each `u64` above zero is in the cell that this says, also beside its borders.
//!
//! # Why
//!
//! Let `v` be a value with `z` zero bits in front, and `n = v * 2^z`, whose highest bit is set. Of the finest schema, 5, `v` lies
//! in cell `32 * (63 - z) + k`, where `k` of the numbers `2^(63 + j / 32)`, `j = 0..32`, are less than `n`. A whole number is
//! greater than such a number if and only if it is greater than its floor: the *threshold* `j`. The six bits behind the highest
//! say in which 64th of its octave `n` lies. No 64th has two thresholds. So they say how many thresholds are less than
//! all of it, and which one is left to compare with.
//!
//! (In code cells are numbered from 2^-1 on, an octave earlier, so that no number is negative.)
//!
//! A coarser schema's cell is `2^(5 - s)` cells of schema 5, the last of which ends where it ends. So its number is a division,
//! rounded up.
//!
//! # Ranges
//!
//! A scale's range begins and ends at powers of two. So the cells of a coarser schema are whole cells of a finer one, in any
//! range of either, and what lies outside of a range is outside of whole cells.

use std::fmt::{self, Debug, Formatter};

use crate::error::ScaleError;

/// The finest schema.
const FINEST: u8 = 5;
/// How many cells it has in an octave.
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
    /// The one threshold that some of it may be above. (At the end: none is.)
    threshold: u64,
    /// How many thresholds all of it is above.
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

/// The cell of schema 5 that `value` is in, which is not zero: 32 to 2080.
#[inline]
const fn finest_cell(value: u64) -> u32 {
    let zeros = value.leading_zeros();
    let normal = value << zeros;
    let slice = &SLICES[(normal >> 57) as usize & 63];
    (64 - zeros) * THIRTY_TWO as u32 + slice.below + (normal > slice.threshold) as u32
}

/// The greatest value up to the end of a cell of schema 5. (The last ends at 2^64, where there is no value.)
const fn finest_border(cell: usize) -> u64 {
    match cell / THIRTY_TWO {
        0 => 0,
        octave @ 1..65 => THRESHOLDS[cell % THIRTY_TWO] >> (64 - octave),
        _ => u64::MAX,
    }
}

/// The greatest value up to the beginning of an octave, of which the first is `(1/2, 1]`.
const fn begin(octave: u8) -> u64 {
    finest_border((octave as usize) << FINEST)
}

/// The cells of a [`Histogram`](crate::Histogram): how fine they are, and from where to where.
///
/// Cells are exponential: each ends at the same multiple of where it begins. With *schema* `s`, from 0 to 5, there are `2^s` of them
/// in an octave (from a value to its double), and they end at `2^(i / 2^s)`: these are the buckets of Prometheus' native histograms
/// and of OpenTelemetry's exponential ones.
///
/// | schema | cells in an octave | error at most | cells for 1 to 2^30 |
/// |---|---|---|---|
/// | 0 | 1 | 33 % | 31 |
/// | 1 | 2 | 17 % | 62 |
/// | 2 | 4 | 8.6 % | 124 |
/// | 3 | 8 | 4.3 % | 248 |
/// | 4 | 16 | 2.2 % | 496 |
/// | 5 | 32 | 1.1 % | 992 |
///
/// The *range* is where values have cells of their own. It is widened to powers of two. What lies below, zero included, is counted
/// in one cell more, and what lies above in another. A histogram takes 8 bytes a core for each cell.
///
/// Values are whole numbers in a unit of yours. The [default](Self::DEFAULT) is meant for nanoseconds.
///
/// ```
/// use windrow::{Histogram, Scale};
///
/// // A scale that cannot be does not compile.
/// static BODY: Histogram = Histogram::with_scale(Scale::fixed::<4, 1, { 1 << 30 }>());
///
/// BODY.record(1_500);
/// assert_eq!(BODY.distribution().scale().error_bound(), BODY.scale().error_bound());
/// ```
///
/// ```compile_fail
/// # use windrow::{Histogram, Scale};
/// static BODY: Histogram = Histogram::with_scale(Scale::fixed::<6, 1, 1024>()); // there is no schema 6
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Scale {
    schema: u8,
    /// The range's first octave, and the one after its last. They are numbered as in [`begin`].
    first: u8,
    end: u8,
    /// The greatest value below the range.
    below: u64,
    /// The greatest value in the range.
    greatest: u64,
    /// How a cell of schema 5 becomes a place: this is added, which wraps; then so many bits are shifted out.
    bias: u32,
    shift: u8,
}

impl Scale {
    /// Schema 3, from a microsecond to a minute in nanoseconds (as powers of two: 513 ns to 68.7 s), in 216 cells.
    ///
    /// ```
    /// use windrow::Scale;
    ///
    /// assert_eq!((Scale::DEFAULT.least(), Scale::DEFAULT.greatest()), (513, 1 << 36));
    /// assert_eq!(Scale::DEFAULT, Scale::default());
    /// ```
    pub const DEFAULT: Scale = Scale::fixed::<3, 1_000, 60_000_000_000>();

    /// A scale whose range has the values from `least` to `greatest`, and those beside them up to powers of two.
    ///
    /// # Errors
    ///
    /// [`ScaleError`]: `schema` is above 5, `least` is zero or above `greatest`.
    ///
    /// ```
    /// use windrow::{Scale, ScaleError};
    ///
    /// let scale = Scale::new(3, 1_000, 2_000)?;
    /// assert_eq!((scale.least(), scale.greatest(), scale.cells()), (513, 2_048, 16));
    /// assert_eq!(Scale::new(9, 1, 10), Err(ScaleError::Schema { schema: 9 }));
    /// # Ok::<(), ScaleError>(())
    /// ```
    pub const fn new(schema: u8, least: u64, greatest: u64) -> Result<Scale, ScaleError> {
        if schema > FINEST {
            return Err(ScaleError::Schema { schema });
        }
        if least == 0 {
            return Err(ScaleError::ZeroLeast);
        }
        if least > greatest {
            return Err(ScaleError::EmptyRange { least, greatest });
        }
        let first = 64 - (least - 1).leading_zeros();
        let end = 65 - (greatest - 1).leading_zeros();
        Ok(Scale::of_octaves(schema, first as u8, end as u8))
    }

    /// As [`new`](Self::new), of constants: a scale that cannot be does not compile. For statics.
    ///
    /// ```
    /// use windrow::Scale;
    ///
    /// const BYTES: Scale = Scale::fixed::<2, 1, { 1 << 20 }>();
    /// assert_eq!(BYTES, Scale::new(2, 1, 1 << 20)?);
    /// # Ok::<(), windrow::ScaleError>(())
    /// ```
    pub const fn fixed<const SCHEMA: u8, const LEAST: u64, const GREATEST: u64>() -> Scale {
        const {
            match Scale::new(SCHEMA, LEAST, GREATEST) {
                Ok(scale) => scale,
                Err(ScaleError::Schema { .. }) => panic!("a schema is 0 to 5"),
                Err(_) => panic!("a range is from 1 or more to as much or more"),
            }
        }
    }

    /// The scale whose range is the octaves from `first` to before `end`.
    const fn of_octaves(schema: u8, first: u8, end: u8) -> Scale {
        // A place is the cells of schema 5 since the first octave, by how many make one of this schema, rounded up.
        let shift = FINEST - schema;
        let bias = ((1_u32 << shift) - 1).wrapping_sub((first as u32) << FINEST);
        Scale { schema, first, end, below: begin(first), greatest: begin(end), bias, shift }
    }

    /// How fine the cells are: each octave has two to this power.
    ///
    /// ```
    /// assert_eq!(windrow::Scale::DEFAULT.schema(), 3);
    /// ```
    pub const fn schema(self) -> u8 {
        self.schema
    }

    /// The least value in the range.
    ///
    /// ```
    /// assert_eq!(windrow::Scale::new(3, 1_000, 60_000)?.least(), 513);
    /// # Ok::<(), windrow::ScaleError>(())
    /// ```
    pub const fn least(self) -> u64 {
        self.below + 1
    }

    /// The greatest value in the range.
    ///
    /// ```
    /// assert_eq!(windrow::Scale::new(3, 1_000, 60_000)?.greatest(), 65_536);
    /// # Ok::<(), windrow::ScaleError>(())
    /// ```
    pub const fn greatest(self) -> u64 {
        self.greatest
    }

    /// How many cells the range has. (Two more are for what is outside.)
    ///
    /// ```
    /// assert_eq!(windrow::Scale::new(3, 1_025, 4_096)?.cells(), 16); // two octaves of eight
    /// # Ok::<(), windrow::ScaleError>(())
    /// ```
    pub const fn cells(self) -> usize {
        ((self.end - self.first) as usize) << self.schema
    }

    /// How far the number that stands for a value in the range can be from it, as a part of the value: 0.043 for schema 3.
    ///
    /// (What stands for a value is rounded to a whole number besides: by a half at most.)
    ///
    /// ```
    /// assert!(windrow::Scale::DEFAULT.error_bound() < 0.0433);
    /// ```
    pub fn error_bound(self) -> f64 {
        // (g - 1) / (g + 1), where a cell grows by g = 2^(1 / 2^schema), and nothing is cancelled out.
        (std::f64::consts::LN_2 / f64::from(2_u32 << self.schema)).tanh()
    }

    /// How many cells there are, with the two for what is outside of the range.
    pub(super) const fn places(self) -> usize {
        self.cells() + 2
    }

    /// The place of the cell that `value` is counted in: 0 for what is below the range, then the range's cells, and last what is
    /// above.
    #[inline]
    pub(super) const fn place(self, value: u64) -> usize {
        if value <= self.below {
            return 0; // zero, too
        }
        if value > self.greatest {
            return self.cells() + 1;
        }
        (finest_cell(value).wrapping_add(self.bias) >> self.shift) as usize
    }

    /// The greatest value in the cells up to that at `place`.
    const fn border(self, place: usize) -> u64 {
        finest_border(((self.first as usize) << FINEST) + (place << self.shift))
    }

    /// The least and the greatest value of the cell at `place`. (Some cells have no whole number: then the least is more.)
    pub(super) const fn bounds(self, place: usize) -> (u64, u64) {
        if place == 0 {
            (0, self.below)
        } else if place > self.cells() {
            (self.greatest.saturating_add(1), u64::MAX)
        } else {
            (self.border(place - 1) + 1, self.border(place))
        }
    }

    /// The scale with the coarser schema of both, and a range that has both ranges.
    pub(super) fn union(self, other: Scale) -> Scale {
        let (first, end) = (self.first.min(other.first), self.end.max(other.end));
        Scale::of_octaves(self.schema.min(other.schema), first, end)
    }
}

/// Shows the schema and the range.
impl Debug for Scale {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Scale");
        shown
            .field("schema", &self.schema)
            .field("range", &(self.least()..=self.greatest))
            .finish_non_exhaustive()
    }
}

/// [`Scale::DEFAULT`].
impl Default for Scale {
    fn default() -> Scale {
        Scale::DEFAULT
    }
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
            }
        }
        assert_eq!(finest_cell(u64::MAX), 2080);
    }

    /// Scales of all schemas, over all values and over a part of them.
    fn scales() -> impl Iterator<Item = Scale> {
        let ranges =
            [(1, u64::MAX), (1, 1), (1, 2), (2, 2), (1_000, 60_000_000_000), (1 << 63, u64::MAX)];
        let all =
            ranges.into_iter().flat_map(|range| (0..=FINEST).map(move |schema| (schema, range)));
        all.map(|(schema, (least, greatest))| Scale::new(schema, least, greatest).unwrap())
    }

    #[test]
    fn cells_stand_side_by_side_and_each_holds_its_bounds() {
        for scale in scales() {
            let mut next = 0;
            for place in 0..scale.places() {
                let (least, greatest) = scale.bounds(place);
                if place == scale.places() - 1 && scale.greatest() == u64::MAX {
                    continue; // nothing is above
                }
                assert_eq!(least, next, "{scale:?}, place {place}");
                if least <= greatest {
                    assert_eq!(scale.place(least), place, "{scale:?}, {least}");
                    assert_eq!(scale.place(greatest), place, "{scale:?}, {greatest}");
                }
                next = greatest.wrapping_add(1);
            }
            assert_eq!(next, 0, "{scale:?} ends before the last value");
        }
    }

    #[test]
    fn powers_of_two_end_cells_in_all_schemas() {
        for schema in 0..=FINEST {
            let scale = Scale::new(schema, 1, u64::MAX).unwrap();
            for power in 0..64 {
                let value = 1_u64 << power;
                let place = scale.place(value);
                assert_eq!(scale.bounds(place).1, value, "schema {schema}");
                assert_eq!(place % (1 << schema), 0, "schema {schema}");
                assert!(scale.place(value + 1) > place, "schema {schema}");
                assert!(scale.place(value - 1) <= place, "schema {schema}");
            }
        }
    }

    #[test]
    fn a_coarser_cell_is_whole_cells_of_a_finer_schema() {
        for fine in scales() {
            for schema in 0..fine.schema() {
                let coarse = Scale::of_octaves(schema, fine.first, fine.end);
                for place in 0..fine.places() {
                    let (least, greatest) = fine.bounds(place);
                    if least <= greatest {
                        assert_eq!(
                            coarse.place(least),
                            coarse.place(greatest),
                            "{fine:?}, {place}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn the_default_is_what_it_says() {
        assert_eq!(Scale::DEFAULT.cells(), 216);
        assert_eq!(Scale::DEFAULT.place(0), 0);
        assert_eq!(Scale::DEFAULT.place(512), 0);
        assert_eq!(Scale::DEFAULT.place(513), 1);
        assert_eq!(Scale::DEFAULT.place(1 << 36), 216);
        assert_eq!(Scale::DEFAULT.place((1 << 36) + 1), 217);
        assert_eq!(Scale::DEFAULT.place(u64::MAX), 217);
    }

    #[test]
    fn what_is_no_scale_is_refused() {
        assert_eq!(Scale::new(6, 1, 2), Err(ScaleError::Schema { schema: 6 }));
        assert_eq!(Scale::new(3, 0, 2), Err(ScaleError::ZeroLeast));
        assert_eq!(Scale::new(3, 3, 2), Err(ScaleError::EmptyRange { least: 3, greatest: 2 }));
    }
}
