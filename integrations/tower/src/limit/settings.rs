//! Limits whose rates are settings: rules that are swapped whole while requests go on.
//!
//! # Promise
//!
//! Take some grants of a key, and the rates that it had from the moment at which the first of them
//! was decided until the last was. If no two of the grants are further apart than the shortest
//! [span](#spans) of these rates, their sum is at most the highest limit of these rates. So it is
//! however often the key was forgotten in between, whichever rules were swapped in, and also where
//! their geometry is another.
//!
//! The rates that a key has are those of its own gate, and, while it finds no room or shares, those
//! of the overflow gate.
//!
//! A request that begins after [`Limits::replace`] has returned is decided by the new rules.
//!
//! # Spans
//!
//! A rate's span is its interval, if it is strict; else a bucket less. A wait's grant is where the
//! wait ends.
//!
//! # Why
//!
//! A gate's rate is changed and the gate stays, so what it has granted counts on. What it forgets
//! has left an interval that it had meanwhile; and what a gate granted that was retired had left
//! its interval. So of grants that are closer together than each of these intervals, the gate knew
//! all when it decided the last, and the sum was within its limit. The rest is
//! [sharing](super::sharing)'s.
//!
//! While a rate is changed, the gate has the lower of both limits, and one of both geometries: it
//! grants what one of the two rates would.
//!
//! A gate is published under a lock that keeps the swap out. So it is published before the swap,
//! and the walk behind that finds it; or it goes by the new rules from the beginning.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use windrow::{Clock, labels::Labels};

use crate::limit::limits::Limits;
#[cfg(feature = "json")]
use crate::rules::RulesFile;
use crate::rules::{Rules, RulesError};

/// The outcome of a swap of rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Changes {
    /// The number of keys whose limit, interval or buckets are other ones now. (Waits are not
    /// compared.)
    pub keys: usize,
    /// The number of keys that have no more than before, and not what they should: there is no
    /// memory for more buckets, or their clock is too coarse.
    pub failed: usize,
}

impl<L: Labels, C: Clock + Send + Sync + 'static> Limits<L, C> {
    /// Has all keys go by rules from now on, and not by the function that makes gates: those that
    /// are there, and those that will come.
    ///
    /// Before the first call, the function alone decides. It still makes each gate, on its clock;
    /// the gate is then given its rate by the rules. A gate that it builds strict stays strict.
    ///
    /// All is checked before anything changes. Then the set is swapped at once, and each key's gate
    /// [changed](windrow::Gate::reconfigure): what it has granted counts on. **Never more than the
    /// higher of two limits is let through in an interval because one took the other's place**, and
    /// where rules change the interval, that holds for each span up to the shorter of both.
    /// A lower limit refuses until enough has left; a higher one lets more through at once; a key
    /// whose rule is gone has the default's rate. A request that begins when this has returned is
    /// decided by the new rules, and one that has ended before by the old.
    ///
    /// A rate that you have set on a [gate](crate::Limit::gate) yourself is overwritten.
    ///
    /// It takes some hundred nanoseconds a key, and one or two for each bucket; besides, it compares
    /// each key with the rules in turn. No request waits for it, but for one that brings a new key,
    /// which may wait for the moment of the swap itself. Another swap waits until this one has
    /// ended.
    ///
    /// # Errors
    ///
    /// [`RulesError::UnknownLabel`], or [`RulesError::Rate`] if the clock is too coarse for a rate;
    /// then all stays as it was.
    ///
    /// # Panics
    ///
    /// If the function that makes gates does; then all stays as it was.
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
    /// assert!(matches!(refused, Err(RulesError::UnknownLabel { .. })));
    /// assert_eq!(CLIENTS.rules().unwrap().rate::<Client>(Some(alice)).limit, 5);
    /// # Ok::<(), windrow_tower::RulesError>(())
    /// ```
    pub fn replace(&self, rules: Rules) -> Result<Changes, RulesError> {
        rules.check_labels(self.family().names())?;
        rules.check_rates(&self.make(None))?;
        let rules = Arc::new(rules);
        let mut changes = Changes::default();
        self.current().swap(Arc::clone(&rules), || {
            for limit in self.family() {
                match limit.go_by(rules.rate_of::<L>(self.family().names(), limit.labels())) {
                    Ok(is_other) => changes.keys += usize::from(is_other),
                    Err(_) => changes.failed += 1,
                }
            }
        });
        Ok(changes)
    }

    /// Replaces the rules by those of a [text](Rules#as-text) in JSON. Needs the feature `json`.
    ///
    /// # Errors
    ///
    /// As [`Rules::from_json`] and [`replace`](Self::replace); then all stays as it was.
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
    ///     "default: the limit is 0; a gate lets at least 1 through in an interval"
    /// );
    /// # Ok::<(), RulesError>(())
    /// ```
    #[cfg(feature = "json")]
    pub fn reload(&self, text: &[u8]) -> Result<Changes, RulesError> {
        self.replace(Rules::from_json(text)?)
    }

    /// Replaces the rules by those of a file in JSON, if it has another text than at the last call
    /// with it. Call it from time to time. Needs the feature `json`.
    ///
    /// # Errors
    ///
    /// As [`RulesFile::read_if_changed`] and [`reload`](Self::reload), once for each text; then all
    /// stays as it was.
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

    /// Returns the rules in force; `None` if there were none yet.
    pub fn rules(&self) -> Option<Arc<Rules>> {
        self.current().load().clone()
    }

    /// Returns what a request takes of its key's limit, by the rules in force: [`Rules::weight`].
    /// Without rules it is 1.
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
        self.current().load().as_ref().map_or(1, |rules| rules.weight(request))
    }
}

impl Display for Changes {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "keys with another rate: {}", self.keys)?;
        if self.failed > 0 {
            write!(f, "; keys that could not be given theirs: {}", self.failed)?;
        }
        Ok(())
    }
}
