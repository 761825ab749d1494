//! The end of a thread by a key of the C library.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr::from_ref;

use super::GiveBack;
use crate::sync::{AtomicUsize, Ordering};

mod object;

/// Gives back resources of one kind, one for each thread.
pub(crate) struct AtEnd<T> {
    /// The key plus 1; zero while there is none.
    key: AtomicUsize,
    things: PhantomData<fn(T)>,
}

impl<T: GiveBack> AtEnd<T> {
    pub(crate) const fn new() -> AtEnd<T> {
        AtEnd { key: AtomicUsize::new(0), things: PhantomData }
    }

    /// Makes a key, once in a process, after [`keep_code`]. Returns false if the process has no
    /// free key.
    #[inline]
    pub(crate) fn prepare(&self) -> bool {
        let mut key = 0;
        // SAFETY: the destructor is in this object, which is never unloaded, and is only called
        // with values that `arm` has set.
        if unsafe { libc::pthread_key_create(&raw mut key, Some(end::<T>)) } != 0 {
            return false;
        }
        // Relaxed: published with the decision that follows it.
        self.key.store(key as usize + 1, Ordering::Relaxed);
        true
    }

    /// Returns whether [`arm`](Self::arm) takes no memory, so that a signal handler may call it in
    /// the middle of `malloc`.
    ///
    /// With glibc the first 32 keys have their values in each thread's own memory. For a later key
    /// a thread's first `pthread_setspecific` calls `calloc`.
    #[inline]
    pub(crate) fn takes_no_memory(&self) -> bool {
        const AT_HAND: usize = 32; // PTHREAD_KEY_2NDLEVEL_SIZE
        !cfg!(target_env = "gnu") || (1..=AT_HAND).contains(&self.key.load(Ordering::Relaxed))
    }

    /// Lets `thing` be given back at this thread's end. Returns false if that is not possible, or
    /// if the thread has another resource of this kind.
    pub(crate) fn arm(&self, thing: &'static T) -> bool {
        let Some(key) = self.key.load(Ordering::Relaxed).checked_sub(1) else {
            return false;
        };
        let key = key as libc::pthread_key_t;
        // SAFETY: the key exists, and is never deleted.
        unsafe {
            libc::pthread_getspecific(key).is_null()
                && libc::pthread_setspecific(key, from_ref(thing).cast()) == 0
        }
    }
}

/// The key's destructor: a thread ends. (The C library has reset the key's value.)
extern "C" fn end<T: GiveBack>(thing: *mut c_void) {
    // SAFETY: `arm` has made it of such a reference.
    unsafe { &*thing.cast::<T>() }.give_back();
}

/// Keeps the object loaded that has the functions called at a thread's end, and in children. Takes
/// the loader's lock.
#[inline]
pub(crate) fn keep_code() {
    object::pin();
}

/// Returns the number of this process, which differs from a forked child's (except as
/// [`holder`](super::holder) says). Not zero. Async-signal-safe.
#[inline]
pub(crate) fn process() -> u32 {
    // SAFETY: it has no arguments, and cannot fail.
    unsafe { libc::getpid() }.unsigned_abs().max(1)
}

/// Registers `call` to run in each forked child, on the one thread that it has, after all functions
/// registered earlier, which may have started further threads. Returns false if there is no memory
/// for that.
#[inline]
pub(crate) fn in_children(call: extern "C" fn()) -> bool {
    // SAFETY: the function is in an object that is never unloaded (`keep_code`), and does only what
    // a child may do.
    unsafe { libc::pthread_atfork(None, None, Some(call)) == 0 }
}
