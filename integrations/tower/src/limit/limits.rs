//! Rate limits by key: a limiter for each, which is a gate or a pace.
//!
//! # Promise
//!
//! No key is admitted more than its limiter grants, also while limiters are created and removed,
//! and if the key has shared the overflow limiter before (see [`sharing`](super::sharing)). There
//! are at most `max_keys` limiters and the overflow limiter: memory is bounded, and no key is
//! without a limit.
//!
//! # Why
//!
//! A limiter decides by itself. It is removed only when it is retired: then none of its grants
//! counts any more, and it refuses all threads that have found it before. A thread that finds a
//! retired limiter removes it in the same look-up, under the family's lock, that finds it retired:
//! so no newer one is removed in its place. A key whose limiter could not be made is removed in the
//! same way: it is ended first, unless another thread has made the limiter, and a thread that has
//! found it before looks again.

use std::mem;
use std::sync::OnceLock;
use std::sync::atomic::{Ordering, fence};
use std::time::Duration;

use windrow::family::{Handle, Pinned};
use windrow::gate::Admission;
use windrow::labels::{LabelNamesError, Labels, RuntimeLabels};
use windrow::{Family, Gate};

use crate::current::Current;
use crate::limit::counts::{Answer, Standing};
use crate::limit::series::Limit;
use crate::limit::sharing::{Departures, decide_by_both};
use crate::limiter::{Limiter, Reply};
use crate::rules::Rate;
use crate::unwind::make_or_undo;
use crate::vacancy::{make_room, make_room_ahead};

/// A rate limiter by key: a [`Limit`] for each client, each route, or each pair of both, for use in
/// a static.
///
/// A key is a set of labels, which [`labels!`](windrow::labels!) declares, or whose names are known
/// only [at run time](Self::with_names). A function makes the gate of a key when the key comes for
/// the first time, and so sets its limit. With a [`Pace`](windrow::Pace) for each key, instead of a
/// gate, they are [`PaceLimits`](crate::PaceLimits).
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
///         None => 100, // all other clients together
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
/// // Ten clients have two each; all others have two together.
/// assert_eq!((0..1_000).filter(|client| ask(client % 500)).count(), 22);
/// ```
///
/// Idle keys make room for new ones: once seven eighths of the keys are in use, each new one looks
/// at eight others, in turn, and [forgets](Self::forget_idle) those that are idle. A request whose
/// key would share the overflow gate does the same. A sweep over all keys is needed only to have
/// their memory back.
///
/// Keys beyond the limit of keys share one gate, the overflow gate, which is that of the key
/// `None`. Keys whose texts are longer than [a family keeps](Family#bounds), 1024 bytes, share it
/// too. So clients with made-up keys cannot fill the memory, and are never without a limit; but a
/// client that comes when others have used up the keys has to share with them.
///
/// A key that has shared, and gets a gate of its own, asks both for one more interval of the
/// overflow gate. (If requests [wait](crate::LimitLayer::wait) there, it asks both for up to two
/// intervals from the end of the last wait.) Then it asks its own alone. So in an interval a client
/// gets at most the greater of the two limits. While a key asks both gates, its requests do not
/// wait for their turn, and the key is not forgotten. (Paces
/// [begin](crate::PaceLimits#when-there-are-too-many-keys) where the shared one stands.)
///
/// A key that a client can choose freely limits no client: each request can have a new one, until
/// all keys are used up. Take a key that has been verified: an account, an address.
///
/// # Settings
///
/// The limits can be a set of rules, from a file or an endpoint, that is swapped whole while
/// requests go on: see [`replace`](Self::replace).
///
/// # Memory
///
/// A key takes 136 bytes; 8 more for each number of 64 bits in it, and 16 for each text; the bytes
/// of texts of more than 15 bytes; and the size of a clock that is not the default. The table
/// has `max_keys` places or up to twice that number, of 8 bytes and a bit each, once for all keys.
/// When more than seven of a key's grants count at a time, or its requests wait or have weights,
/// its gate takes 0.7 kilobytes more, and 64 bytes for each bucket (with one bucket more if it is
/// strict): 1.4 kilobytes for a strict gate of ten buckets. [Rules](Self::replace) that change a
/// gate have the same effect.
///
/// A key takes 80 bytes and two [columns](windrow::diagnostics::columns) more from the first moment
/// at which two threads ask for it together, and 80 bytes more if it
/// [shares](Self#when-there-are-too-many-keys) a gate, or if the rules let its requests wait.
///
/// A key with a pace takes [less](crate::PaceLimits#memory).
pub struct Limits<L: Labels, G: Send + Sync + 'static = Gate> {
    family: Family<L, Limit<G>>,
    /// The overflow key, once it exists.
    overflow: OnceLock<Handle<L, Limit<G>>>,
    pub(super) departures: Departures,
    pub(super) make: Make<L, G>,
    pub(super) current: Current<Rate>,
}

/// Makes a key's limiter; for `None`, that of the overflow key.
type Make<L, G> = for<'k> fn(Option<<L as Labels>::Borrowed<'k>>) -> G;

impl<L: Labels, G: Limiter> Limits<L, G> {
    /// Creates limits for at most `max_keys` keys. The function makes the gate of each key when the
    /// key comes for the first time; and, for `None`, the overflow gate.
    ///
    /// Several threads that need the same gate at once may each call the function; one of their
    /// gates is used. If the function panics, the call that needed the gate panics too: nothing is
    /// admitted, and the key takes no place. For the gates that are possible and the errors (a
    /// limit of zero), see [`GateBuilder::build`](windrow::gate::GateBuilder::build). To change
    /// limits later, see [`replace`](Self::replace), or [`Limit::limiter`] for the limit of one
    /// key.
    ///
    /// ```
    /// use windrow::{Gate, labels};
    /// use windrow_tower::Limits;
    ///
    /// labels! { pub struct Route { route: str } }
    ///
    /// static ROUTES: Limits<Route> =
    ///     Limits::new(200, |_| Gate::builder(500).buckets(10).build().expect("500 a second"));
    /// assert_eq!(ROUTES.family().len(), 0);
    /// ```
    pub const fn new(max_keys: usize, make: Make<L, G>) -> Limits<L, G>
    where
        L: Labels<Names = ()>,
    {
        Limits::of(Family::new().with_max_series(max_keys), make)
    }

    const fn of(family: Family<L, Limit<G>>, make: Make<L, G>) -> Limits<L, G> {
        let departures = Departures::new();
        Limits { family, overflow: OnceLock::new(), departures, make, current: Current::new() }
    }

    /// Asks a key's gate: [`Gate::admit`](windrow::Gate::admit). Counts an admission, now or later,
    /// as passed and a refusal as blocked.
    ///
    /// Use it for operations that are not requests: a message on a web socket, a job. It costs a
    /// lookup in the family, the cost of the gate, and a compare-exchange that counts it; or an add
    /// to a counter, once two threads have asked for the key together. If the key has just been
    /// [forgotten](Self::forget_idle), it takes the family's lock.
    ///
    /// A gate that you [retired](windrow::Gate::retire) yourself refuses forever if it stays in the
    /// family: the gate of a key whose labels are all enums, and the overflow gate. Any other is
    /// replaced by a new one.
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
        self.decide(key, weight, max_wait, |limit, answer| match answer {
            Reply::Told(admission, _) => admission,
            // The future was never polled: it has made no call.
            Reply::Asks(_) => {
                let limiter = limit.limiter();
                let refused = Admission::Refused { retry_after: None };
                let decide = |it: &G| it.decide(weight, Duration::ZERO).0;
                let admission = limiter.map_or(refused, decide);
                limit.count(admission.is_granted());
                admission
            }
        })
    }

    /// Decides about a request of a key, and counts it. `then` gets the key, or the overflow key,
    /// and the decision.
    pub(crate) fn decide<R>(
        &self,
        key: L::Borrowed<'_>,
        weight: u64,
        max_wait: Duration,
        then: impl FnOnce(&Pinned<'_, L, Limit<G>>, Reply<G>) -> R,
    ) -> R {
        let mut has_looked = false;
        loop {
            let limit = self.family.with(key);
            if limit.is_without_limiter() {
                self.make_limiter(&limit.keep());
            }
            let is_overflow = matches!(limit.own(), Some((_, Standing::Overflow)));
            let looks = is_overflow && !mem::replace(&mut has_looked, true);
            if looks && make_room(&self.family, |limit| self.is_in_use(limit)) {
                continue;
            }
            let max_wait = limit.counts.max_wait(max_wait);
            match limit.own().and_then(|own| self.ask(own, key, weight, max_wait)) {
                // It is counted once it is answered.
                Some(asks @ Reply::Asks(_)) => return then(&limit, asks),
                Some(Reply::Told(admission, grant)) if admission.is_granted() => {
                    limit.counts.count(Answer::Passed);
                    return then(&limit, Reply::Told(admission, grant));
                }
                Some(refused) if !limit.is_over() || Self::stays(&limit.keep()) => {
                    limit.counts.count(Answer::Blocked);
                    return then(&limit, refused);
                }
                _ => {}
            }
            drop(limit);
            self.family.remove_if(key, |limit| self.leaves(limit));
        }
    }

    /// Asks the limiters of a key; `None` if the key is to be looked for again.
    fn ask(
        &self,
        (limiter, standing): (&G, Standing),
        key: L::Borrowed<'_>,
        weight: u64,
        max_wait: Duration,
    ) -> Option<Reply<G>> {
        match standing {
            Standing::Overflow => {
                let departures = self.departures.count();
                let (admission, grant) = match limiter.answer(weight, max_wait) {
                    Reply::Told(admission, Some(grant)) => (admission, grant),
                    other => return Some(other),
                };
                if self.has_found_room(key) || self.departures.have_changed_since(departures) {
                    limiter.leave_unused(grant);
                    return None;
                }
                return Some(Reply::Told(admission, Some(grant)));
            }
            Standing::Sharing(_) => {
                if let Some((overflow, left)) = self.shared(standing) {
                    let (admission, grant) = decide_by_both(limiter, overflow, weight, left);
                    return Some(Reply::Told(admission, grant));
                }
            }
            Standing::Alone => {}
        }
        Some(limiter.answer(weight, max_wait))
    }

    /// Returns whether a key has a series now that had none before the overflow limiter was asked.
    fn has_found_room(&self, key: L::Borrowed<'_>) -> bool {
        // Between that limiter's grant and the look; pairs with the fence in `standing`.
        fence(Ordering::SeqCst);
        self.family.get(key).is_some()
    }

    /// Returns the standing of a key that is in the family now, and begins with this limiter.
    fn standing(&self, limit: &Handle<L, Limit<G>>, own: &G) -> Standing {
        if limit.labels().is_none() {
            self.overflow.get_or_init(|| limit.clone());
            return Standing::Overflow;
        }
        // Between the series and the look; pairs with the fence in `has_found_room`.
        fence(Ordering::SeqCst);
        let until = self.overflow_limiter().and_then(|overflow| own.succeed(overflow));
        until.map_or(Standing::Alone, Standing::Sharing)
    }

    /// Makes a key's limiter, unless another thread is faster. If that panics, the key is removed.
    #[cold]
    fn make_limiter(&self, limit: &Handle<L, Limit<G>>) {
        let make = || (self.make)(limit.labels());
        let leave = || {
            if let Some(key) = limit.labels().filter(|_| !Self::stays(limit)) {
                limit.end_without_limiter();
                self.family.remove_if(key, |limit| self.leaves(limit));
            }
        };
        let new = make_or_undo(make, leave);
        self.current.publish(|rules| {
            let rate = rules.map(|it| it.setting_of::<L>(self.family.names(), limit.labels()));
            let limiter = match rate {
                Some(rate) => {
                    limit.counts.set_max_wait(rate.max_wait);
                    new.begun_with(rate)
                }
                None => new,
            };
            let standing = self.standing(limit, &limiter);
            limit.set_own(limiter, standing);
        });
        // For the keys after this one, which is kept by its handle.
        make_room_ahead(&self.family, |limit| self.is_in_use(limit));
    }

    /// Returns the limiter of the overflow key, if there is one.
    pub(super) fn overflow_limiter(&self) -> Option<&G> {
        self.overflow.get().and_then(|overflow| overflow.limiter())
    }

    /// Returns whether the family keeps a key even if its limiter is retired.
    fn stays(limit: &Handle<L, Limit<G>>) -> bool {
        L::COMBINATIONS.is_some() || limit.labels().is_none()
    }

    /// Returns the family of the keys, for reading and for exporters:
    /// `field_count_fn(CLIENTS.family(), Limit::blocked)`, which is in [`windrow::export`]. The
    /// overflow key has no labels.
    ///
    /// Do not [`remove`](windrow::Family::remove) keys from it: a removed gate would forget its
    /// grants. A handle of a key that is forgotten meanwhile has a retired gate.
    ///
    /// ```
    /// use windrow::{Gate, labels};
    /// use windrow_tower::Limits;
    ///
    /// labels! { pub struct Client { client: str } }
    ///
    /// static CLIENTS: Limits<Client> =
    ///     Limits::new(1_000, |_| Gate::builder(10).build().expect("ten a second"));
    /// for limit in CLIENTS.family() {
    ///     let (passed, blocked) = (limit.passed(), limit.blocked());
    ///     println!("{:?}: {passed} passed, {blocked} blocked", limit.labels());
    /// }
    /// ```
    pub fn family(&self) -> &Family<L, Limit<G>> {
        &self.family
    }
}

impl<G: Limiter> Limits<RuntimeLabels, G> {
    /// Creates limits for at most `max_keys` keys, whose labels have names that are known only at
    /// run time. The function makes the gates, as described for [`new`](Self::new).
    ///
    /// A key with another number of values than names shares the overflow gate. For a layer, see
    /// [`LimitLayer::with_values`](crate::LimitLayer::with_values).
    ///
    /// ```
    /// use std::sync::LazyLock;
    /// use std::time::Duration;
    /// use windrow::{Gate, labels::RuntimeLabels};
    /// use windrow_tower::Limits;
    ///
    /// static TENANTS: LazyLock<Limits<RuntimeLabels>> = LazyLock::new(|| {
    ///     let from_a_file = "tenant,region";
    ///     let one = |_: Option<&[&str]>| Gate::builder(1).build().expect("one a second");
    ///     Limits::with_names(from_a_file.split(','), 10_000, one).expect("names that differ")
    /// });
    ///
    /// let ask = |key: &[&str]| TENANTS.admit(key, 1, Duration::ZERO).is_granted();
    /// assert!(ask(&["acme", "eu"]) && !ask(&["acme", "eu"]) && ask(&["acme", "us"]));
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Family::with_names`].
    pub fn with_names(
        names: impl IntoIterator<Item: AsRef<str>>,
        max_keys: usize,
        make: Make<RuntimeLabels, G>,
    ) -> Result<Limits<RuntimeLabels, G>, LabelNamesError> {
        let family = Family::with_names(names)?.with_max_series(max_keys);
        Ok(Limits::<RuntimeLabels, G>::of(family, make))
    }
}
