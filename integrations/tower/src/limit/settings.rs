//! Swapping all rules at once while requests go on.
//!
//! # Promise
//!
//! Take any grants of a key, and the rates that the key had from the decision on the first of them
//! to the decision on the last. If no two of the grants are further apart than the shortest
//! [span](#spans) of these rates, their sum is at most the highest limit of these rates. This holds
//! across swaps of limits and of geometries, and however often the key is forgotten in between.
//!
//! The rates of a key are those of its own gate, and, while it is without one or shares, those of
//! the overflow gate.
//!
//! A request that begins after [`Limits::replace`] has returned is decided by the new rules.
//!
//! # Spans
//!
//! The span of a strict rate is its interval; the span of any other rate is one bucket shorter. The
//! time of a grant is its moment, or the end of its wait.
//!
//! # Why
//!
//! A swap changes a gate's rate and keeps the gate, so what the gate has granted still counts. A
//! grant that a gate has forgotten had left an interval that the gate had since then, and a gate is
//! retired only when all its grants have left. So if grants are closer together than each of these
//! intervals, the gate knew all of them when it decided on the last one, and kept their sum within
//! its limit. For the overflow gate, [`sharing`](super::sharing) has the rest.
//!
//! For paces, take the highest burst and the shortest period of these rates, which one pace would
//! have. A swap changes a pace as `Pace::reconfigure`, whose promise is that; a new one begins by
//! the rules, and by what is in use of the overflow pace then.
//!
//! While a rate is changed, the gate has the lower of the two limits and one of the two geometries:
//! it grants nothing that both rates would refuse.
//!
//! A gate is published under a lock that excludes the swap itself. So either it is published before
//! the swap, and the walk after the swap finds it, or it has the new rate from the beginning.

use std::sync::Arc;

use windrow::labels::Labels;

use crate::current::Changes;
use crate::limit::limits::Limits;
use crate::limiter::Limiter;
#[cfg(feature = "json")]
use crate::rules::RulesFile;
use crate::rules::{LimitRules, RulesError};

impl<L: Labels, G: Limiter> Limits<L, G> {
    /// Replaces the rules: from now on they give each key its rate, both the keys that exist and
    /// those that come later.
    ///
    /// Before the first call, the function given to [`new`](Self::new) decides alone. Afterwards it
    /// still makes each gate, on its clock, and the rules set the gate's limit, interval and
    /// buckets; or the period and the burst of a [pace](crate::PaceLimits#settings). (A gate that
    /// it builds strict stays strict.) A rate that was set on a [gate](crate::Limit::limiter) by
    /// hand is overwritten.
    ///
    /// # Across a swap
    ///
    /// The rules are checked first; if anything is wrong, nothing changes. Then the set is swapped,
    /// and each gate is [changed](windrow::Gate::reconfigure) in place, so that what it has granted
    /// still counts:
    ///
    /// - After a lower limit, requests are refused until enough grants have left the interval.
    ///   After a higher limit, more requests are admitted at once.
    /// - A key whose rule is gone has the default rate.
    /// - **Where only limits change, no interval ever holds more than the highest limit that was in
    ///   force during it.** Where intervals change too, the same holds for each span up to the
    ///   shortest interval that was in force during it, less a bucket of that rate if it is not
    ///   strict. A key that has used the overflow gate had that gate's rate too.
    /// - A request that begins after this returns is decided by the new rules. A request that is
    ///   under way is granted only what its old rate or its new one grants.
    ///
    /// # Cost
    ///
    /// One to three microseconds for each key, and five nanoseconds for each rule that a key is
    /// compared with. Requests do not wait for it, except that the first request of a new key may
    /// wait while the set itself is exchanged. Concurrent swaps run one after the other.
    ///
    /// # Errors
    ///
    /// Returns [`RulesError::Part`] if a rule names a label that keys do not have, if the clock is
    /// too coarse for a rate, or if the limiters do not take one of its fields: a gate has no
    /// burst, a pace is not strict, and [`Paces`](windrow::Paces) do not even take the limit. The
    /// old rules stay in force.
    ///
    /// # Panics
    ///
    /// Panics if the function that makes gates panics. The old rules stay in force.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Gate, labels};
    /// use windrow_tower::{Limits, Rate, Rules, RulesError};
    ///
    /// labels! { pub struct Client { client: str } }
    ///
    /// static CLIENTS: Limits<Client> =
    ///     Limits::new(1_000, |_| Gate::builder(100).build().expect("100 a second"));
    ///
    /// let alice = Client { client: "alice" };
    /// assert!(CLIENTS.admit(alice, 3, Duration::ZERO).is_granted());
    /// let rules = Rules::builder(Rate::new(100)).rule([("client", "a*")], Rate::new(5));
    /// assert_eq!(CLIENTS.replace(rules.build()?)?.keys, 1);
    /// assert!(!CLIENTS.admit(alice, 3, Duration::ZERO).is_granted()); // three of five are used
    ///
    /// let rules = Rules::builder(Rate::new(100)).rule([("clinet", "a*")], Rate::new(500));
    /// let refused = CLIENTS.replace(rules.build()?);
    /// assert!(matches!(refused, Err(RulesError::Part { .. })));
    /// assert_eq!(CLIENTS.rules().unwrap().setting::<Client>(Some(alice)).limit, 5);
    /// # Ok::<(), windrow_tower::RulesError>(())
    /// ```
    pub fn replace(&self, rules: LimitRules) -> Result<Changes, RulesError> {
        self.check(&rules)?;
        Ok(self.current.replace(rules, self.family(), |limit, rate| limit.go_by(rate).ok()))
    }

    /// Checks rules as [`replace`](Self::replace) does, and changes nothing: for settings of
    /// several limits, which are replaced only if all are valid.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`replace`](Self::replace). Rules for which there is no error are not
    /// refused later.
    ///
    /// # Panics
    ///
    /// Panics if the function that makes gates panics.
    ///
    /// ```
    /// use windrow::{Gate, labels};
    /// use windrow_tower::{LimitRules, Limits, RoomRules, Rooms, RulesError};
    ///
    /// labels! { pub struct Client { client: str } }
    ///
    /// static CLIENTS: Limits<Client> =
    ///     Limits::new(1_000, |_| Gate::builder(100).build().expect("100 a second"));
    /// static AT_ONCE: Rooms<Client> = Rooms::new(1_000, |_| 5);
    ///
    /// fn replace(limits: LimitRules, rooms: RoomRules) -> Result<(), RulesError> {
    ///     CLIENTS.check(&limits)?;
    ///     AT_ONCE.check(&rooms)?;
    ///     CLIENTS.replace(limits)?;
    ///     AT_ONCE.replace(rooms)?;
    ///     Ok(())
    /// }
    /// # use windrow_tower::{Places, Rate, Rules};
    /// # let rooms = Rules::builder(Places::new(9)).rule([("room", "a")], Places::new(9));
    /// # assert!(replace(Rules::builder(Rate::new(9)).build()?, rooms.build()?).is_err());
    /// # assert!(CLIENTS.rules().is_none());
    /// # Ok::<(), RulesError>(())
    /// ```
    pub fn check(&self, rules: &LimitRules) -> Result<(), RulesError> {
        rules.check_labels(self.family().names())?;
        let limiter = (self.make)(None);
        rules.settings().try_for_each(|(part, rate)| {
            limiter.apply(rate).map(drop).map_err(|problem| part.error(problem))
        })
    }

    /// Replaces the rules by a [JSON text](crate::Rules#json). Needs the feature `json`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Rules::from_json`](crate::Rules::from_json) and
    /// [`replace`](Self::replace). The old rules stay in force.
    ///
    /// ```
    /// # use windrow::{Gate, labels};
    /// # use windrow_tower::{Limits, RulesError};
    /// # labels! { pub struct Client { client: str } }
    /// # static CLIENTS: Limits<Client> =
    /// #     Limits::new(1_000, |_| Gate::builder(100).build().expect("100 a second"));
    /// CLIENTS.reload(br#"{ "default": { "limit": 10, "buckets": 10 } }"#)?;
    /// let error = CLIENTS.reload(br#"{ "default": { "limit": 0 } }"#).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "default: the limit is 0; it must be at least 1"
    /// );
    /// # Ok::<(), RulesError>(())
    /// ```
    #[cfg(feature = "json")]
    pub fn reload(&self, text: &[u8]) -> Result<Changes, RulesError> {
        self.replace(LimitRules::from_json(text)?)
    }

    /// Replaces the rules by a JSON file, if its text has changed since the last call with this
    /// `file`. Call it periodically: it reads the file each time. Needs the feature `json`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`RulesFile::read_if_changed`] and [`reload`](Self::reload), once for
    /// each text. The old rules stay in force.
    ///
    /// ```no_run
    /// # use windrow::{Gate, labels};
    /// # use windrow_tower::{Limits, RulesFile};
    /// # labels! { pub struct Client { client: str } }
    /// # static CLIENTS: Limits<Client> =
    /// #     Limits::new(1_000, |_| Gate::builder(100).build().expect("100 a second"));
    /// let mut file = RulesFile::new("/etc/shop/clients.json");
    /// loop {
    ///     match CLIENTS.reload_if_changed(&mut file) {
    ///         Ok(None) => {}
    ///         Ok(Some(changes)) => println!("new rules: {changes}"),
    ///         Err(error) => eprintln!("the old rules stay: {error}"),
    ///     }
    ///     std::thread::sleep(std::time::Duration::from_secs(1));
    /// }
    /// ```
    #[cfg(feature = "json")]
    pub fn reload_if_changed(&self, file: &mut RulesFile) -> Result<Option<Changes>, RulesError> {
        file.read_if_changed()?.map(|text| self.reload(&text)).transpose()
    }

    /// Returns the rules in force; `None` before the first [`replace`](Self::replace).
    pub fn rules(&self) -> Option<Arc<LimitRules>> {
        self.current.load().clone()
    }

    /// Returns the weight of a request by the rules in force, as [`LimitRules::weight`]; 1 without
    /// rules. For [`LimitLayer::weight`](crate::LimitLayer::weight).
    ///
    /// The call takes no lock.
    ///
    /// ```
    /// use windrow::{Gate, labels};
    /// use windrow_tower::{LimitLayer, Limits};
    ///
    /// labels! { pub struct Client { client: u32 } }
    ///
    /// static CLIENTS: Limits<Client> =
    ///     Limits::new(1_000, |_| Gate::builder(100).build().expect("100 a second"));
    ///
    /// let layer = LimitLayer::new(&CLIENTS, |_| Some(Client { client: 7 }))
    ///     .weight(|parts| CLIENTS.weight(parts.uri.path()));
    /// # let _ = tower_layer::Layer::layer(&layer, ());
    /// ```
    pub fn weight(&self, request: &str) -> u64 {
        self.current.load().as_ref().map_or(1, |rules| rules.weight(request))
    }
}
