//! The order of series by their addresses, in which a walk visits them.
//!
//! A walk sorts all series under the family's lock, so the sort must be short: a radix sort takes
//! two passes for ten thousand series, and comparisons take fourteen levels.

use std::ptr;

/// With fewer references, comparisons are quicker.
const FEW: usize = 128;

/// The most bits of an address that one pass sorts by: its counts fit into the nearest cache.
const MOST_BITS: u32 = 11;

/// Sorts references by their addresses.
pub(super) fn sort_by_address<T>(listed: &mut Vec<&T>) {
    let address = |one: &&T| ptr::from_ref(*one).addr();
    let ends = listed
        .iter()
        .map(address)
        .fold((usize::MAX, 0), |(low, high), address| (low.min(address), high.max(address)));
    // Of these bits all addresses have the same.
    let aligned = align_of::<T>().trailing_zeros();
    let bits = usize::BITS - (ends.1.wrapping_sub(ends.0) >> aligned).leading_zeros();
    let passes = bits.div_ceil(MOST_BITS);
    // Memory that is spread over terabytes is sorted by comparisons, too.
    if listed.len() < FEW || passes > 4 {
        return listed.sort_unstable_by_key(address);
    }
    let each = bits.div_ceil(passes.max(1));
    let mut sorted = listed.clone();
    for pass in 0..passes {
        let digit =
            |one: &&T| ((address(one) - ends.0) >> (aligned + pass * each)) & ((1 << each) - 1);
        let mut next = [0_u32; 1 << MOST_BITS];
        for one in &*listed {
            next[digit(one)] += 1;
        }
        let mut before = 0;
        for next in &mut next[..1 << each] {
            (*next, before) = (before, before + *next);
        }
        for one in &*listed {
            let place = &mut next[digit(one)];
            sorted[*place as usize] = *one;
            *place += 1;
        }
        std::mem::swap(listed, &mut sorted);
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn references_are_sorted_whatever_their_number_and_their_distance() {
        let things: Vec<u64> = (0..1 << 17).collect();
        for (count, step) in [(0, 1), (1, 1), (2, 1), (127, 7), (128, 1), (129, 1_000), (70_000, 1)]
        {
            for turn in [1, 10_007, 60_013] {
                let sorted: Vec<&u64> = things.iter().step_by(step).take(count).collect();
                assert_eq!(sorted.len(), count);
                let at = |place: usize| sorted[(place * turn) % count];
                let mut shuffled: Vec<&u64> = (0..count).map(at).collect(); // a prime: each once
                sort_by_address(&mut shuffled);
                let is_same = |(one, other): (&&u64, &&u64)| ptr::eq(*one, *other);
                assert!(sorted.iter().zip(&shuffled).all(is_same), "{count} by {step}");
            }
        }
        let same = [&things[0]; 200];
        let mut sorted = same.to_vec();
        sort_by_address(&mut sorted);
        assert_eq!(sorted, same);
    }

    #[test]
    fn references_far_apart_are_sorted() {
        let boxes: Vec<Box<[u8]>> = (0..300_usize)
            .map(|number| vec![0; if number.is_multiple_of(3) { 1 << 20 } else { 16 }].into())
            .collect();
        let mut sorted: Vec<&u8> = boxes.iter().map(|bytes| &bytes[0]).collect();
        sort_by_address(&mut sorted);
        assert_eq!(sorted.len(), boxes.len());
        assert!(sorted.windows(2).all(|two| ptr::from_ref(two[0]) < ptr::from_ref(two[1])));
    }
}
