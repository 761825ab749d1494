//! Limits of how many at once, by key: a room for each.
//!
//! # Promise
//!
//! In a room there are never more than it has places, also where rooms come and go. Memory is
//! bounded as that of
//! [`Limits`](crate::Limits) is.
//!
//! # Why
//!
//! The level of a room is one atomic, and a compare-exchange checks and counts at once. A room
//! leaves only when it is *closed*: by the same compare-exchange, from an empty one to one with the
//! highest level that there is. So whoever has found it before is refused, and looks again. Who
//! finds a closed room takes it out by the very look, under the family's lock, that finds it
//! closed.

use std::fmt::{self, Debug, Formatter};
use std::mem;
use std::sync::OnceLock;

use windrow::{
    Counter, Family, InFlight,
    family::{Handle, Metric},
    in_flight::{AtMost, InFlightGuard, LevelOwner},
    labels::Labels,
};

use crate::unwind::make_or_undo;

/// A [`Room`] for each key: how many requests there may be at once. It is made to be a static.
///
/// ```
/// use windrow::labels;
/// use windrow_tower::Rooms;
///
/// labels! { pub struct Route { route: str } }
///
/// static ROUTES: Rooms<Route> = Rooms::new(1_000, |route| match route {
///     Some(Route { route: "/report" }) => 2,
///     _ => 100,
/// });
///
/// let report = Route { route: "/report" };
/// let (one, other) = (ROUTES.try_enter(report), ROUTES.try_enter(report));
/// assert!(one.is_some() && other.is_some() && ROUTES.try_enter(report).is_none());
/// drop(one);
/// assert!(ROUTES.try_enter(report).is_some());
/// ```
///
/// When there are too many keys, those that find no room share one, that of the key `None`: as of
/// [`Limits`](crate::Limits), which says more. But a key that has found room keeps the places that
/// it has in the shared room besides, until it leaves them.
pub struct Rooms<L: Labels> {
    family: Family<L, Room>,
    places: Places<L>,
}

/// How many places a key's room has; or, of no key, that of all keys that find no room.
type Places<L> = for<'k> fn(Option<<L as Labels>::Borrowed<'k>>) -> u64;

/// The level of a closed room: the highest. No room has so many places.
const CLOSED: u64 = u64::MAX;

impl<L: Labels> Rooms<L> {
    /// Rooms without a key yet, for so many keys. A function says how many places the room of a key
    /// has, when that comes for the first time; and, of `None`, the one of all keys that find no
    /// room. A room without places refuses everybody.
    ///
    /// Several threads that need the same room at once may call the function each. If it panics, so
    /// does the call that needed the room: nothing is let in, and the key takes no room in the
    /// family.
    ///
    /// ```
    /// use windrow::labels;
    /// use windrow_tower::Rooms;
    ///
    /// labels! { pub struct Client { client: u32 } }
    ///
    /// static CLIENTS: Rooms<Client> = Rooms::new(1_000, |_| 10);
    /// assert!(CLIENTS.family().is_empty());
    /// ```
    pub const fn new(max_keys: usize, places: Places<L>) -> Rooms<L>
    where
        L: Labels<Names = ()>,
    {
        Rooms { family: Family::new().limit(max_keys), places }
    }

    /// Takes a place in a key's room, until what it returns is dropped; `None` if it is full.
    /// Counts one that passes, or one that is blocked.
    ///
    /// It costs a lookup in the family and a reference to the room, a compare-exchange and an add
    /// to a counter. If the key has just been
    /// [forgotten](Self::forget_idle), it takes the family's lock.
    ///
    /// ```
    /// # use windrow::labels;
    /// # use windrow_tower::Rooms;
    /// # labels! { pub struct Client { client: u32 } }
    /// static CLIENTS: Rooms<Client> = Rooms::new(1_000, |_| 1);
    /// let place = CLIENTS.try_enter(Client { client: 7 });
    /// assert!(place.is_some());
    /// assert!(CLIENTS.try_enter(Client { client: 7 }).is_none());
    /// assert!(CLIENTS.try_enter(Client { client: 8 }).is_some());
    /// ```
    pub fn try_enter(&self, key: L::Borrowed<'_>) -> Option<InRoom<L>> {
        loop {
            let room = self.family.with(key);
            let places = room.places.get().copied().unwrap_or_else(|| self.make(&room.keep()));
            let places = places.min(CLOSED - 1);
            if let Some(inside) = room.level.try_enter(1, AtMost(places)) {
                // While it is in use, it is not closed, and does not leave the family.
                room.passed.increment();
                return Some(InRoom { inside: inside.owned_by(Kept(room.keep())) });
            }
            if !room.is_closed() {
                room.blocked.increment();
                return None;
            }
            drop(room);
            self.family.remove_if(key, Room::is_closed);
        }
    }

    /// Says how many places a key's room has, unless another thread is faster. If that panics, the
    /// key leaves its place.
    #[cold]
    fn make(&self, room: &Handle<L, Room>) -> u64 {
        let leave = || {
            if let Some(key) = room.labels().filter(|_| L::COMBINATIONS.is_none() && room.close()) {
                self.family.remove_if(key, Room::is_closed);
            }
        };
        let places = make_or_undo(|| (self.places)(room.labels()), leave);
        *room.places.get_or_init(|| places)
    }

    /// Forgets the keys whose rooms are empty, and tells how many they were.
    ///
    /// Nobody gets in by it that would not have got in without: a room is closed, for ever, at a
    /// moment at which nobody is in it. What was counted stays in the family's total.
    ///
    /// If all labels of the key are enums it does nothing: then there are no more keys than sets of
    /// labels.
    ///
    /// ```
    /// # use windrow::labels;
    /// # use windrow_tower::Rooms;
    /// # labels! { pub struct Client { client: u32 } }
    /// static CLIENTS: Rooms<Client> = Rooms::new(1_000, |_| 10);
    /// let place = CLIENTS.try_enter(Client { client: 7 });
    /// drop(CLIENTS.try_enter(Client { client: 8 }));
    /// assert_eq!((CLIENTS.forget_idle(), CLIENTS.family().len()), (1, 1));
    /// # drop(place);
    /// ```
    pub fn forget_idle(&self) -> usize {
        if L::COMBINATIONS.is_some() {
            return 0;
        }
        self.family.retain(|room, _| !room.close())
    }

    /// Returns the keys that there are, for exporters and whoever wants to see them. That of all
    /// that find no room has no labels.
    ///
    /// [`remove`](windrow::Family::remove) no key from it: there would be a new room, with all its
    /// places.
    ///
    /// ```
    /// # use windrow::labels;
    /// # use windrow_tower::Rooms;
    /// # labels! { pub struct Client { client: u32 } }
    /// static CLIENTS: Rooms<Client> = Rooms::new(1_000, |_| 10);
    /// for room in CLIENTS.family() {
    ///     println!("{:?}: {} now, {} were blocked", room.labels(), room.level(), room.blocked());
    /// }
    /// ```
    pub fn family(&self) -> &Family<L, Room> {
        &self.family
    }
}

impl<L: Labels> Debug for Rooms<L> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Rooms").field(&self.family).finish()
    }
}

/// A key's requests at once, and what became of its requests. In the family of [`Rooms`].
#[derive(Default)]
pub struct Room {
    level: InFlight,
    places: OnceLock<u64>,
    passed: Counter,
    blocked: Counter,
}

impl Room {
    /// Returns how many requests there are now.
    ///
    /// ```
    /// # use windrow::labels;
    /// # use windrow_tower::Rooms;
    /// # labels! { pub struct Client { client: u32 } }
    /// static CLIENTS: Rooms<Client> = Rooms::new(1_000, |_| 10);
    /// let client = Client { client: 7 };
    /// let place = CLIENTS.try_enter(client);
    /// assert_eq!(CLIENTS.family().with(client).level(), 1);
    /// # drop(place);
    /// ```
    pub fn level(&self) -> u64 {
        let level = self.level.level();
        if level == CLOSED { 0 } else { level }
    }

    /// Returns how many were let in.
    ///
    /// ```
    /// assert_eq!(windrow_tower::Room::default().passed().sum(), 0);
    /// ```
    pub fn passed(&self) -> &Counter {
        &self.passed
    }

    /// Returns how many were refused.
    ///
    /// ```
    /// assert_eq!(windrow_tower::Room::default().blocked().sum(), 0);
    /// ```
    pub fn blocked(&self) -> &Counter {
        &self.blocked
    }

    /// Closes it, if it is empty; then returns true, also if it was closed before.
    fn close(&self) -> bool {
        let closed = self.level.try_enter(CLOSED, AtMost(CLOSED)).map(mem::forget); // for ever
        closed.is_some() || self.is_closed()
    }

    fn is_closed(&self) -> bool {
        self.level.level() == CLOSED
    }
}

/// The total is how many passed, and how many were blocked.
impl Metric for Room {
    type Total = (u64, u64);

    fn total(&self) -> (u64, u64) {
        (self.passed.total(), self.blocked.total())
    }

    fn merge(one: &mut (u64, u64), other: (u64, u64)) {
        Counter::merge(&mut one.0, other.0);
        Counter::merge(&mut one.1, other.1);
    }
}

impl Debug for Room {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Room")
            .field("level", &self.level())
            .field("places", &self.places.get())
            .field("passed", &self.passed)
            .field("blocked", &self.blocked)
            .finish()
    }
}

/// A place in a room, which is free again when this is dropped: from [`Rooms::try_enter`].
///
/// ```
/// # use windrow::labels;
/// # use windrow_tower::Rooms;
/// # labels! { pub struct Client { client: u32 } }
/// static CLIENTS: Rooms<Client> = Rooms::new(1_000, |_| 10);
/// let place = CLIENTS.try_enter(Client { client: 7 }).expect("it is empty");
/// std::thread::spawn(move || drop(place)).join().unwrap();
/// assert_eq!(CLIENTS.family().with(Client { client: 7 }).level(), 0);
/// ```
#[must_use = "the place is free again when this is dropped, which is at once"]
pub struct InRoom<L: Labels> {
    inside: InFlightGuard<Kept<L>>,
}

/// What a place keeps. (A room itself hands out no places but by its limit.)
struct Kept<L: Labels>(Handle<L, Room>);

impl<L: Labels> LevelOwner for Kept<L> {
    fn in_flight(&self) -> &InFlight {
        &self.0.level
    }
}

impl<L: Labels> Debug for InRoom<L> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("InRoom").field(&self.inside.owner().0.labels()).finish()
    }
}
