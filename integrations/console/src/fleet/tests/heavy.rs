//! The heavy keys of a fleet: the total is exact, and the bounds hold the senders' books.

use std::collections::HashMap;
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use serde_json::json;
use windrow::clock::Manual;
use windrow::{Counter, HeavyKeys};

use super::super::answer;
use super::super::courses::Courses;
use super::super::reading::Reading;
use super::super::view::View;
use super::{Head, answer as answered, at, members_at, seen};
use crate::Console;

/// Returns the reading of a process that shows this.
fn reading(instance: &str, show: impl FnOnce(&mut Console)) -> Reading {
    let mut console = Console::new("shop");
    console.instance(instance);
    show(&mut console);
    Reading::parse(&answered(&console.build())).unwrap()
}

type Clients = Arc<HeavyKeys<str, Manual>>;

fn clients() -> Clients {
    Arc::new(HeavyKeys::builder(50).shards(1).clock(Manual::default()).build().unwrap())
}

fn reading_of(instance: &str, clients: Clients) -> Reading {
    reading(instance, |console| console.show_heavy("clients", "Requests by client", clients))
}

#[test]
fn a_client_that_is_heavy_in_all_is_first_within_its_bounds() {
    let mut random = fastrand::Rng::with_seed(5);
    let mut members = members_at(&["0:1", "1:1", "2:1", "3:1"]);
    let mut book: HashMap<String, u64> = HashMap::new();
    for address in 0..4 {
        let own = clients();
        for _ in 0..20_000 {
            // In no process is it the heaviest: each has one of its own.
            let client = match random.u32(0..10) {
                0 => format!("local {address}"),
                1 if random.u32(0..10) > 0 => "everywhere".to_owned(),
                _ => format!("client {}", random.u32(0..3_000)),
            };
            own.increment(&client);
            *book.entry(client).or_default() += 1;
        }
        let address = format!("{address}:1");
        members.note(&address, at(1), Ok(reading_of(&address, own)));
    }
    let heavy = &seen(&members, at(1))["heavy"][0];
    assert_eq!((&heavy["name"], &heavy["help"]), (&json!("clients"), &json!("Requests by client")));
    let span = &heavy["spans"][0];
    assert_eq!(span["total"], 80_000);
    let listed = span["keys"].as_array().unwrap();
    assert_eq!((listed.len(), &listed[0]["key"]), (10, &json!("everywhere")));
    for key in listed {
        let weight = book[key["key"].as_str().unwrap()];
        let [least, most] = ["at_least", "at_most"].map(|bound| key[bound].as_u64().unwrap());
        assert!((least..=most).contains(&weight), "{key}, {weight}");
    }
}

#[test]
fn few_keys_are_exact_and_leave_with_their_process() {
    let mut members = members_at(&["a:1", "b:1"]);
    for (address, weight) in [("a:1", 40), ("b:1", 2)] {
        let own = clients();
        own.add("acme", weight);
        own.add(address, 1);
        members.note(address, at(1), Ok(reading_of(address, own)));
    }
    let head = Head { name: "shop".to_owned(), begun: 0, troubles: Vec::new() };
    let text = answer::text(&head, &View::of(&members, at(1)), &Courses::default());
    assert!(text.contains("the last 1 s: 44 in all\nacme  42 (95"), "{text}");
    members.note("b:1", at(30), Ok(reading_of("c:1", clients())));
    assert_eq!(seen(&members, at(30))["heavy"][0]["spans"][0]["total"], 0);
}

/// A key whose text is that of any other.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Alike(u8);

impl Display for Alike {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("alike")
    }
}

#[test]
fn keys_whose_texts_are_the_same_are_not_sent_and_the_rest_is() {
    let alike = HeavyKeys::<Alike>::builder(50).clock(Manual::default()).build().unwrap();
    alike.add(&Alike(1), 5);
    let keys = Arc::new(alike);
    let shown = Arc::clone(&keys);
    let one = reading("a", move |console| console.show_heavy("keys", "", shown));
    assert_eq!(one.heavy[0].spans[0].keys.total(), 5);
    keys.add(&Alike(2), 6);
    let none = reading("a", move |console| {
        console.show_heavy("keys", "", keys);
        console.show("visits", "", Arc::new(Counter::new())).unwrap();
    });
    assert_eq!((none.heavy[0].spans.len(), none.metrics.len()), (0, 1));
}
