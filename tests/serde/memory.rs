//! The memory of snapshots: those read from any bytes, and those of windows.

use proptest::prelude::*;
use testkit::heap::{Counting, kept_by, peak_of};
use testkit::{clock_at, ms, window};
use windrow::clock::Manual;
use windrow::{
    Event, Events, HeavyKeys, SlidingWindow,
    heavy::HeavySnapshot,
    histogram::{Distribution, Scale},
    kind,
    snapshot::{BucketSnapshot, Snapshot},
};

use crate::Seen;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns what `act` returns, the most bytes that this thread had in it at once, and those that it
/// kept.
fn taken<T>(act: impl FnOnce() -> T) -> (T, [usize; 2]) {
    let ((result, peak), kept) = kept_by(|| peak_of(act));
    (result, [peak, kept].map(|bytes| usize::try_from(bytes).unwrap_or(0)))
}

const FINE: Scale = Scale::fixed::<5, 1, { u64::MAX }>();

windrow::events! { enum Big { Rt: Histogram(FINE) } }
windrow::events! { enum Both { Pass: Count, Rt: Histogram, Size: Histogram(FINE), Wait: Value } }

/// The bytes that a reader may take for each byte that it reads, and beside these.
const FOR_EACH: usize = 24;
const FOR_NONE: usize = 4 << 10;

fn is_bounded(bytes: &[u8], what: &str) {
    let most = FOR_EACH * bytes.len() + FOR_NONE;
    let peaks = [
        taken(|| postcard::from_bytes::<Snapshot<Big>>(bytes).is_ok()).1[0],
        taken(|| postcard::from_bytes::<Snapshot<Both>>(bytes).is_ok()).1[0],
        taken(|| postcard::from_bytes::<Snapshot<Seen>>(bytes).is_ok()).1[0],
        taken(|| postcard::from_bytes::<BucketSnapshot<Big>>(bytes).is_ok()).1[0],
        taken(|| postcard::from_bytes::<Distribution>(bytes).is_ok()).1[0],
        taken(|| serde_json::from_slice::<Snapshot<Both>>(bytes).is_ok()).1[0],
        taken(|| serde_json::from_slice::<Distribution>(bytes).is_ok()).1[0],
        taken(|| postcard::from_bytes::<HeavySnapshot<str>>(bytes).is_ok()).1[0],
        taken(|| postcard::from_bytes::<HeavySnapshot<u16>>(bytes).is_ok()).1[0],
        taken(|| serde_json::from_slice::<HeavySnapshot<[u8]>>(bytes).is_ok()).1[0],
    ];
    let worst = peaks.into_iter().max().unwrap_or(0);
    assert!(worst <= most, "{what}: {worst} bytes for {} that were read: {peaks:?}", bytes.len());
}

/// Returns a window of `buckets` buckets that each have `values` values, far apart.
fn full<E: Events>(
    buckets: u32,
    event: Event<E, kind::Histogram>,
    values: u32,
) -> SlidingWindow<E, Manual> {
    let clock = clock_at(1_000_000);
    let window = window::<E>(ms(1), buckets, &clock);
    for _ in 0..buckets {
        clock.advance(ms(1));
        (0..values).for_each(|n| window.record(event, 1_000 << n));
    }
    window
}

#[test]
fn snapshots_of_many_empty_buckets_take_little() {
    let bytes = postcard::to_stdvec(&full(10_000, Big::Rt, 0).snapshot()).unwrap();
    is_bounded(&bytes, "of one histogram");
    let text = serde_json::to_vec(&full(1_000, Both::Rt, 0).snapshot()).unwrap();
    is_bounded(&text, "of two, in JSON");
    let bytes = postcard::to_stdvec(&full(1_000, Both::Rt, 3).snapshot()).unwrap();
    is_bounded(&bytes, "with values");
}

#[test]
fn snapshots_of_many_short_keys_take_little() {
    let numbers = HeavyKeys::<u16>::builder(9_000).shards(1).build().expect("a capacity");
    (0..9_000).for_each(|key| numbers.increment(&key));
    is_bounded(&postcard::to_stdvec(&numbers.snapshot()).unwrap(), "numbers");
    let texts = HeavyKeys::<str>::builder(9_000).shards(1).build().expect("a capacity");
    (0..9_000_u32).for_each(|key| texts.increment(&format!("{key:x}")));
    is_bounded(&postcard::to_stdvec(&texts.snapshot()).unwrap(), "texts");
}

/// Lengths that are claimed, of lists that are not there.
#[test]
fn lists_that_are_shorter_than_they_say_take_what_is_there() {
    let whole = postcard::to_stdvec(&full(2, Both::Rt, 2).snapshot()).unwrap();
    let of_one =
        postcard::to_stdvec(&full(1, Big::Rt, 2).snapshot().totals().distribution(Big::Rt))
            .unwrap();
    for bytes in [whole, of_one] {
        for at in 0..bytes.len() {
            for length in [
                &[0xff, 0x01][..],
                &[0xff, 0xff, 0x7f],
                &[0xff; 9],
                &[0xff, 0xff, 0xff, 0xff, 0x0f],
            ] {
                let mut claimed = bytes[..at].to_vec();
                claimed.extend(length);
                claimed.extend(&bytes[at + 1..]);
                is_bounded(&claimed, "a length that is claimed");
            }
        }
    }
}

/// The bytes of the issue: each list is as long as it says, each bucket is empty.
#[test]
fn what_a_window_holds_takes_no_more_in_its_snapshot_than_in_itself() {
    let (window, [_, of_window]) = taken(|| full(3_600, Big::Rt, 1));
    let (snapshot, [peak, of_snapshot]) = taken(|| window.snapshot());
    assert_eq!(snapshot.totals().distribution(Big::Rt).count(), 3_600);
    assert!(peak <= 2 * of_window, "{peak} bytes beside {of_window}");
    assert!(of_snapshot <= 200 * 3_600, "{of_snapshot} bytes beside {of_window}");
    let (tier, [peak, _]) = taken(|| snapshot.clone());
    assert!(peak <= of_snapshot && tier == snapshot, "{peak} bytes for a copy of {of_snapshot}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_take_little(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        is_bounded(&bytes, "any bytes");
    }

    #[test]
    fn changed_bytes_take_little(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = postcard::to_stdvec(&full(3, Both::Rt, 3).snapshot()).unwrap();
        for (index, byte) in changes {
            let index = index.index(bytes.len());
            bytes[index] = byte;
        }
        is_bounded(&bytes, "changed bytes");
    }
}
