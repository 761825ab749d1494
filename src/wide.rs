//! A value of several words that all threads see, and exchange, as one.
//!
//! # Promise
//!
//! [`Wide::load`] returns the words that one exchange has left. [`Wide::exchange`] stores others,
//! if no other exchange has come since the load; so it is a compare-exchange of all words at once.
//! Neither waits for another thread: a thread that is suspended in a call keeps one sheet of words,
//! and holds up no other. There is one sheet more than the most threads that ever exchanged at
//! once; more than four are allocated when they are needed, and kept.
//!
//! # Why
//!
//! The words stand on *sheets*; the **head** has the number of the sheet that counts, and a version
//! that each exchange raises. An exchange takes a free sheet, fills it, and turns the head to it by
//! a compare-exchange of that one word. The sheet that counted before is then free.
//!
//! - *A sheet that is filled is one thread's alone*: [`Sheet::take`] gives it to one thread. It is
//!   free again only if that thread gives it back, or has displaced it as the head.
//! - *A load is of one exchange*, if the head has the same version before and behind it. A thread
//!   fills a sheet that was the head only after the head has changed; a Release fence stands
//!   between, and an Acquire fence in [`Wide::is_at`] between the words and the second look. So a
//!   thread that has read one word of a later filling sees a later version.
//! - *An exchange is of what was loaded*, even without the second look: the version that it expects
//!   was there once, and while it is there, no thread fills its sheet.
//!
//! (A version wraps after 2^48 exchanges: only a thread that was suspended through a multiple of
//! all of them, between its look and its exchange, would be deceived.)

use std::array;

use crate::once::Once;
use crate::sync::{AtomicBool, AtomicU64, Ordering, alike, const_fn, fence, sized, spin_loop};

/// The number of sheets that stand together.
const SHEETS: usize = sized(4, 2);
/// The number of bits in a head that hold a sheet's number.
const NUMBER: u32 = 16;
/// The greatest number of sheets.
const MOST: usize = 1 << NUMBER;

/// A value of `N` words.
#[derive(Debug)]
pub(crate) struct Wide<const N: usize> {
    head: AtomicU64,
    sheets: Sheets<N>,
}

/// A version of the value: what an exchange expects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Version(u64);

/// Four sheets, and those behind them.
///
/// They may also hold what the words of a [`Wide`] name by a sheet's number: words that change less
/// often. A thread takes a sheet and fills it, exchanges the value for one with its number, and
/// gives back the sheet that the former value has named. The same rules hold for it: what was read
/// of such a sheet belongs to a value if the version is still the value's.
#[derive(Debug)]
pub(crate) struct Sheets<const N: usize> {
    own: [Sheet<N>; SHEETS],
    next: Once<Sheets<N>>,
}

/// Some words, which are free, or a value's, or one thread's.
#[derive(Debug)]
pub(crate) struct Sheet<const N: usize> {
    /// True if it is the head, or a thread is filling it.
    is_taken: AtomicBool,
    words: [AtomicU64; N],
}

impl<const N: usize> Wide<N> {
    const_fn! {
        /// Returns a value of zeros.
        pub(crate) const fn zero() -> Wide<N> {
            let mut sheets = Sheets::free();
            sheets.own[0].is_taken = AtomicBool::new(true); // it is the head
            Wide { head: AtomicU64::new(0), sheets }
        }
    }

    #[inline]
    pub(crate) fn new(words: [u64; N]) -> Wide<N> {
        let wide = Wide::zero();
        wide.sheets.own[0].fill(words);
        wide
    }

    /// Returns the words as they are now or soon after, and their version, if the version [is
    /// still](Self::is_at) the head's.
    #[inline]
    pub(crate) fn glance(&self) -> (Version, [u64; N]) {
        // Acquire: pairs with the Release in `exchange`: the sheet was filled before.
        let head = self.head.load(Ordering::Acquire);
        (Version(head), self.sheets.at(head as u16).words())
    }

    /// Returns whether this is the version of the value still: then all that was read with it
    /// belongs together.
    #[inline]
    pub(crate) fn is_at(&self, version: Version) -> bool {
        // Acquire: pairs with the Release fence in `fill`.
        fence(Ordering::Acquire);
        self.head.load(Ordering::Relaxed) == version.0
    }

    /// Returns the value, as one exchange has left it.
    pub(crate) fn load(&self) -> [u64; N] {
        loop {
            let (version, words) = self.glance();
            if self.is_at(version) {
                return words;
            }
            spin_loop();
        }
    }

    /// Stores the words if the version is still the value's; returns whether it was.
    #[inline]
    pub(crate) fn exchange(&self, version: Version, words: [u64; N]) -> bool {
        let (number, sheet) = self.sheets.take();
        sheet.fill(words);
        let next = (version.0 >> NUMBER).wrapping_add(1) << NUMBER | u64::from(number);
        // Release: publishes the sheet; pairs with the Acquire in `glance`.
        let (order, failed) = (Ordering::Release, Ordering::Relaxed);
        if self.head.compare_exchange(version.0, next, order, failed).is_err() {
            sheet.give_back();
            return false;
        }
        self.sheets.at(version.0 as u16).give_back();
        true
    }
}

impl<const N: usize> Sheets<N> {
    const_fn! {
        pub(crate) const fn free() -> Sheets<N> {
            Sheets { own: alike!(Sheet::free(); SHEETS), next: Once::new() }
        }
    }

    /// Returns the sheet of a number that `take` has returned, in this thread or in one that has
    /// published the number.
    #[inline]
    pub(crate) fn at(&self, number: u16) -> &Sheet<N> {
        let number = usize::from(number);
        if number < SHEETS { &self.own[number] } else { self.beyond(number) }
    }

    #[cold]
    fn beyond(&self, number: usize) -> &Sheet<N> {
        let (mut sheets, mut number) = (self, number);
        while let (true, Some(next)) = (number >= SHEETS, sheets.next.get()) {
            (sheets, number) = (next, number - SHEETS);
        }
        &sheets.own[number % SHEETS] // the segment was there before the number
    }

    /// Takes a free sheet for the caller, and returns its number too.
    #[inline]
    pub(crate) fn take(&self) -> (u16, &Sheet<N>) {
        match self.own.iter().position(Sheet::take) {
            Some(number) => (number as u16, &self.own[number]),
            None => self.take_beyond(),
        }
    }

    #[cold]
    #[inline]
    fn take_beyond(&self) -> (u16, &Sheet<N>) {
        let (mut sheets, mut first) = (self, 0);
        loop {
            if let Some(number) = sheets.own.iter().position(Sheet::take) {
                return ((first + number) as u16, &sheets.own[number]);
            }
            first += SHEETS;
            sheets = match sheets.next.get() {
                Some(next) => next,
                None if first < MOST => sheets.next.set(Sheets::free()),
                // All sheets are those of suspended threads. The first to go on frees one.
                None => {
                    spin_loop();
                    first = 0;
                    self
                }
            };
        }
    }
}

impl<const N: usize> Sheet<N> {
    const_fn! {
        const fn free() -> Sheet<N> {
            let words = alike!(AtomicU64::new(0); N);
            Sheet { is_taken: AtomicBool::new(false), words }
        }
    }

    /// Takes a free sheet; false if it is not free.
    #[inline]
    fn take(&self) -> bool {
        // Relaxed: a hint that saves a write to the cache line.
        !self.is_taken.load(Ordering::Relaxed)
            // Acquire: pairs with the Release in `give_back`: all earlier uses come before.
            && !self.is_taken.swap(true, Ordering::Acquire)
    }

    /// Frees a sheet that the caller has taken, or has displaced.
    #[inline]
    pub(crate) fn give_back(&self) {
        // Release: pairs with the Acquire in `take`.
        self.is_taken.store(false, Ordering::Release);
    }

    #[inline]
    pub(crate) fn words(&self) -> [u64; N] {
        // Relaxed: the version tells whether they belong together.
        array::from_fn(|at| self.words[at].load(Ordering::Relaxed))
    }

    #[inline]
    pub(crate) fn fill(&self, words: [u64; N]) {
        // Release: pairs with the Acquire fence in `is_at`: a thread that reads any of these words
        // sees the turn of the head that freed the sheet.
        fence(Ordering::Release);
        for (word, value) in self.words.iter().zip(words) {
            word.store(value, Ordering::Relaxed);
        }
    }
}
