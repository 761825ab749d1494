//! The cells of all scales, beside those that the definition gives.

use super::*;

/// Scales of all schemas, over all values and over a part of them.
fn scales() -> impl Iterator<Item = Scale> {
    let ends = [1 << 52, 1 << 53, 1 << 54].map(|end| (3, end)); // quick ones end there
    let ranges =
        [(1, u64::MAX), (1, 1), (1, 2), (2, 2), (1_000, 60_000_000_000), (1 << 63, u64::MAX)]
            .into_iter()
            .chain([((1 << 52) + 1, 1 << 53), ((1 << 53) + 1, 1 << 54)])
            .chain(ends);
    let all = ranges.flat_map(|range| (0..=FINEST).map(move |schema| (schema, range)));
    all.map(|(schema, (least, greatest))| Scale::new(schema, least, greatest).unwrap())
}

#[test]
fn cells_stand_side_by_side_and_each_holds_its_bounds() {
    for scale in scales() {
        let mut next = 0;
        for place in 0..scale.places() {
            let (least, greatest) = scale.bounds(place);
            if place == scale.places() - 1 && scale.max() == u64::MAX {
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
                    assert_eq!(coarse.place(least), coarse.place(greatest), "{fine:?}, {place}");
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
fn extremes_are_in_the_places_that_are_used_and_in_order() {
    let scale = Scale::fixed::<0, 2, 16>(); // up to 1; 2; 3 and 4; 5 to 8; 9 to 16; above
    assert_eq!(scale.within((2, 4), (3, 12)), (3, 12));
    assert_eq!(scale.within((2, 4), (0, u64::MAX)), (3, 16));
    assert_eq!(scale.within((2, 4), (u64::MAX, 0)), (4, 9));
    assert_eq!(scale.within((3, 3), (u64::MAX, 0)), (5, 5));
    assert_eq!(scale.within((0, 5), (0, u64::MAX)), (0, u64::MAX));
}

#[test]
fn what_is_no_scale_is_refused() {
    assert_eq!(Scale::new(6, 1, 2), Err(ScaleError::Schema { schema: 6 }));
    assert_eq!(Scale::new(3, 0, 2), Err(ScaleError::ZeroMin));
    assert_eq!(Scale::new(3, 3, 2), Err(ScaleError::EmptyRange { min: 3, max: 2 }));
}
