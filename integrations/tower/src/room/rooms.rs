//! Concurrency limits by key: a room for each.
//!
//! # Promise
//!
//! A room never holds more requests than it has places, also while rooms are created and removed.
//! Memory is bounded as for [`Limits`](crate::Limits).
//!
//! # Why
//!
//! The level of a room is one atomic, and a compare-exchange checks and counts at once. A room is
//! removed only when it is *closed*: by the same compare-exchange, from an empty room to the
//! highest level that exists. So a thread that has found it before is refused, and looks again. A
//! thread that finds a closed room removes it in the same look-up, under the family's lock, that
//! finds it closed.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use windrow::family::Handle;
use windrow::labels::{LabelNamesError, Labels, RuntimeLabels};
use windrow::{AtMost, Family};

use crate::current::{Changes, Current};
use crate::room::{CLOSED, InRoom, Kept, Room, Terms};
#[cfg(feature = "json")]
use crate::rules::RulesFile;
use crate::rules::{Places, RoomRules, RulesError};
use crate::unwind::make_or_undo;
use crate::vacancy::{make_room, make_room_ahead};

/// A concurrency limit by key: a [`Room`] for each, which bounds the requests in flight. For use in
/// a static.
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
/// Keys beyond the limit of keys share one room, that of the key `None`. Empty rooms make way for
/// new keys: once more than seven eighths of the keys have one, each new one looks at eight others,
/// in turn, and [forgets](Self::forget_idle) those whose rooms are empty. A request whose key would
/// share does the same. A sweep over all keys is needed only to have their memory back. A room in
/// use never leaves.
///
/// A key that gets a room of its own keeps the places that it has in the shared room besides, until
/// it leaves them.
pub struct Rooms<L: Labels> {
    family: Family<L, Room>,
    places: PlacesOf<L>,
    current: Current<Places>,
}

/// Returns the number of places of a key's room; for `None`, of the shared room.
type PlacesOf<L> = for<'k> fn(Option<<L as Labels>::Borrowed<'k>>) -> u64;

impl<L: Labels> Rooms<L> {
    /// Creates rooms for at most `max_keys` keys. The function returns the number of places of a
    /// key's room when the key comes for the first time; and, for `None`, of the shared room. A
    /// room without places refuses all requests.
    ///
    /// Several threads that need the same room at once may each call the function. If it panics,
    /// the call that needed the room panics too: nothing is admitted, and the key takes no place in
    /// the family.
    ///
    /// ```
    /// use windrow::labels;
    /// use windrow_tower::Rooms;
    ///
    /// labels! { pub struct Client { client: u32 } }
    ///
    /// static CLIENTS: Rooms<Client> = Rooms::new(1_000, |_| 10);
    /// assert_eq!(CLIENTS.family().len(), 0);
    /// ```
    pub const fn new(max_keys: usize, places: PlacesOf<L>) -> Rooms<L>
    where
        L: Labels<Names = ()>,
    {
        Rooms { family: Family::new().with_max_series(max_keys), places, current: Current::new() }
    }

    /// Takes a place in a key's room, until the returned guard is dropped; returns `None` if the
    /// room is full. Counts the request as passed or as blocked.
    ///
    /// The call costs a lookup in the family and a reference to the room, a compare-exchange and an
    /// add to a counter. If the key has just been [forgotten](Self::forget_idle), it takes the
    /// family's lock.
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
    #[must_use = "the place is free when the guard is dropped: bind it to a name, such as `_place`"]
    pub fn try_enter(&self, key: L::Borrowed<'_>) -> Option<InRoom<L>> {
        let mut has_looked = false;
        loop {
            let room = self.family.with(key);
            if room.places().is_none() {
                self.make(&room.keep());
            }
            let looks = room.is_shared() && !mem::replace(&mut has_looked, true);
            if looks && make_room(&self.family, |room| !room.close()) {
                continue;
            }
            let places = room.places().unwrap_or_default().min(CLOSED - 1);
            if let Some(inside) = room.level.try_enter(1, AtMost(places)) {
                // A room in use is not closed, and does not leave the family.
                room.passed.increment();
                return Some(InRoom { _inside: inside.owned_by(Kept(room.keep())) });
            }
            if !room.is_closed() {
                room.blocked.increment();
                return None;
            }
            drop(room);
            self.family.remove_if(key, Room::is_closed);
        }
    }

    /// Sets the number of places of a key's room, unless another thread is faster. If that panics,
    /// the key is removed.
    #[cold]
    fn make(&self, room: &Handle<L, Room>) {
        let key = room.labels();
        let leave = || {
            if let Some(key) = key.filter(|_| L::COMBINATIONS.is_none() && room.close()) {
                self.family.remove_if(key, Room::is_closed);
            }
        };
        let places = make_or_undo(|| (self.places)(key), leave);
        self.current.publish(|rules| {
            let setting =
                |rules: &RoomRules| rules.setting_of::<L>(self.family.names(), key).places;
            let places = AtomicU64::new(rules.map_or(places, setting));
            room.terms.get_or_init(|| Terms { places, is_shared: key.is_none() });
        });
        // For the keys after this one, which is kept by its handle.
        make_room_ahead(&self.family, |room| !room.close());
    }

    /// Forgets the keys whose rooms are empty. Returns their number.
    ///
    /// No request is admitted by it that would otherwise be refused: a room is closed forever at a
    /// moment at which it is empty. The key's counts stay in the family's total.
    ///
    /// If all labels of the key are enums, it does nothing: then the number of keys is bounded
    /// anyway.
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

    /// Returns the family of the keys, for reading and for exporters. The overflow key has no
    /// labels.
    ///
    /// Do not [`remove`](windrow::Family::remove) keys from it: the key would get a new room, with
    /// all its places.
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

    /// Replaces the rules: from now on they give each key's room its number of places, both the
    /// rooms that exist and those that come later.
    ///
    /// Before the first call, the function given to [`new`](Self::new) decides alone. The rules are
    /// checked first; if anything is wrong, nothing changes.
    ///
    /// A request keeps its place. Where there are fewer places than before, requests are refused
    /// until enough others have left. A request that begins after this returns is decided by the
    /// new rules, and one that is under way by the old or the new ones.
    ///
    /// The call costs less than a microsecond for each key. Requests do not wait for it, except
    /// that the first request of a new key may wait while the set itself is exchanged. Concurrent
    /// swaps run one after the other.
    ///
    /// # Errors
    ///
    /// Returns [`RulesError::Part`] if a rule names a label that keys do not have. The old
    /// rules stay in force.
    ///
    /// ```
    /// use windrow::labels;
    /// use windrow_tower::{Places, Rooms, Rules, RulesError};
    ///
    /// labels! { pub struct Route { route: str } }
    ///
    /// static ROUTES: Rooms<Route> = Rooms::new(1_000, |_| 100);
    ///
    /// let report = Route { route: "/report" };
    /// let first = ROUTES.try_enter(report);
    /// let rules = Rules::builder(Places::new(100)).rule([("route", "/report")], Places::new(1));
    /// assert_eq!(ROUTES.replace(rules.build()?)?.keys, 1);
    /// assert!(ROUTES.try_enter(report).is_none());
    /// drop(first);
    /// assert!(ROUTES.try_enter(report).is_some());
    /// # Ok::<(), RulesError>(())
    /// ```
    pub fn replace(&self, rules: RoomRules) -> Result<Changes, RulesError> {
        self.check(&rules)?;
        Ok(self.current.replace(rules, self.family(), |room, places| Some(room.go_by(places))))
    }

    /// Checks rules as [`replace`](Self::replace) does, and changes nothing: see
    /// [`Limits::check`](crate::Limits::check).
    ///
    /// # Errors
    ///
    /// Returns the errors of [`replace`](Self::replace). Rules for which there is no error are not
    /// refused later.
    pub fn check(&self, rules: &RoomRules) -> Result<(), RulesError> {
        rules.check_labels(self.family().names())
    }

    /// Replaces the rules by a [JSON text](crate::Rules#json). Needs the feature `json`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Rules::from_json`](crate::Rules::from_json) and
    /// [`replace`](Self::replace). The old rules stay in force.
    ///
    /// ```
    /// # use windrow::labels;
    /// # use windrow_tower::{Rooms, RulesError};
    /// # labels! { pub struct Route { route: str } }
    /// # static ROUTES: Rooms<Route> = Rooms::new(1_000, |_| 100);
    /// ROUTES.reload(
    ///     br#"{
    ///         "default": { "places": 50 },
    ///         "rules": [ { "match": { "route": "/report" }, "places": 2 } ]
    ///     }"#,
    /// )?;
    /// # Ok::<(), RulesError>(())
    /// ```
    #[cfg(feature = "json")]
    pub fn reload(&self, text: &[u8]) -> Result<Changes, RulesError> {
        self.replace(RoomRules::from_json(text)?)
    }

    /// Replaces the rules by a JSON file, if its text has changed since the last call with this
    /// `file`: see [`Limits::reload_if_changed`](crate::Limits::reload_if_changed). Needs the
    /// feature `json`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`RulesFile::read_if_changed`] and [`reload`](Self::reload), once for
    /// each text. The old rules stay in force.
    #[cfg(feature = "json")]
    pub fn reload_if_changed(&self, file: &mut RulesFile) -> Result<Option<Changes>, RulesError> {
        file.read_if_changed()?.map(|text| self.reload(&text)).transpose()
    }

    /// Returns the rules in force; `None` before the first [`replace`](Self::replace).
    pub fn rules(&self) -> Option<Arc<RoomRules>> {
        self.current.load().clone()
    }
}

impl Rooms<RuntimeLabels> {
    /// Creates rooms for at most `max_keys` keys, whose labels have names that are known only at
    /// run time. The function `places` returns the number of requests that each room holds, as
    /// described for [`new`](Self::new).
    ///
    /// A key must have one value for each name: one that has more or fewer shares the overflow
    /// room. For a layer, see [`RoomLayer::with_values`](crate::RoomLayer::with_values).
    ///
    /// ```
    /// use windrow_tower::Rooms;
    ///
    /// let tenants = Rooms::with_names(["tenant"], 1_000, |_| 1)?;
    /// let place = tenants.try_enter(&["acme"]);
    /// assert!(place.is_some() && tenants.try_enter(&["acme"]).is_none());
    /// # Ok::<(), windrow::labels::LabelNamesError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Family::with_names`].
    pub fn with_names(
        names: impl IntoIterator<Item: AsRef<str>>,
        max_keys: usize,
        places: PlacesOf<RuntimeLabels>,
    ) -> Result<Rooms<RuntimeLabels>, LabelNamesError> {
        let family = Family::with_names(names)?.with_max_series(max_keys);
        Ok(Rooms { family, places, current: Current::new() })
    }
}
