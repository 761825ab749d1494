//! In a room there are never more requests than it has places, and each leaves once.

use std::convert::Infallible;
use std::future::{Future, pending, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Waker};

use axum::Router;
use axum::body::Body;
use axum::routing::get;
use bytes::Bytes;
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, Empty};
use testkit::{Rng, race};
use tokio::sync::Semaphore;
use tower::{Layer, Service, ServiceExt, service_fn};
use windrow_tower::{Places, RoomLayer, RoomRules, Rooms, Rules, RulesError};

use crate::Nothing;
use crate::limited::{Answer, Client, client, from, status};

const ALICE: Client<'static> = Client { client: "alice" };

fn in_room(rooms: &Rooms<Client<'static>>) -> u64 {
    rooms.family().with(ALICE).level()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_requests_at_once_as_many_pass_as_there_are_places() {
    static ROOMS: Rooms<Client> = Rooms::new(10, |_| 5);
    static GO: Semaphore = Semaphore::const_new(0);
    let wait = || async {
        let _go = GO.acquire().await.expect("it is never closed");
        "well"
    };
    let app = Router::new().route("/", get(wait)).layer(RoomLayer::new(&ROOMS, client));
    let ask = |_| {
        let app = app.clone();
        tokio::spawn(async move {
            let request = from("alice").map(|_| Body::empty());
            app.oneshot(request).await.expect("a response").status().as_u16()
        })
    };
    let tasks: Vec<_> = (0..40).map(ask).collect();
    let room = ROOMS.family().handle(ALICE);
    while room.passed().sum() + room.blocked().sum() < 40 {
        tokio::task::yield_now().await;
    }
    assert_eq!((room.level(), room.passed().sum(), room.blocked().sum()), (5, 5, 35));
    GO.add_permits(5);
    let mut passed = 0;
    for task in tasks {
        passed += u64::from(task.await.expect("it ends") == 200);
    }
    assert_eq!((passed, room.level()), (5, 0));
}

#[tokio::test]
async fn a_full_room_refuses_no_other_key() {
    static ROOMS: Rooms<Client> = Rooms::new(2, |client| if client.is_some() { 1 } else { 2 });
    let layer = RoomLayer::new(&ROOMS, client);
    let alice = ROOMS.try_enter(ALICE);
    assert!(alice.is_some());
    assert_eq!(status(&layer, from("alice")).await, 503);
    assert_eq!(status(&layer, from("bob")).await, 200);
    assert_eq!(status(&layer, Request::new(Nothing::new())).await, 200, "without a key");
    // While bob is in his room, all others share one.
    let bob = ROOMS.try_enter(Client { client: "bob" });
    let strangers = ["carol", "dave"].map(|client| ROOMS.try_enter(Client { client }));
    assert!(strangers.iter().all(Option::is_some));
    assert_eq!(status(&layer, from("eve")).await, 503);
    drop((alice, bob));
    assert_eq!((ROOMS.forget_idle(), ROOMS.family().len()), (2, 0));
    assert_eq!(status(&layer, from("eve")).await, 200);
    assert_eq!(ROOMS.family().lifetime(), (6, 2));
}

/// Strangers come once each, and the table is full of their rooms: a room in use stays, and any
/// other makes way.
#[test]
fn empty_rooms_make_way_for_new_keys() {
    for keys in [2, 8, 100] {
        let rooms = Rooms::<Client>::new(keys, |client| if client.is_some() { 1 } else { 3 });
        let alice = rooms.try_enter(ALICE);
        for stranger in 0..1_000 {
            let name = format!("{stranger}");
            let stranger = Client { client: &name };
            let place = rooms.try_enter(stranger);
            assert!(place.is_some() && rooms.try_enter(stranger).is_none(), "of {keys}: {name}");
            assert!(rooms.try_enter(ALICE).is_none());
        }
        assert_eq!(rooms.family().with(ALICE).level(), 1);
        drop(alice);
        assert!(rooms.try_enter(ALICE).is_some());
        assert!(rooms.family().len() <= keys);
    }
}

/// A request whose key is too long shares a room, and closes none.
#[test]
fn keys_that_are_too_long_drive_none_out() {
    let rooms = Rooms::<Client>::new(8, |_| 1);
    for client in ["alice", "anna", "bob"] {
        assert!(rooms.try_enter(Client { client }).is_some());
    }
    let long = "x".repeat(2_000);
    for _ in 0..10 {
        assert!(rooms.try_enter(Client { client: &long }).is_some());
    }
    assert_eq!(rooms.family().len(), 3);
}

struct Slow;

impl http_body::Body for Slow {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> std::task::Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        std::task::Poll::Pending
    }
}

impl Default for Slow {
    fn default() -> Slow {
        Slow
    }
}

#[tokio::test]
async fn a_request_has_its_place_until_the_body_has_ended_or_is_dropped() {
    static ROOMS: Rooms<Client> = Rooms::new(10, |_| 1);
    let layer = RoomLayer::new(&ROOMS, client);
    let response = crate::limited::respond(&layer, from("alice")).await;
    assert_eq!(in_room(&ROOMS), 1);
    let mut body = response.into_body();
    let read = (&mut body).collect().await.expect("a body").to_bytes();
    assert_eq!((&read[..], in_room(&ROOMS)), (&b"well"[..], 0));
    drop(body);
    assert_eq!(in_room(&ROOMS), 0);

    let slow = service_fn(|_: Request<Nothing>| ready(Ok::<_, Infallible>(Response::new(Slow))));
    let response = layer.layer(slow).oneshot(from("alice")).await.expect("a response");
    assert_eq!((in_room(&ROOMS), status(&layer, from("alice")).await), (1, 503));
    drop(response);
    assert_eq!(in_room(&ROOMS), 0);

    let empty = service_fn(|_: Request<Nothing>| {
        ready(Ok::<_, Infallible>(Response::new(Empty::<Bytes>::new())))
    });
    let response = layer.layer(empty).oneshot(from("alice")).await.expect("a response");
    assert_eq!(in_room(&ROOMS), 0, "servers do not poll an empty body");
    drop(response);
}

#[tokio::test]
async fn a_request_that_fails_panics_or_is_given_up_leaves_the_room() {
    static ROOMS: Rooms<Client> = Rooms::new(10, |_| 1);
    let layer = RoomLayer::new(&ROOMS, client);
    let failing =
        service_fn(|_: Request<Nothing>| ready(Err::<Response<Empty<Bytes>>, _>("broken")));
    assert!(layer.layer(failing).oneshot(from("alice")).await.is_err());
    assert_eq!(in_room(&ROOMS), 0);

    let never = service_fn(|_: Request<Nothing>| pending::<Answer>());
    let mut service = layer.layer(never);
    let given_up = service.call(from("alice"));
    assert_eq!(in_room(&ROOMS), 1);
    drop(given_up);
    assert_eq!(in_room(&ROOMS), 0);

    let panicking =
        service_fn(|_: Request<Nothing>| -> std::future::Ready<Answer> { panic!("it fell") });
    let mut service = layer.layer(panicking);
    assert!(catch_unwind(AssertUnwindSafe(|| drop(service.call(from("alice"))))).is_err());
    assert_eq!(in_room(&ROOMS), 0);

    let panicking = service_fn(|_: Request<Nothing>| async { panic!("it fell later") as Answer });
    let response = layer.layer(panicking).call(from("alice"));
    let fallen = catch_unwind(AssertUnwindSafe(move || {
        let mut context = Context::from_waker(Waker::noop());
        pin!(response).poll(&mut context).is_ready()
    }));
    assert!(fallen.is_err());
    assert_eq!((in_room(&ROOMS), status(&layer, from("alice")).await), (0, 200));
}

#[test]
fn there_are_never_more_in_a_room_while_idle_ones_are_forgotten() {
    static ROOMS: Rooms<Client> = Rooms::new(10, |_| 2);
    for round in 0..2_000 {
        let (all_have_asked, entered) = (Barrier::new(3), AtomicU64::new(0));
        race(3, |thread| {
            if thread == 0 {
                ROOMS.forget_idle();
            }
            let place = ROOMS.try_enter(ALICE);
            entered.fetch_add(place.is_some().into(), Ordering::Relaxed);
            all_have_asked.wait();
            drop(place);
        });
        assert_eq!(entered.into_inner(), 2);
        if round % 2 == 0 {
            assert_eq!((ROOMS.forget_idle(), ROOMS.family().len()), (1, 0));
        }
    }
    assert_eq!(ROOMS.family().lifetime(), (4_000, 2_000));
}

#[test]
fn a_thread_that_has_found_a_room_before_it_was_closed_finds_the_next() {
    static ROOMS: Rooms<Client> = Rooms::new(10, |_| u64::MAX);
    drop(ROOMS.try_enter(ALICE));
    let handle = ROOMS.family().handle(ALICE); // it is kept, so it is not removed
    assert_eq!((ROOMS.forget_idle(), ROOMS.family().len()), (0, 1));
    let place = ROOMS.try_enter(ALICE);
    assert!(place.is_some());
    assert_eq!((handle.level(), in_room(&ROOMS)), (0, 1));
    assert_eq!(ROOMS.forget_idle(), 0, "a request is in it");
}

/// Returns the rules of a default and of a pattern of clients.
fn rules(default: u64, (pattern, places): (&str, u64)) -> RoomRules {
    let rules =
        Rules::builder(Places::new(default)).rule([("client", pattern)], Places::new(places));
    rules.build().expect("rules")
}

/// Random schedules of requests that enter and leave, of swaps, and of rooms that are forgotten.
#[test]
fn a_request_enters_if_there_is_a_place_by_the_rules_in_force() {
    const CLIENTS: [&str; 4] = ["alice", "anna", "bob", "carl"];
    for seed in 0..200 {
        let mut random = Rng::with_seed(seed);
        let keys = if random.bool() { 4 } else { 0 }; // each has a room, or all share one
        let rooms = Rooms::<Client>::new(keys, |client| if client.is_some() { 2 } else { 3 });
        let mut places: Box<dyn Fn(&str) -> u64> = Box::new(move |_| if keys > 0 { 2 } else { 3 });
        let mut inside: [Vec<_>; 4] = Default::default();
        for _ in 0..200 {
            match random.u8(..16) {
                0 => {
                    let [default, begun, overflow] = [(); 3].map(|()| random.u64(..4));
                    let set = Rules::builder(Places::new(default)).overflow(Places::new(overflow));
                    let set = set.rule([("client", "a*")], Places::new(begun)).build().unwrap();
                    rooms.replace(set).unwrap();
                    places = Box::new(move |client| match client {
                        _ if keys == 0 => overflow,
                        "alice" | "anna" => begun,
                        _ => default,
                    });
                }
                1 => assert!(rooms.check(&rules(9, ("a", 9))).is_ok()),
                2 => _ = rooms.forget_idle(),
                3..8 => {
                    let of = &mut inside[random.usize(..4)];
                    if !of.is_empty() {
                        drop(of.swap_remove(random.usize(..of.len())));
                    }
                }
                _ => {
                    let client = random.usize(..4);
                    let level = if keys > 0 {
                        inside[client].len()
                    } else {
                        inside.iter().map(Vec::len).sum()
                    };
                    let place = rooms.try_enter(Client { client: CLIENTS[client] });
                    let is_free = (level as u64) < places(CLIENTS[client]);
                    assert_eq!(place.is_some(), is_free, "seed {seed}");
                    inside[client].extend(place);
                }
            }
        }
    }
}

#[test]
fn rules_for_labels_that_rooms_do_not_have_are_refused_whole() {
    static ROOMS: Rooms<Client> = Rooms::new(10, |_| 2);
    let good = rules(1, ("bob", 5));
    assert_eq!(ROOMS.replace(good.clone()).unwrap().keys, 0, "there is no room yet");
    assert!(ROOMS.try_enter(ALICE).is_some());
    let changes = ROOMS.replace(rules(3, ("alice", 1))).unwrap();
    assert_eq!((changes.keys, changes.failed), (0, 0), "the room of alice has one place as before");
    ROOMS.replace(good.clone()).unwrap();
    let broken = Rules::builder(Places::new(9)).rule([("account", "a")], Places::new(9));
    let broken = broken.build().unwrap();
    assert!(matches!(ROOMS.check(&broken), Err(RulesError::Part { .. })));
    let error = ROOMS.replace(broken).unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"rules[0]: keys have no label "account"; they have ["client"]"#
    );
    assert_eq!(ROOMS.rules().as_deref(), Some(&good));
    let place = ROOMS.try_enter(ALICE);
    assert!(place.is_some() && ROOMS.try_enter(ALICE).is_none());
}

#[test]
fn there_are_never_more_in_a_room_than_the_most_places_while_rules_are_swapped() {
    static ROOMS: Rooms<Client> = Rooms::new(10, |_| 3);
    for round in 0..1_000 {
        let (all_have_asked, entered) = (Barrier::new(4), AtomicU64::new(0));
        race(4, |thread| {
            if thread == 0 {
                ROOMS.replace(rules(1 + round % 3, ("b", 9))).unwrap();
                ROOMS.forget_idle();
            }
            let place = ROOMS.try_enter(ALICE);
            entered.fetch_add(place.is_some().into(), Ordering::Relaxed);
            all_have_asked.wait();
            drop(place);
        });
        // The rules before this swap, or those after it.
        let (before, after) = (1 + (round + 2) % 3, 1 + round % 3);
        let entered = entered.into_inner();
        assert!((before.min(after)..=before.max(after)).contains(&entered), "{entered}");
        let places: Vec<_> = std::iter::from_fn(|| ROOMS.try_enter(ALICE)).collect();
        assert_eq!(places.len() as u64, after);
    }
}
