//! Windows: each event is an instrument.

use super::*;

#[test]
fn a_window_is_exported_by_its_events() {
    let clock = Manual::default();
    let window = SlidingWindow::<Queue>::builder().clock(clock.clone()).build().unwrap();
    let window = Arc::new(window);
    let sdk = Sdk::new(Temporality::Cumulative, None);
    sdk.observer().observe("queue", "Queue", Arc::downgrade(&window)).unwrap();
    window.add(Queue::Pushed, 3);
    window.record(Queue::Waited, 10);
    window.record(Queue::Waited, 30);
    clock.advance(Duration::from_millis(500));
    window.record(Queue::Waited, 99);
    assert_eq!(
        sdk.collect(),
        points(&[
            ("queue.count{event=Waited}", 3.0),
            ("queue.max{event=Waited}", 30.0),
            ("queue.mean{event=Waited}", 20.0),
            ("queue.min{event=Waited}", 10.0),
            ("queue.per_second{event=Pushed}", 6.0),
            ("queue.sum{event=Waited}", 139.0),
            ("queue.values_per_second{event=Waited}", 4.0),
            ("queue{event=Pushed}", 3.0),
        ])
    );
}

#[test]
fn a_window_of_extremes_is_exported_by_them_and_counts_none() {
    let clock = Manual::default();
    let window = SlidingWindow::<Depth>::builder().clock(clock.clone()).build().unwrap();
    let window = Arc::new(window);
    let sdk = Sdk::new(Temporality::Cumulative, None);
    sdk.observer().observe("depth", "Depth", Arc::downgrade(&window)).unwrap();
    for depth in [3, 8, 5] {
        window.record(Depth::Deepest, depth);
        window.record(Depth::Flattest, depth);
    }
    assert!(sdk.collect().is_empty());
    clock.advance(Duration::from_millis(500));
    let expected = [("depth.max{event=Deepest}", 8.0), ("depth.min{event=Flattest}", 3.0)];
    assert_eq!(sdk.collect(), points(&expected));
}

#[test]
fn the_level_of_a_signed_event_is_an_up_down_counter() {
    for temporality in [Temporality::Cumulative, Temporality::Delta] {
        let clock = Manual::default();
        let window = SlidingWindow::<Cart>::builder().clock(clock.clone()).build().unwrap();
        let window = Arc::new(window);
        let sdk = Sdk::new(temporality, None);
        sdk.observer().observe("cart", "Cart", Arc::downgrade(&window)).unwrap();
        window.add(Cart::Items, 3);
        window.add(Cart::Items, -5);
        assert_eq!(sdk.collect()["cart.level{event=Items}"], -2.0);
        clock.advance(Duration::from_millis(500));
        window.add(Cart::Items, 1);
        let expected = [("cart.level{event=Items}", -1.0), ("cart.per_second{event=Items}", -4.0)];
        // The SDK has no deltas of an up-down counter: it exports sums from the start.
        assert_eq!(sdk.collect(), points(&expected), "{temporality:?}");
    }
}

#[test]
fn windows_of_families_count_their_events_among_the_sets() {
    let make = || SlidingWindow::<Queue>::builder().build().unwrap();
    let windows = Arc::new(
        Family::<Request, SlidingWindow<Queue>, _>::with_constructor(make).with_max_series(1_000),
    );
    let mut observer = Sdk::new(Temporality::Cumulative, None).observer();
    let error = ObserveError::TooManySets { name: "queue".to_owned(), sets: 2_002, limit: 2_000 };
    assert_eq!(observer.observe("queue", "", Arc::downgrade(&windows)), Err(error));
    let flags = Arc::new(Family::<Flag, Counter>::new());
    observer.observe_up_to(2, "flags", "", Arc::downgrade(&flags)).unwrap();
}
