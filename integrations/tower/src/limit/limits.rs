//! Limits in time, by key: a gate for each.
//!
//! # Promise
//!
//! Of each key never more is let through than its gate grants, also where gates come and go, and
//! where the key has shared the overflow gate before (see [`sharing`](super::sharing)). There are
//! at most as many gates as there may be keys, and one more: memory is bounded, and no key is
//! without a limit.
//!
//! # Why
//!
//! A gate decides by itself. It leaves only when it is retired: then nothing that it granted counts
//! any more, and it refuses whoever has found it before. Who finds a retired gate takes it out by
//! the very look, under the family's lock, that finds it retired: so no newer gate leaves in its
//! place. A key whose gate could not be made leaves in the same way: it is ended first, unless
//! another thread has made the gate, and a thread that has found it before looks again.

use std::fmt::{self, Debug, Formatter};
use std::sync::OnceLock;
use std::sync::atomic::{Ordering, fence};
use std::time::Duration;

use windrow::clock::Coarse;
use windrow::{Clock, Family, Gate, family::Handle, gate::Admission, labels::Labels};

use crate::limit::current::Current;
use crate::limit::series::{Limit, Standing};
use crate::limit::sharing::{Sharing, admit_by_both};
use crate::unwind::make_or_undo;

/// A [`Limit`] for each key: each client, each route, or both. It is made to be a static.
///
/// A key is a set of labels. What it may do, a function says: it makes the gate of a key when that
/// comes for the first time.
///
/// ```
/// use std::time::Duration;
/// use windrow::{Gate, labels};
/// use windrow_tower::Limits;
///
/// labels! { pub struct Client { client: str } }
///
/// static CLIENTS: Limits<Client> = Limits::new(10_000, |client| {
///     let a_second = match client {
///         Some(Client { client: "batch" }) => 1_000,
///         Some(_) => 10,
///         None => 100, // all that find no room, together
///     };
///     Gate::builder(a_second).buckets(10).build().expect("a second in ten buckets")
/// });
///
/// let client = Client { client: "alice" };
/// assert!((0..10).all(|_| CLIENTS.admit(client, 1, Duration::ZERO).is_granted()));
/// ```
///
/// # When there are too many keys
///
/// ```
/// use std::time::Duration;
/// use windrow::{Gate, labels};
/// use windrow_tower::Limits;
///
/// labels! { pub struct Client { client: u32 } }
///
/// static CLIENTS: Limits<Client> = Limits::new(10, |_| {
///     Gate::builder(2).interval(Duration::from_secs(3_600)).build().expect("two an hour")
/// });
/// let ask = |client| CLIENTS.admit(Client { client }, 1, Duration::ZERO).is_granted();
/// // Ten clients have two each, and all others have two together.
/// assert_eq!((0..1_000).filter(|client| ask(client % 500)).count(), 22);
/// ```
///
/// Keys that find no room share one gate, that of the key `None`; so do keys whose texts are longer
/// than [a family keeps](Family#bounds), 1024 bytes. So strangers cannot fill the memory, and are
/// never without a limit; but who comes when others have filled the room has to share with them.
/// Call [`forget_idle`](Self::forget_idle) from time to time: once an interval, say.
///
/// A key that finds room while others share asks both gates for one interval more of the shared one
/// (where requests [wait](crate::LimitLayer::wait) there, for up to two from the end of the last
/// wait), and then its own alone. So a client has never more than its limit, or that of all who
/// share, if that is higher: also where it has shared just before, given two gates of one interval.
/// In that time its requests do not wait for their turn, and the key is not forgotten.
///
/// A key that a client can make up as it likes limits nobody: it is a new one each time, until the
/// room is full. Take what somebody has vouched for: an account, an address.
///
/// # Settings
///
/// What keys may do can be a set of rules, from a file or an endpoint, that is swapped whole while
/// requests go on: see [`replace`](Self::replace).
///
/// # Memory
///
/// A key takes 1.25 kilobytes, 64 bytes for each bucket of its gate (one bucket more if that is
/// strict), and its texts: 1.9 kilobytes of a strict gate of ten buckets. That is what is
/// allocated; two counters take their columns besides.
pub struct Limits<L: Labels, C: Clock + Send + Sync + 'static = Coarse> {
    family: Family<L, Limit<C>>,
    /// The key of all that find no room, once there is one.
    overflow: OnceLock<Handle<L, Limit<C>>>,
    gate: MakeGate<L, C>,
    current: Current,
}

/// Makes a key's gate; or, of no key, that of all keys that find no room.
type MakeGate<L, C> = for<'k> fn(Option<<L as Labels>::Borrowed<'k>>) -> Gate<C>;

impl<L: Labels, C: Clock + Send + Sync + 'static> Limits<L, C> {
    /// Limits without a key yet, with room for so many. A function makes the gate of each key, when
    /// it comes for the first time; and, of `None`, the one of all keys that find no room.
    ///
    /// Several threads that need the same gate at once may call it each; one of their gates is
    /// taken. If it panics, so does the call that needed the gate: nothing is let through, and the
    /// key takes no room. What a gate may be, and what is refused (a limit of zero),
    /// [`GateBuilder::build`](windrow::gate::GateBuilder::build) says. For other limits later, see
    /// [`replace`](Self::replace); for another limit of one key, [`Limit::gate`].
    ///
    /// ```
    /// use windrow::{Gate, labels};
    /// use windrow_tower::Limits;
    ///
    /// labels! { pub struct Route { route: str } }
    ///
    /// static ROUTES: Limits<Route> =
    ///     Limits::new(200, |_| Gate::builder(500).buckets(10).build().expect("500 a second"));
    /// assert!(ROUTES.family().is_empty());
    /// ```
    pub const fn new(max_keys: usize, gate: MakeGate<L, C>) -> Limits<L, C>
    where
        L: Labels<Names = ()>,
    {
        let family = Family::new().limit(max_keys);
        Limits { family, overflow: OnceLock::new(), gate, current: Current::new() }
    }

    /// Asks a key's gate: [`Gate::admit`](windrow::Gate::admit). Counts one that is let through,
    /// now or later, or one that is blocked.
    ///
    /// For what is no request: a message on a web socket, a job. It costs a lookup in the family,
    /// what the gate does, and an add to a counter. If the key has just been
    /// [forgotten](Self::forget_idle), it takes the family's lock.
    ///
    /// A gate that you [retired](windrow::Gate::retire) yourself refuses for ever, if it stays in
    /// the family: that of a key whose labels are all enums, and that of all keys that find no
    /// room. Any other makes way for a new one.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Gate, labels, gate::Admission};
    /// use windrow_tower::Limits;
    ///
    /// labels! { pub struct Room { room: u32 } }
    ///
    /// static MESSAGES: Limits<Room> =
    ///     Limits::new(1_000, |_| Gate::builder(3).build().expect("three a second"));
    /// assert_eq!(MESSAGES.admit(Room { room: 7 }, 1, Duration::ZERO), Admission::Now);
    /// let too_much = MESSAGES.admit(Room { room: 7 }, 4, Duration::ZERO);
    /// assert_eq!(too_much, Admission::Refused { retry_after: None });
    /// ```
    pub fn admit(&self, key: L::Borrowed<'_>, weight: u64, max_wait: Duration) -> Admission {
        loop {
            let limit = self.family.with(key);
            if limit.is_without_gate() {
                self.make_gate(&limit.keep());
            }
            let max_wait = limit.max_wait(max_wait);
            match limit.own().and_then(|own| self.ask(own, key, weight, max_wait)) {
                Some(admission) if admission.is_granted() => {
                    limit.passed.increment();
                    return admission;
                }
                Some(admission) if !limit.is_over() || Self::stays(&limit.keep()) => {
                    limit.blocked.increment();
                    return admission;
                }
                _ => {}
            }
            drop(limit);
            self.family.remove_if(key, Limit::is_over);
        }
    }

    /// Asks the gates of a key; `None` if the key is to be looked for again.
    fn ask(
        &self,
        (gate, standing): (&Gate<C>, Standing),
        key: L::Borrowed<'_>,
        weight: u64,
        max_wait: Duration,
    ) -> Option<Admission> {
        match standing {
            Standing::Overflow => {
                let admission = gate.admit(weight, max_wait);
                let is_in_vain = admission.is_granted() && self.has_found_room(key);
                return (!is_in_vain).then_some(admission);
            }
            Standing::Sharing(sharing) => {
                let overflow = self.overflow.get().and_then(|overflow| overflow.gate());
                if let Some((overflow, left)) =
                    overflow.and_then(|it| Some((it, sharing.left(it)?)))
                {
                    return Some(admit_by_both(gate, overflow, weight, left));
                }
            }
            Standing::Alone => {}
        }
        Some(gate.admit(weight, max_wait))
    }

    /// Returns whether a key has room by now that had none before the overflow gate was asked.
    fn has_found_room(&self, key: L::Borrowed<'_>) -> bool {
        fence(Ordering::SeqCst); // between that gate's grant and the look; pairs with the one in `standing`
        self.family.get(key).is_some()
    }

    /// Returns what becomes of a key that is in the family now.
    fn standing(&self, limit: &Handle<L, Limit<C>>) -> Standing {
        if limit.labels().is_none() {
            self.overflow.get_or_init(|| limit.clone());
            return Standing::Overflow;
        }
        fence(Ordering::SeqCst); // between the series and the look; pairs with the one in `has_found_room`
        let overflow = self.overflow.get().and_then(|overflow| overflow.gate());
        overflow.and_then(Sharing::with).map_or(Standing::Alone, Standing::Sharing)
    }

    /// Returns whether a key still shares, and so is not to be forgotten.
    fn shares(&self, standing: Standing) -> bool {
        let overflow = self.overflow.get().and_then(|overflow| overflow.gate());
        match (standing, overflow) {
            (Standing::Sharing(sharing), Some(overflow)) => sharing.left(overflow).is_some(),
            _ => false,
        }
    }

    /// Makes a key's gate, unless another thread is faster. If that panics, the key leaves its
    /// place.
    #[cold]
    fn make_gate(&self, limit: &Handle<L, Limit<C>>) {
        let make = || self.make(limit.labels());
        let leave = || {
            if let Some(key) = limit.labels().filter(|_| !Self::stays(limit)) {
                limit.end_without_gate();
                self.family.remove_if(key, Limit::is_over);
            }
        };
        let gate = make_or_undo(make, leave);
        self.current.publish(|rules| {
            if let Some(rules) = rules {
                limit.begin_by(&gate, rules.rate_of::<L>(self.family.names(), limit.labels()));
            }
            limit.set_own(gate, self.standing(limit));
        });
    }

    /// Has the user's function make a gate.
    pub(super) fn make(&self, key: Option<L::Borrowed<'_>>) -> Gate<C> {
        (self.gate)(key)
    }

    /// Returns the rules in force.
    pub(super) fn current(&self) -> &Current {
        &self.current
    }

    /// Returns whether the family finds the same gate again, whatever becomes of that.
    fn stays(limit: &Handle<L, Limit<C>>) -> bool {
        L::COMBINATIONS.is_some() || limit.labels().is_none()
    }

    /// Forgets the keys of which nothing counts any more, neither granted nor waited for, and which
    /// no longer
    /// [share](Self#when-there-are-too-many-keys); and tells how many they were.
    ///
    /// Nobody gets more by it: also not who asks meanwhile, on a clock that does not step back. A
    /// forgotten key's gate is [retired](windrow::Gate::retire), and the next one begins as that
    /// has ended: with nothing granted. But it has the limit that the function says, or the rules,
    /// not one that was [set](windrow::Gate::set_limit). What was counted stays in the family's
    /// total.
    ///
    /// Opens a bucket of each gate that it ends, and reads the others. If all labels of the key are
    /// enums it does nothing: then there are no more keys than sets of labels.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::clock::Manual;
    /// use windrow::{Gate, labels};
    /// use windrow_tower::Limits;
    ///
    /// labels! { pub struct Client { client: str } }
    ///
    /// thread_local! { static CLOCK: Manual = Manual::default(); }
    /// let clients = Limits::<Client, Manual>::new(10, |_| {
    ///     Gate::builder(1).clock(CLOCK.with(Manual::clone)).build().expect("one a second")
    /// });
    /// assert!(clients.admit(Client { client: "alice" }, 1, Duration::ZERO).is_granted());
    /// assert_eq!(clients.forget_idle(), 0);
    /// CLOCK.with(|clock| clock.advance(Duration::from_secs(1)));
    /// assert_eq!((clients.forget_idle(), clients.family().len()), (1, 0));
    /// ```
    pub fn forget_idle(&self) -> usize {
        if L::COMBINATIONS.is_some() {
            return 0;
        }
        // One without a gate is just being made.
        let is_kept = |(gate, standing): (&Gate<C>, _)| self.shares(standing) || !gate.retire();
        self.family.retain(|limit, _| limit.own().is_none_or(is_kept))
    }

    /// Returns the keys that there are, for whoever wants to see them, and for exporters:
    /// `field(CLIENTS.family(), Limit::blocked)`. That of all that find no room has no labels.
    ///
    /// [`remove`](windrow::Family::remove) no key from it: its gate would forget what it has
    /// granted. Who keeps a handle of a key that is forgotten meanwhile has one of a gate that is
    /// retired.
    ///
    /// ```
    /// use windrow::{Gate, labels};
    /// use windrow_tower::Limits;
    ///
    /// labels! { pub struct Client { client: str } }
    ///
    /// static CLIENTS: Limits<Client> = Limits::new(1_000, |_| Gate::builder(10).build().expect("ten a second"));
    /// for limit in CLIENTS.family() {
    ///     println!("{:?}: {} passed, {} blocked", limit.labels(), limit.passed(), limit.blocked());
    /// }
    /// ```
    pub fn family(&self) -> &Family<L, Limit<C>> {
        &self.family
    }
}

impl<L: Labels, C: Clock + Send + Sync + 'static> Debug for Limits<L, C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Limits").field(&self.family).finish()
    }
}
