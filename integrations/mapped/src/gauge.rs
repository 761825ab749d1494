//! Levels that go up and down, each process's own.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::slot::{OwnSlot, Token};

/// The part of this process in a gauge.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    pub(crate) slot: &'static OwnSlot,
    pub(crate) word: u32,
}

impl Part {
    /// Adds, wrapping, and returns the slot to which it was.
    #[inline]
    fn add(self, n: i64) -> Token {
        let token = self.slot.token();
        // Release: pairs with the fence of a reader, which so finds the owner's state, too.
        self.at(token).fetch_add(n.cast_unsigned(), Ordering::Release);
        token
    }

    fn own(self) -> i64 {
        let level = |token| self.at(token).load(Ordering::Relaxed); // one word
        self.slot.has().map_or(0, level).cast_signed()
    }

    /// Returns the word in a slot.
    #[inline]
    fn at(&self, token: Token) -> &AtomicU64 {
        // SAFETY: the number of a registered gauge's word is less than the number of words: see
        // `Entries`.
        unsafe { self.slot.word(token, self.word) }
    }
}

/// A gauge in a mapped file: a level that goes up and down, such as open connections, of which each
/// process has its part.
///
/// Returned by [`File::gauge`](crate::File::gauge). A copy is of the same gauge. The part of this
/// process lies in its slot of the file. A reader adds up the parts of the processes that live, and
/// says apart what dead ones have left: see [`Level`](crate::Level). A part may be below zero: a
/// connection that one process opens and another one closes is +1 here and -1 there.
///
/// # Forks
///
/// A forked child has a part of its own, which begins at zero. Its first add takes a slot for it,
/// which may wait for another process that takes one, up to the
/// [timeout](crate::FileBuilder::lock_timeout). If there is no slot left, its adds are not seen by
/// readers, until [`File::take_slot`](crate::File::take_slot) has succeeded in the child.
///
/// # Cost
///
/// An add is an atomic addition to a cache line that no other process writes. Threads of one
/// process share it.
#[derive(Clone, Copy)]
pub struct Gauge {
    pub(crate) part: Part,
}

impl Gauge {
    /// Adds `n` to this process's part, wrapping.
    ///
    /// ```
    /// use windrow_mapped::{File, Reader};
    ///
    /// # let directory = tempfile::tempdir_in("/dev/shm")?;
    /// # let path = directory.path().join("app.windrow");
    /// let open = File::open(&path)?.gauge("open_connections", &[])?;
    /// open.add(5);
    /// open.decrement();
    /// assert_eq!(open.own(), 4);
    ///
    /// // In another process:
    /// let reading = Reader::open(&path)?.read()?;
    /// let level = reading.get("open_connections", &[])?.and_then(|metric| metric.level());
    /// assert_eq!(level.map(|level| (level.live, level.dead)), Some((4, 0)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn add(&self, n: i64) {
        self.part.add(n);
    }

    /// Adds 1 to this process's part.
    #[inline]
    pub fn increment(&self) {
        self.add(1);
    }

    /// Subtracts 1 from this process's part.
    #[inline]
    pub fn decrement(&self) {
        self.add(-1);
    }

    /// Sets this process's part: for a level that is known as a whole, such as the length of a
    /// queue.
    #[inline]
    pub fn set(&self, level: i64) {
        let word = self.part.at(self.part.slot.token());
        word.store(level.cast_unsigned(), Ordering::Release); // as in `Part::add`
    }

    /// Returns this process's part.
    pub fn own(&self) -> i64 {
        self.part.own()
    }
}

shown! {
    /// Shows this process's part.
    Gauge(gauge) { own: gauge.own() }
}

/// The number of operations in progress, in a mapped file, of which each process has its part.
///
/// Returned by [`File::in_flight`](crate::File::in_flight). A copy is of the same number. It is a
/// [`Gauge`] that guards count up and down, with the same promises and costs. What a dead process
/// has left is the number of operations that it did not end.
///
/// # Forks
///
/// An operation is that of the process which has entered. A forked child has copies of its parent's
/// guards, but has not entered: their drop in the child changes nothing, and the parent's drop
/// leaves in the parent.
#[derive(Clone, Copy)]
pub struct InFlight {
    pub(crate) part: Part,
}

impl InFlight {
    /// Adds 1 to this process's part; the returned guard subtracts it when dropped.
    ///
    /// ```
    /// # let directory = tempfile::tempdir_in("/dev/shm")?;
    /// # let path = directory.path().join("app.windrow");
    /// let requests = windrow_mapped::File::open(&path)?.in_flight("requests", &[])?;
    /// let (one, other) = (requests.enter(), requests.enter());
    /// assert_eq!(requests.own(), 2);
    /// drop(one);
    /// std::thread::spawn(|| drop(other)).join().unwrap();
    /// assert_eq!(requests.own(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn enter(&self) -> InFlightGuard {
        InFlightGuard { part: self.part, token: self.part.add(1) }
    }

    /// Returns the number of operations in progress in this process.
    pub fn own(&self) -> i64 {
        self.part.own()
    }
}

shown! {
    /// Shows this process's part.
    InFlight(operations) { own: operations.own() }
}

/// A guard of an operation in progress, from [`InFlight::enter`], which leaves when it is dropped.
///
/// Any thread of the process that has entered may drop it. Bind it to a name, such as `_guard`:
/// `let _ = requests.enter()` drops it at once.
#[must_use = "the operation leaves when the guard is dropped: bind it to a name, such as `_guard`"]
pub struct InFlightGuard {
    part: Part,
    /// The slot in which it was counted.
    token: Token,
}

impl Drop for InFlightGuard {
    #[inline]
    fn drop(&mut self) {
        // In a forked child there is no slot yet, or another one.
        if self.part.slot.has() == Some(self.token) {
            self.part.at(self.token).fetch_sub(1, Ordering::Release); // as in `Part::add`
        }
    }
}

shown! {
    /// Shows this process's part.
    InFlightGuard(guard) { own: guard.part.own() }
}
