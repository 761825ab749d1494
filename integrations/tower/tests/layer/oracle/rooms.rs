//! Concurrency limits: there are never more requests in a room than it has places, and all leave.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame};
use testkit::Rng;
use tower::{Layer, Service, service_fn};
use windrow_tower::{InRoom, Places, ResponseBody, Room, RoomLayer, Rooms, Rules};

use super::leaked::Leaked;
use super::{begin, is_refused, poll, request, run_all};
use crate::Nothing;
use crate::limited::{Client, client};

const NAMES: [&str; 5] = ["alice", "anna", "bob", "carl", "dave"];

/// A body of some frames, each of which comes at the second poll. The last may be trailers.
#[derive(Default)]
struct Frames {
    left: u64,
    has_trailers: bool,
    is_awake: bool,
}

impl Body for Frames {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.is_awake = !self.is_awake;
        if self.is_awake {
            return Poll::Pending;
        }
        let Some(left) = self.left.checked_sub(1) else { return Poll::Ready(None) };
        self.left = left;
        let is_last = left == 0 && self.has_trailers;
        let frame = if is_last {
            Frame::trailers(http::HeaderMap::new())
        } else {
            Frame::data(Bytes::new())
        };
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0 && self.has_trailers
    }
}

type Answer = Result<Response<ResponseBody<Frames, InRoom<Client<'static>>>>, &'static str>;

/// A request: its future, or the body of its response.
enum Stage {
    Running(Pin<Box<dyn Future<Output = Answer>>>),
    Answered(Pin<Box<ResponseBody<Frames, InRoom<Client<'static>>>>>),
}

/// A request in flight.
struct Flight {
    key: usize,
    stage: Stage,
}

/// The places of each key's room, and of the shared one.
struct Set {
    default: u64,
    begun: u64,
    shared: u64,
}

impl Set {
    fn of(&self, key: usize) -> u64 {
        if NAMES[key].starts_with('a') { self.begun } else { self.default }
    }
}

/// The requests in each key's room, and in the shared one.
type Levels = BTreeMap<Option<usize>, u64>;

fn levels(rooms: &Rooms<Client<'static>>) -> Levels {
    let number = |name: &str| NAMES.iter().position(|it| *it == name).expect("one of the names");
    let of = |room: &windrow::family::Handle<Client<'static>, Room>| {
        (room.labels().map(|labels| number(labels.client)), room.level())
    };
    rooms.family().iter().map(|room| of(&room)).collect()
}

/// Goes a step on with a request; returns it if it is still in flight.
fn go_on(flight: Flight) -> Result<Option<Flight>, String> {
    let Flight { key, stage } = flight;
    let stage = match stage {
        Stage::Running(mut future) => match poll(future.as_mut()) {
            Poll::Pending => Stage::Running(future),
            Poll::Ready(Err(_)) => return Ok(None),
            Poll::Ready(Ok(response)) if is_refused(&response) => {
                return Err("a request with a place is refused".into());
            }
            Poll::Ready(Ok(response)) => {
                let body = response.into_body();
                if body.is_end_stream() {
                    return Ok(None);
                }
                Stage::Answered(Box::pin(body))
            }
        },
        Stage::Answered(mut body) => {
            let frame =
                body.as_mut().poll_frame(&mut Context::from_waker(std::task::Waker::noop()));
            let goes_on = match frame {
                Poll::Pending => true,
                Poll::Ready(Some(Ok(frame))) => !frame.is_trailers() && !body.is_end_stream(),
                Poll::Ready(_) => false,
            };
            if !goes_on {
                return Ok(None); // the body ends with this drop, and had left its place before
            }
            Stage::Answered(body)
        }
    };
    Ok(Some(Flight { key, stage }))
}

fn run(seed: u64, keys: usize) -> Result<u64, String> {
    begin();
    let random = &mut Rng::with_seed(seed);
    let rooms = Leaked::new(Rooms::<Client>::new(keys, |key| if key.is_some() { 2 } else { 3 }));
    let is_ample = keys > 2 * NAMES.len();
    // SAFETY: the layer, its futures and bodies are dropped before the rooms, which come first.
    let layer = RoomLayer::new(unsafe { rooms.get() }, client);
    let mut service = layer.layer(service_fn(|request: Request<Nothing>| {
        let random =
            &mut Rng::with_seed(request.headers()["seed"].to_str().unwrap().parse().unwrap());
        let (mut polls, left) = (random.u64(..3), random.u64(..4));
        let (has_trailers, fails) = (random.bool(), random.u8(..8) == 0);
        std::future::poll_fn(move |_| {
            if polls > 0 {
                polls -= 1;
                return Poll::Pending;
            }
            let body = Frames { left, has_trailers, is_awake: false };
            Poll::Ready(if fails { Err("it fails") } else { Ok(Response::new(body)) })
        })
    }));
    let mut set = Set { default: 2, begun: 2, shared: 3 };
    let mut flights: Vec<Flight> = vec![];
    let mut admitted = 0;
    for _ in 0..80 {
        match random.u8(..20) {
            0 => _ = rooms.forget_idle(),
            1 => {
                let [default, begun, shared] = [(); 3].map(|()| random.u64(..4));
                set = Set { default, begun, shared };
                let rules = Rules::builder(Places::new(default)).overflow(Places::new(shared));
                let rules = rules.rule([("client", "a*")], Places::new(begun));
                rooms.replace(rules.build().unwrap()).unwrap();
            }
            2..5 if !flights.is_empty() => {
                drop(flights.swap_remove(random.usize(..flights.len())));
            }
            5..11 if !flights.is_empty() => {
                let flight = flights.swap_remove(random.usize(..flights.len()));
                flights.extend(go_on(flight)?);
            }
            _ => {
                let key = random.usize(..NAMES.len());
                let in_flight = flights.iter().filter(|flight| flight.key == key).count() as u64;
                let mut request = request(random, NAMES[key]);
                request.headers_mut().insert("seed", random.u64(..u64::MAX / 2).into());
                let before = levels(&rooms);
                let mut future: Pin<Box<dyn Future<Output = Answer>>> =
                    Box::pin(service.call(request));
                // A request has its place from the call on, before it is polled.
                let behind = levels(&rooms);
                let all: u64 = behind.values().sum();
                let is_in = match all - flights.len() as u64 {
                    0 => false,
                    1 => true,
                    _ => return Err(format!("{behind:?} with {} in flight", flights.len())),
                };
                let level = |levels: &Levels, room: Option<usize>| {
                    levels.get(&room).copied().unwrap_or_default()
                };
                let own = Some(key).filter(|own| behind.contains_key(&Some(*own)));
                let places = own.map_or(set.shared, |key| set.of(key));
                let is_right = if is_in {
                    level(&behind, own) == level(&before, own) + 1 && level(&behind, own) <= places
                } else {
                    level(&behind, own) >= places
                };
                if !is_right || is_ample && is_in != (in_flight < set.of(key)) {
                    return Err(format!("is in: {is_in}, {places} places, {before:?}, {behind:?}"));
                }
                admitted += u64::from(is_in);
                if is_in {
                    let flight = Flight { key, stage: Stage::Running(future) };
                    flights.extend(if random.bool() { go_on(flight)? } else { Some(flight) });
                } else {
                    let polled = poll(future.as_mut());
                    if !matches!(&polled, Poll::Ready(Ok(response)) if is_refused(response)) {
                        return Err("a request without a place is not refused".into());
                    }
                }
            }
        }
    }
    drop((flights, service, layer));
    // All have left: each room is empty, and has all its places.
    let is_left = rooms.family().iter().all(|room| room.level() == 0);
    rooms.forget_idle();
    if !is_left || rooms.family().len() > 0 {
        return Err("a request is still in".into());
    }
    for (key, name) in NAMES.iter().enumerate().filter(|_| keys > 0) {
        let places: Vec<_> =
            std::iter::from_fn(|| rooms.try_enter(Client { client: name })).collect();
        if places.len() as u64 != set.of(key) {
            return Err(format!("{name} has {} places, and not {}", places.len(), set.of(key)));
        }
    }
    Ok(admitted)
}

#[test]
fn rooms_keep_their_promise_whatever_callers_do() {
    run_all(3, |seed, kind| run(seed, [64, 2, 0][kind]));
}
