//! Words of each thread in slots of Windows, of which each thread has a number of its own.
//!
//! With MinGW's linker, `std` has thread-locals in boxes. Before Rust 1.93 it takes them from the
//! global allocator: an add in an allocator would need a box, whose allocation is an add. A slot
//! has one word in each thread, which begins as zero, and takes no memory from that allocator.

use std::convert::Infallible;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr::without_provenance_mut;

use super::{AtomicUsize, Ordering};

#[link(name = "kernel32")]
unsafe extern "system" {
    fn TlsAlloc() -> u32;
    fn TlsFree(slot: u32) -> i32;
    fn TlsGetValue(slot: u32) -> *mut c_void;
    fn TlsSetValue(slot: u32, value: *mut c_void) -> i32;
}

/// The answer of `TlsAlloc` if the process has no free slot.
const OUT_OF_SLOTS: u32 = u32::MAX;

/// A value that fits into a slot.
pub(crate) trait Value: Copy {
    fn from_slot(word: *mut c_void) -> Self;
    fn into_slot(self) -> *mut c_void;
}

impl Value for usize {
    #[inline]
    fn from_slot(word: *mut c_void) -> usize {
        word.addr()
    }

    #[inline]
    fn into_slot(self) -> *mut c_void {
        without_provenance_mut(self)
    }
}

impl Value for *const () {
    #[inline]
    fn from_slot(word: *mut c_void) -> *const () {
        word.cast_const().cast()
    }

    #[inline]
    fn into_slot(self) -> *mut c_void {
        self.cast_mut().cast()
    }
}

/// A word of each thread, with the functions of a `Cell`. It stays zero in a process that has no
/// free slot.
pub(crate) struct Word<T> {
    /// The slot plus 1; zero before the first use.
    slot: AtomicUsize,
    value: PhantomData<fn(T) -> T>,
}

impl<T: Value> Word<T> {
    /// Returns a word that is zero in each thread, as `_zero` is.
    pub(crate) const fn new(_zero: T) -> Word<T> {
        Word { slot: AtomicUsize::new(0), value: PhantomData }
    }

    /// Returns the slot. (If there is none, a number that Windows refuses.)
    #[inline]
    fn slot(&self) -> u32 {
        // Relaxed: a slot is a number, and each thread has the word in its own memory.
        match self.slot.load(Ordering::Relaxed) {
            0 => self.take_slot(),
            slot => (slot - 1) as u32,
        }
    }

    #[cold]
    fn take_slot(&self) -> u32 {
        // SAFETY: it has no arguments.
        let slot = unsafe { TlsAlloc() };
        if slot == OUT_OF_SLOTS {
            return slot;
        }
        let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed); // as above
        match self.slot.compare_exchange(0, slot as usize + 1, order, failed) {
            Ok(_) => slot,
            Err(theirs) => {
                // SAFETY: taken above, and no other thread has seen it.
                unsafe { TlsFree(slot) };
                (theirs - 1) as u32
            }
        }
    }

    #[inline]
    pub(crate) fn get(&self) -> T {
        // SAFETY: reads this thread's word; null if there is no such slot.
        T::from_slot(unsafe { TlsGetValue(self.slot()) })
    }

    #[inline]
    pub(crate) fn set(&self, value: T) {
        // SAFETY: writes this thread's word, which nothing else uses. Does nothing if there is no
        // such slot.
        unsafe { TlsSetValue(self.slot(), value.into_slot()) };
    }

    #[inline]
    pub(crate) fn replace(&self, value: T) -> T {
        let before = self.get();
        self.set(value);
        before
    }
}

/// Words as `thread_words` declares them, with the functions of a thread-local of `std`.
pub(crate) struct Words<W>(W);

impl<W> Words<W> {
    pub(crate) const fn new(words: W) -> Words<W> {
        Words(words)
    }

    #[inline]
    pub(crate) fn with<R>(&'static self, look: impl FnOnce(&'static W) -> R) -> R {
        look(&self.0)
    }

    #[inline]
    pub(crate) fn try_with<R>(
        &'static self,
        look: impl FnOnce(&'static W) -> R,
    ) -> Result<R, Infallible> {
        Ok(look(&self.0))
    }
}

/// Declares words of each thread, as `std::thread_local!` does, which must all start at zero.
macro_rules! thread_words {
    ($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty = $value:expr;) => {
        $(#[$attribute])*
        $visibility static $name: $crate::sync::words::Words<$type> =
            $crate::sync::words::Words::new($value);
    };
}

pub(crate) use thread_words;
