//! Swapping the numbers of places of all rooms at once while requests go on.

use std::sync::Arc;

use windrow::labels::Labels;

use crate::current::Changes;
use crate::room::rooms::Rooms;
#[cfg(feature = "json")]
use crate::rules::RulesFile;
use crate::rules::{RoomRules, RulesError};

impl<L: Labels> Rooms<L> {
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
    /// Returns [`RulesError::UnknownLabel`] if a rule names a label that keys do not have. The old
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
