//! One event of a set, with its kind in its type.

use std::cmp::Ordering;
use std::fmt::{self, Debug, Display, Formatter};
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use super::kinds::{Any, Count, EventKind, Histogram, Maximum, Minimum, Signed, Value, is_of};
use super::{Events, Kind};

/// One event of the set `S`, of the kind `K`.
///
/// [`events!`](crate::events!) makes a constant of this type for each event that it is given. `K`
/// is a type of [`kind`](crate::kind), which decides at compile time what can be done with the
/// event. `Event<S>` is the erased form, whose kind is known only at run time. Programs that handle
/// events of any set, such as exporters, use it.
///
/// ```
/// use windrow::{Event, Kind, SlidingWindow, Typed, events, kind};
///
/// events! {
///     /// The events of a queue.
///     pub enum Queue { Pushed: Count, Waited: Value }
/// }
///
/// let pushed: Event<Queue, kind::Count> = Queue::Pushed;
/// assert_eq!((pushed.name(), pushed.kind(), pushed.index()), ("Pushed", Kind::Count, 0));
///
/// // All-time totals of each event of a window:
/// let window = SlidingWindow::<Queue>::builder().build()?;
/// for event in Queue::ALL {
///     println!("{}: {:?}", event.name(), window.stats(event));
/// }
///
/// // An event by its name, matched by its kind:
/// let named = Queue::ALL.into_iter().find(|event| event.name() == "Waited");
/// if let Some(Typed::Value(waited)) = named.map(Event::typed) {
///     window.record(waited, 20);
/// }
/// assert_eq!(window.sum(Queue::Waited), 20);
/// # Ok::<(), windrow::BuildError>(())
/// ```
///
/// Events are compared and ordered by their [`index`](Self::index), erased or not. (They are no
/// patterns: compare them with `==`, or match on [`typed`](Self::typed).) Events of several kinds
/// stand in one list in the erased form, by `From`:
///
/// ```
/// # use windrow::{Event, events};
/// # events! { enum Disk { Read: Count, Latency: Value } }
/// let shown: [Event<Disk>; 2] = [Disk::Latency.into(), Disk::Read.into()];
/// assert_eq!(shown.map(|event| event.name()), ["Latency", "Read"]);
/// ```
#[doc(alias = "erased")]
pub struct Event<S, K = Any> {
    /// The position in `S::EVENTS` of an event of the kind `K`.
    index: u16,
    of: PhantomData<Of<S, K>>,
}

/// Invariant: a subtype or supertype may be another set, or another kind.
type Of<S, K> = fn(S, K) -> (S, K);

/// An event of the set `S` by its kind: from [`Event::typed`].
///
/// Later versions may have more kinds, as with [`Kind`]: match any other kind by `_`, and read its
/// [stats](crate::SlidingWindow::stats), which every kind has.
///
/// ```
/// use windrow::{SlidingWindow, Typed, events};
///
/// events! { enum Disk { Read: Count, Latency: Histogram } }
///
/// let window = SlidingWindow::<Disk>::builder().build()?;
/// for event in Disk::ALL {
///     match event.typed() {
///         Typed::Count(event) => println!("{event:?} {}", window.sum(event)),
///         Typed::Histogram(event) => println!("{event:?} {:?}", window.quantile(event, 0.99)),
///         _ => println!("{event:?} {:?}", window.stats(event)),
///     }
/// }
/// # Ok::<(), windrow::BuildError>(())
/// ```
#[non_exhaustive]
pub enum Typed<S: Events> {
    /// An event of [`Kind::Count`].
    Count(Event<S, Count>),
    /// An event of [`Kind::Signed`].
    Signed(Event<S, Signed>),
    /// An event of [`Kind::Value`].
    Value(Event<S, Value>),
    /// An event of [`Kind::Maximum`].
    Maximum(Event<S, Maximum>),
    /// An event of [`Kind::Minimum`].
    Minimum(Event<S, Minimum>),
    /// An event of [`Kind::Histogram`].
    Histogram(Event<S, Histogram>),
}

impl<S: Events> Typed<S> {
    const fn erased(self) -> Event<S> {
        match self {
            Typed::Count(event) => event.erased(),
            Typed::Signed(event) => event.erased(),
            Typed::Value(event) => event.erased(),
            Typed::Maximum(event) => event.erased(),
            Typed::Minimum(event) => event.erased(),
            Typed::Histogram(event) => event.erased(),
        }
    }
}

impl<S: Events> Clone for Typed<S> {
    fn clone(&self) -> Typed<S> {
        *self
    }
}

impl<S: Events> Copy for Typed<S> {}

/// Shows the event's kind and name.
impl<S: Events> Debug for Typed<S> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let event = self.erased();
        f.debug_tuple("Typed").field(&event.kind()).field(&event).finish()
    }
}

impl<S: Events, K: EventKind> Event<S, K> {
    /// Makes the event at a position of [`Events::EVENTS`]: for sets that are written [by
    /// hand](Events#by-hand). In a constant, a wrong position is a compile error.
    ///
    /// # Panics
    ///
    /// Panics if there is no event at that position, or if it is of another kind.
    ///
    /// ```compile_fail
    /// use windrow::{Event, events, kind};
    ///
    /// events! { enum Disk { Read: Count } }
    ///
    /// const READ: Event<Disk, kind::Value> = Event::at(0); // it is a `Count`
    /// # READ.index();
    /// ```
    ///
    /// A set made by [`events!`](crate::events!) has its events in the constant `ALL`. All events
    /// of any set:
    ///
    /// ```
    /// use windrow::{Event, Events, events};
    ///
    /// events! { enum Disk { Read: Count, Latency: Value } }
    ///
    /// fn all<E: Events>() -> impl Iterator<Item = Event<E>> {
    ///     (0..E::EVENTS.len()).map(Event::at)
    /// }
    ///
    /// assert!(all::<Disk>().eq(Disk::ALL));
    /// let named = |name| all::<Disk>().find(|event| event.name() == name);
    /// assert_eq!(named("Latency"), Some(Disk::Latency.into()));
    /// ```
    #[must_use]
    #[doc(alias = "all")]
    #[doc(alias = "named")]
    pub const fn at(index: usize) -> Event<S, K> {
        assert!(index < S::EVENTS.len(), "the set has fewer events");
        assert!(is_of(K::NAME, S::EVENTS[index].1), "the event is of another kind");
        Event::new(index)
    }

    /// Returns the event at a position that was checked.
    const fn new(index: usize) -> Event<S, K> {
        const { assert!(S::EVENTS.len() <= 1 << 16, "a set has at most 65 536 events") };
        Event { index: index as u16, of: PhantomData }
    }

    /// Returns the event's position in [`Events::EVENTS`].
    ///
    /// ```
    /// # windrow::events! { enum Disk { Read: Count, Latency: Value } }
    /// assert_eq!(Disk::Latency.index(), 1);
    /// ```
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.index as usize
    }

    /// Returns the event's name, as [`events!`](crate::events!) was given it.
    ///
    /// ```
    /// # windrow::events! { enum Disk { Read: Count, Latency: Value } }
    /// assert_eq!(Disk::Latency.name(), "Latency");
    /// ```
    #[inline]
    #[must_use]
    pub const fn name(self) -> &'static str {
        S::EVENTS[self.index()].0
    }

    /// Returns the event's kind.
    ///
    /// ```
    /// # windrow::events! { enum Disk { Read: Count, Latency: Value } }
    /// assert_eq!(Disk::Latency.kind(), windrow::Kind::Value);
    /// ```
    #[inline]
    #[must_use]
    pub const fn kind(self) -> Kind {
        S::EVENTS[self.index()].1
    }

    /// Returns the event in its erased form.
    #[inline]
    pub(crate) const fn erased(self) -> Event<S> {
        Event::new(self.index())
    }

    /// Returns the event, if it is of the kind `Histogram`.
    #[inline]
    pub(crate) const fn histogram(self) -> Option<Event<S, Histogram>> {
        match self.typed() {
            Typed::Histogram(event) => Some(event),
            _ => None,
        }
    }

    /// Returns the event as a variant of [`Typed`], to match on its kind.
    ///
    /// ```
    /// use windrow::Typed;
    ///
    /// # windrow::events! { enum Disk { Read: Count, Latency: Value } }
    /// let [read, latency] = Disk::ALL;
    /// assert!(matches!(read.typed(), Typed::Count(event) if event == Disk::Read));
    /// assert!(matches!(latency.typed(), Typed::Value(event) if event == Disk::Latency));
    /// ```
    #[must_use]
    #[doc(alias = "downcast")]
    pub const fn typed(self) -> Typed<S> {
        let index = self.index();
        match self.kind() {
            Kind::Count => Typed::Count(Event::new(index)),
            Kind::Signed => Typed::Signed(Event::new(index)),
            Kind::Value => Typed::Value(Event::new(index)),
            Kind::Maximum => Typed::Maximum(Event::new(index)),
            Kind::Minimum => Typed::Minimum(Event::new(index)),
            Kind::Histogram(_) => Typed::Histogram(Event::new(index)),
        }
    }
}

/// Erases the kind of events.
macro_rules! erased {
    ($($kind:ident)+) => {$(
        /// Erases the kind: to store events of several kinds in one list.
        impl<S: Events> From<Event<S, $kind>> for Event<S> {
            fn from(event: Event<S, $kind>) -> Event<S> {
                event.erased()
            }
        }
    )+};
}

erased! { Count Signed Value Maximum Minimum Histogram }

impl<S, K> Clone for Event<S, K> {
    #[inline]
    fn clone(&self) -> Event<S, K> {
        *self
    }
}

impl<S, K> Copy for Event<S, K> {}

impl<S, K, L> PartialEq<Event<S, L>> for Event<S, K> {
    fn eq(&self, other: &Event<S, L>) -> bool {
        self.index == other.index
    }
}

impl<S, K> Eq for Event<S, K> {}

impl<S, K, L> PartialOrd<Event<S, L>> for Event<S, K> {
    fn partial_cmp(&self, other: &Event<S, L>) -> Option<Ordering> {
        Some(self.index.cmp(&other.index))
    }
}

impl<S, K> Ord for Event<S, K> {
    fn cmp(&self, other: &Event<S, K>) -> Ordering {
        self.index.cmp(&other.index)
    }
}

impl<S, K> Hash for Event<S, K> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.index.hash(state);
    }
}

/// Formats the event's name as a `str`.
///
/// ```
/// # windrow::events! { enum Disk { Read: Count } }
/// assert_eq!(format!("[{:>6}]", Disk::Read), "[  Read]");
/// ```
impl<S: Events, K: EventKind> Display for Event<S, K> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Shows the event's name.
impl<S: Events, K: EventKind> Debug for Event<S, K> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}
