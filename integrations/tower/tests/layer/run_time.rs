//! Keys whose labels' names are known only at run time: each has its limit, as a key of declared
//! labels has, and none is without one.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;
use std::time::Duration;

use http::Request;
use http::request::Parts;
use testkit::Rng;
use testkit::heap::allocations_of;
use tower::{Layer, Service, service_fn};
use windrow::Gate;
use windrow::clock::Manual;
use windrow::labels::RuntimeLabels;
use windrow_tower::{KeyValues, LimitLayer, Limits, Rate, RoomLayer, Rooms, Rules, RulesError};

use crate::Nothing;
use crate::limited::{Answer, Client, a_second, answer, from, status};

type Named = LazyLock<Limits<RuntimeLabels, Gate<Manual>>>;

fn get(parts: &Parts, name: &str) -> Option<String> {
    Some(parts.headers.get(name)?.to_str().expect("a text").to_owned())
}

/// Returns a request with these headers.
fn request(headers: &[(&str, &str)]) -> Request<Nothing> {
    let request = Request::builder();
    headers
        .iter()
        .fold(request, |request, (name, value)| request.header(*name, *value))
        .body(Nothing::new())
        .expect("a request")
}

/// Two a second for each pair of a tenant and a region, as the headers say.
macro_rules! tenants {
    ($limits:ident, $clock:ident: $keys:literal) => {
        static $clock: LazyLock<Manual> = LazyLock::new(Manual::default);
        static $limits: Named = LazyLock::new(|| {
            let gate: fn(Option<&[&str]>) -> Gate<Manual> =
                |key| a_second(if key.is_some() { 2 } else { 3 }, &$clock);
            Limits::with_names(["tenant", "region"], $keys, gate).expect("names that differ")
        });
    };
}

fn tenant_and_region(parts: &Parts, key: &mut KeyValues) -> Option<()> {
    key.push(get(parts, "tenant")?).push(get(parts, "region")?);
    Some(())
}

#[tokio::test]
async fn each_set_of_values_has_its_limit_and_a_request_without_a_key_has_none() {
    tenants!(TENANTS, CLOCK: 10);
    let layer = LimitLayer::with_values(&TENANTS, tenant_and_region);
    let mut statuses = Vec::new();
    for (tenant, region) in [("acme", "eu"), ("acme", "us"), ("acm", "eeu")] {
        for _ in 0..3 {
            let request = request(&[("tenant", tenant), ("region", region)]);
            statuses.push(status(&layer, request).await);
        }
    }
    assert_eq!(statuses, [200, 200, 429].repeat(3));
    for _ in 0..10 {
        assert_eq!(status(&layer, request(&[("tenant", "acme")])).await, 200);
    }
    assert_eq!((TENANTS.family().len(), TENANTS.family().refused()), (3, 0));
    CLOCK.advance(Duration::from_secs(1));
    assert_eq!((TENANTS.forget_idle(), TENANTS.family().len()), (3, 0));
    assert_eq!(status(&layer, request(&[("tenant", "acme"), ("region", "eu")])).await, 200);
}

struct Failing;

impl fmt::Display for Failing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("begun")?;
        Err(fmt::Error)
    }
}

/// The values of a key, as the documentation says; `None` if the key is refused.
type Book = Option<Vec<String>>;

/// Writes random values, of which some are too long or fail; returns what the key is.
fn write_any(random: &mut Rng, key: &mut KeyValues, names: usize) -> Book {
    let count = if random.u8(..4) == 0 { random.usize(..40) } else { names };
    let mut book = Vec::new();
    let mut fails = false;
    for _ in 0..count {
        match random.u8(..12) {
            0 => {
                let number = random.u64(..);
                key.push(number);
                book.push(number.to_string());
            }
            1 => {
                let length = [1_024, 1_025, 600, 100_000][random.usize(..4)];
                let long = "ä".repeat(length / 2) + &"x".repeat(length % 2);
                key.push(&long);
                book.push(long);
            }
            2 if random.u8(..8) == 0 => {
                key.push(Failing);
                fails = true;
            }
            3 => {
                key.push(format_args!("{:?} {}", 'ä', 1.5));
                book.push("'ä' 1.5".into());
            }
            _ => {
                let text = ["", "a", "b", "größe", "a*"][random.usize(..5)];
                key.push(text);
                book.push(text.into());
            }
        }
    }
    let bytes: usize = book.iter().map(String::len).sum();
    (!fails && book.len() == names && bytes <= 1_024).then_some(book)
}

#[tokio::test]
async fn a_key_is_what_was_written_and_any_other_is_refused() {
    static ROOMS: LazyLock<[Rooms<RuntimeLabels>; 3]> = LazyLock::new(|| {
        [&[][..], &["a", "b"], &["a", "b", "c", "d", "e"]]
            .map(|of| Rooms::with_names(of, 10_000, |_| u64::MAX).expect("names that differ"))
    });
    for rooms in &*ROOMS {
        let family = rooms.family();
        let (mut books, mut refused) = (BTreeMap::<Vec<String>, u64>::new(), 0);
        for seed in 0..2_000 {
            let written = RefCell::new(None);
            let layer = RoomLayer::with_values(rooms, |_, key| {
                let random = &mut Rng::with_seed(seed);
                *written.borrow_mut() = write_any(random, key, family.names().len());
                Some(())
            });
            assert_eq!(status(&layer, Request::new(Nothing::new())).await, 200);
            match written.into_inner() {
                Some(values) => *books.entry(values).or_default() += 1,
                None => refused += 1,
            }
        }
        let counted = family.iter().filter_map(|room| {
            let values = room.labels()?.iter().map(|&value| value.to_owned());
            Some((values.collect(), room.passed().sum()))
        });
        assert_eq!(counted.collect::<BTreeMap<_, _>>(), books);
        assert_eq!(family.refused(), refused);
        assert!(refused > 100 && !books.is_empty(), "{refused}");
    }
}

/// Otherwise a client could have no limit by a value that is too long.
#[tokio::test]
async fn refused_keys_share_one_limit() {
    tenants!(TENANTS, CLOCK: 10);
    let writes: [fn(&mut KeyValues); 4] = [
        |_| {},
        |key| _ = key.push("acme"),
        |key| _ = key.push("acme").push("eu").push("more"),
        |key| _ = key.push("acme").push("x".repeat(2_000)),
    ];
    let mut granted = 0;
    for write in writes.iter().cycle().take(40) {
        let layer = LimitLayer::with_values(&TENANTS, |_, key| {
            write(key);
            Some(())
        });
        granted += u64::from(status(&layer, Request::new(Nothing::new())).await == 200);
    }
    assert_eq!((granted, TENANTS.family().len()), (3, 0));
    let admit = |key: &[&str]| TENANTS.admit(key, 1, Duration::ZERO).is_granted();
    assert!(!admit(&["acme"]) && !admit(&[]) && !admit(&["acme", "eu", "more"]));
    CLOCK.advance(Duration::from_secs(1));
    assert!(admit(&["acme"]) && admit(&["acme", "eu"]));
}

#[tokio::test]
async fn a_room_is_found_by_values() {
    static ROOMS: LazyLock<Rooms<RuntimeLabels>> = LazyLock::new(|| {
        let places = |key: Option<&[&str]>| if key == Some(&["acme", "eu"]) { 1 } else { 2 };
        Rooms::with_names(["tenant", "region"], 10, places).expect("names that differ")
    });
    let layer = RoomLayer::with_values(&ROOMS, tenant_and_region);
    let of = |tenant, region| request(&[("tenant", tenant), ("region", region)]);
    let place = ROOMS.try_enter(&["acme", "eu"]);
    assert!(place.is_some());
    assert_eq!(status(&layer, of("acme", "eu")).await, 503);
    assert_eq!(status(&layer, of("acme", "us")).await, 200);
    assert_eq!(status(&layer, request(&[])).await, 200, "without a key");
    let strangers = [ROOMS.try_enter(&["acme"]), ROOMS.try_enter(&[])];
    assert!(strangers.iter().all(Option::is_some) && ROOMS.try_enter(&[""]).is_none());
    drop(place);
    assert_eq!(status(&layer, of("acme", "eu")).await, 200);
    assert_eq!((ROOMS.forget_idle(), ROOMS.family().len()), (2, 0));
}

/// Runs each schedule with declared labels and with names of run time.
#[test]
fn limits_decide_as_those_of_declared_labels_do() {
    thread_local! { static CLOCK: Manual = Manual::default(); }
    for seed in 0..100 {
        let mut random = Rng::with_seed(seed);
        let keys = random.usize(..4);
        let declared = Limits::<Client, Gate<Manual>>::new(keys, |client| {
            a_second(2 + u64::from(client.is_none()), &CLOCK.with(Manual::clone))
        });
        let named = Limits::<RuntimeLabels, Gate<Manual>>::with_names(["client"], keys, |client| {
            a_second(2 + u64::from(client.is_none()), &CLOCK.with(Manual::clone))
        });
        let named = named.expect("one name");
        for _ in 0..300 {
            match random.u8(..20) {
                0 => assert_eq!(declared.forget_idle(), named.forget_idle()),
                1 => {
                    let rules = Rules::builder(Rate::new(random.u64(1..5)).buckets(10))
                        .rule([("client", "a*")], Rate::new(random.u64(1..5)).buckets(5))
                        .build()
                        .unwrap();
                    let changes = declared.replace(rules.clone()).unwrap();
                    assert_eq!(named.replace(rules).unwrap(), changes);
                }
                2..6 => CLOCK.with(|clock| {
                    clock.advance(Duration::from_millis(random.u64(..400)));
                }),
                _ => {
                    let client = ["alice", "anna", "bob"][random.usize(..3)];
                    let (weight, wait) =
                        (random.u64(..3), Duration::from_millis(random.u64(..900)));
                    let admission = declared.admit(Client { client }, weight, wait);
                    assert_eq!(named.admit(&[client], weight, wait), admission, "seed {seed}");
                }
            }
        }
    }
}

#[test]
fn rules_match_labels_by_the_names_that_a_family_was_given() {
    tenants!(TENANTS, CLOCK: 10);
    let of = |label| {
        let rules = Rules::builder(Rate::new(9).buckets(10)).overflow(Rate::new(8).buckets(10));
        rules.rule([(label, "e*")], Rate::new(1).buckets(10)).build().unwrap()
    };
    let error = TENANTS.replace(of("zone")).unwrap_err();
    assert!(matches!(error, RulesError::Part { .. }));
    assert_eq!(
        error.to_string(),
        r#"rules[0]: keys have no label "zone"; they have ["tenant", "region"]"#
    );
    TENANTS.replace(of("region")).unwrap();
    let granted = |key: &[&str]| {
        (0..20).filter(|_| TENANTS.admit(key, 1, Duration::ZERO).is_granted()).count()
    };
    assert_eq!((granted(&["eu", "us"]), granted(&["us", "eu"]), granted(&["eu"])), (9, 1, 8));
    let (names, rules) = (["tenant", "region"], of("region"));
    let limit = |key: Option<&[&str]>| rules.setting_with_names(&names, key).limit;
    assert_eq!([limit(Some(&["eu", "us"])), limit(Some(&["us", "eu"]))], [9, 1]);
    let refused: [Option<&[&str]>; 4] = [None, Some(&[]), Some(&["eu"]), Some(&["us", "eu", ""])];
    assert_eq!(refused.map(limit), [8; 4]);
}

#[test]
fn a_known_key_allocates_nothing() {
    tenants!(TENANTS, CLOCK: 10);
    static ROOMS: LazyLock<Rooms<RuntimeLabels>> =
        LazyLock::new(|| Rooms::with_names(["tenant", "port"], 10, |_| 1).expect("two names"));
    fn write(parts: &Parts, key: &mut KeyValues) -> Option<()> {
        key.push(parts.headers.get("client")?.to_str().ok()?).push(8_080_u16);
        Some(())
    }
    let inner = service_fn(answer as fn(_) -> std::future::Ready<Answer>);
    let mut service = RoomLayer::with_values(&ROOMS, write)
        .layer(LimitLayer::with_values(&TENANTS, write).layer(inner));
    drop(service.call(from("acme")));
    let request = from("acme");
    assert_eq!(allocations_of(|| service.call(request)), 0);
    assert_eq!(TENANTS.family().lifetime(), (2, 0));
    CLOCK.advance(Duration::from_secs(1));
}

#[test]
fn a_function_that_panics_takes_no_place() {
    tenants!(TENANTS, CLOCK: 1);
    let layer = LimitLayer::with_values(&TENANTS, |parts: &Parts, key| {
        key.push("acme").push("eu");
        assert!(parts.headers.is_empty(), "no headers");
        Some(())
    });
    let inner = service_fn(answer as fn(_) -> std::future::Ready<Answer>);
    let mut service = layer.layer(inner);
    assert!(catch_unwind(AssertUnwindSafe(|| drop(service.call(from("acme"))))).is_err());
    assert_eq!((TENANTS.family().len(), TENANTS.family().lifetime()), (0, (0, 0)));
    drop(service.call(Request::new(Nothing::new())));
    assert_eq!((TENANTS.family().len(), TENANTS.family().lifetime()), (1, (1, 0)));
    CLOCK.advance(Duration::from_secs(1));
}
