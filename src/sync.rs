//! The one switch between std and the model checkers: loom, which tries every order of a few steps,
//! and shuttle, which tries random orders of many.
//!
//! Every atomic, fence, thread-local and process-wide value of the library comes through here, so
//! that a model runs the library's own code. No other module depends on which one it runs under,
//! except [`reclaim`](crate::reclaim), which chooses the reclaimer, and those that need an
//! operating system: clocks, pages, the per-core strategy.

pub(crate) use std::sync::atomic::Ordering;

// One of two, with the same macro and type: for systems where `std` has thread-locals in boxes, and
// for all others.
#[cfg_attr(
    all(windows, target_env = "gnu", not(target_abi = "llvm"), not(any(loom, shuttle))),
    path = "sync/words/windows.rs"
)]
pub(crate) mod words;

/// The model checker, which has std's names.
#[cfg(loom)]
pub(crate) use loom as engine;
#[cfg(shuttle)]
pub(crate) use shuttle as engine;

#[cfg(not(any(loom, shuttle)))]
pub(crate) use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicUsize, fence,
};

#[cfg(all(not(any(loom, shuttle)), target_has_atomic = "64"))]
pub(crate) use std::sync::atomic::AtomicU64;

/// Some 32-bit processors have no atomic operations on 64 bits.
#[cfg(not(any(loom, shuttle, target_has_atomic = "64")))]
pub(crate) use portable_atomic::AtomicU64;

#[cfg(any(loom, shuttle))]
pub(crate) use engine::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, fence,
};

#[cfg(any(loom, shuttle))]
pub(crate) use engine::thread::yield_now as spin_loop;
/// Spin hint between two loads that wait for a newer value; yields under a model checker.
#[cfg(not(any(loom, shuttle)))]
pub(crate) use std::hint::spin_loop;

#[cfg(any(loom, shuttle))]
pub(crate) use engine::thread::yield_now;
#[cfg(not(any(loom, shuttle)))]
pub(crate) use std::thread::yield_now;

#[cfg(any(loom, shuttle))]
pub(crate) use engine::sync::{Arc, Mutex};
#[cfg(not(any(loom, shuttle)))]
pub(crate) use std::sync::{Arc, Mutex};

#[cfg(all(loom, not(crossbeam_loom)))]
compile_error!(
    "a model needs `--cfg crossbeam_loom` beside `--cfg loom`: without it crossbeam-epoch keeps \
     std's atomics, and loom reports causality violations that are not there"
);

#[cfg(all(shuttle, not(windrow_checker)))]
compile_error!(
    "a model needs the feature `checker` beside `--cfg shuttle`, which does not see \
     crossbeam-epoch's atomics"
);

/// Declares a function that is `const` except under loom, whose atomics have no `const`
/// constructor.
macro_rules! const_fn {
    (
        $(#[$attribute:meta])*
        $visibility:vis const fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty $body:block
    ) => {
        #[cfg(not(loom))]
        $(#[$attribute])*
        $visibility const fn $name($($argument: $type),*) -> $result $body

        #[cfg(loom)]
        $(#[$attribute])*
        $visibility fn $name($($argument: $type),*) -> $result $body
    };
}

/// Declares a function that returns a process-wide value; in a model, one value for each execution.
macro_rules! global {
    ($(#[$attribute:meta])* $visibility:vis fn $name:ident() -> $type:ty = $value:expr;) => {
        $(#[$attribute])*
        #[inline]
        $visibility fn $name() -> &'static $type {
            #[cfg(not(any(loom, shuttle)))]
            static VALUE: $type = $value;
            #[cfg(shuttle)]
            shuttle::lazy_static! {
                static ref VALUE: $type = $value;
            }
            // Leaked: a reclaimer's deferred functions may use it after the execution has ended,
            // when loom has dropped its own values.
            #[cfg(loom)]
            loom::lazy_static! {
                static ref VALUE: &'static $type = Box::leak(Box::new($value));
            }
            &VALUE
        }
    };
}

/// Declares a thread-local number that starts at zero, as [`thread_words`] does.
macro_rules! thread_number {
    ($(#[$attribute:meta])* $name:ident) => {
        $crate::sync::thread_words! {
            $(#[$attribute])*
            static $name: $crate::sync::Word<usize> = $crate::sync::Word::new(0);
        }
    };
}

pub(crate) use words::{Word, thread_words};
pub(crate) use {const_fn, global, thread_number};

/// Stores a number in a cell that another thread may exchange meanwhile.
///
/// In a model this is an exchange, too. For loom, an exchange beside two stores may read what was
/// there before both, and come behind both all the same, which is no order of one atomic object.
#[inline]
pub(crate) fn overwrite(cell: &AtomicU64, number: u64, order: Ordering) {
    #[cfg(not(any(loom, shuttle)))]
    cell.store(number, order);
    #[cfg(any(loom, shuttle))]
    cell.swap(number, order);
}

/// Returns the size `real`; or in a model, where every atomic operation is a branch to explore,
/// `model`.
pub(crate) const fn sized(real: usize, model: usize) -> usize {
    if cfg!(any(loom, shuttle)) { model } else { real }
}

/// Makes an array of equal values; in a `const`, except under loom.
macro_rules! alike {
    ($value:expr; $count:expr) => {{
        #[cfg(not(loom))]
        let all = [const { $value }; $count];
        #[cfg(loom)]
        let all = std::array::from_fn::<_, { $count }, _>(|_| $value);
        all
    }};
}

pub(crate) use alike;

/// A cell that loom checks for races. Shuttle cannot detect races, because it runs one step after
/// another.
#[cfg(all(windrow_checker, loom))]
pub(crate) use loom::cell::UnsafeCell;

#[cfg(shuttle)]
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

#[cfg(shuttle)]
impl<T> UnsafeCell<T> {
    pub(crate) fn new(value: T) -> Self {
        UnsafeCell(std::cell::UnsafeCell::new(value))
    }

    pub(crate) fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    pub(crate) fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }
}

/// A witness of causality, in a structure that one thread initialises and others read.
///
/// Under loom it is a checked cell. A reader that no Release/Acquire pair has synchronised with the
/// initialisation fails the model, even if the values that it reads happen to be right. In other
/// builds it is empty.
#[derive(Debug)]
pub(crate) struct Witness {
    #[cfg(loom)]
    cell: loom::cell::UnsafeCell<()>,
}

// SAFETY: it holds no data, and loom sees each use.
#[cfg(loom)]
unsafe impl Sync for Witness {}

impl Witness {
    const_fn! {
        pub(crate) const fn new() -> Witness {
            Witness {
                #[cfg(loom)]
                cell: loom::cell::UnsafeCell::new(()),
            }
        }
    }

    /// Checks, under loom, that the initialisation of the structure happened before.
    #[inline]
    #[cfg_attr(not(loom), allow(clippy::unused_self))]
    pub(crate) fn check(&self) {
        #[cfg(loom)]
        self.cell.with(|_| ());
    }

    /// Records, under loom, that the structure is initialised again. Each [check](Self::check) must
    /// happen before this, or after.
    #[inline]
    #[cfg_attr(not(loom), allow(clippy::unused_self))]
    pub(crate) fn renew(&self) {
        #[cfg(loom)]
        self.cell.with_mut(|_| ());
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::{Word, thread_words};

    thread_words! {
        static PAIR: (Word<usize>, Word<*const ()>) = (Word::new(0), Word::new(std::ptr::null()));
    }

    fn is_zero() -> bool {
        PAIR.with(|(one, other)| one.get() == 0 && other.get().is_null())
    }

    #[test]
    fn each_thread_has_words_of_its_own_which_start_at_zero() {
        let here = std::ptr::from_ref(&PAIR).cast();
        assert!(is_zero());
        PAIR.with(|(one, other)| {
            one.set(usize::MAX);
            other.set(here);
        });
        std::thread::scope(|scope| {
            scope.spawn(|| {
                assert!(is_zero());
                assert_eq!(PAIR.with(|(one, _)| (one.replace(2), one.replace(3))), (0, 2));
            });
        });
        assert_eq!(PAIR.with(|(one, other)| (one.get(), other.get())), (usize::MAX, here));
    }
}
