//! By a key of the C library.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr::from_ref;

use super::GiveBack;
use crate::sync::{AtomicUsize, Ordering};

mod object;

/// Has things of one kind given back, one a thread.
pub(crate) struct AtEnd<T> {
    /// The key, and one more; zero while there is none.
    key: AtomicUsize,
    things: PhantomData<fn(T)>,
}

impl<T: GiveBack> AtEnd<T> {
    pub(crate) const fn new() -> AtEnd<T> {
        AtEnd { key: AtomicUsize::new(0), things: PhantomData }
    }

    /// Makes a key, once a process, behind [`keep_code`]. False if the process has as many keys as
    /// it may have.
    pub(crate) fn prepare(&self) -> bool {
        let mut key = 0;
        // SAFETY: the destructor is of this object, which is never unloaded, and is only given what
        // `arm` has set.
        if unsafe { libc::pthread_key_create(&raw mut key, Some(end::<T>)) } != 0 {
            return false;
        }
        // Relaxed: published with the decision that follows it.
        self.key.store(key as usize + 1, Ordering::Relaxed);
        true
    }

    /// Whether to [arm](Self::arm) takes no memory, so that a signal handler may do it in the
    /// middle of `malloc`.
    ///
    /// With glibc the first 32 keys have their places in each thread's own memory. For a later one
    /// a thread's first `pthread_setspecific` calls `calloc`.
    pub(crate) fn takes_no_memory(&self) -> bool {
        const AT_HAND: usize = 32; // PTHREAD_KEY_2NDLEVEL_SIZE
        !cfg!(target_env = "gnu") || (1..=AT_HAND).contains(&self.key.load(Ordering::Relaxed))
    }

    /// Has `thing` given back at this thread's end. False if that cannot be, or if the thread has
    /// another such thing.
    pub(crate) fn arm(&self, thing: &'static T) -> bool {
        let Some(key) = self.key.load(Ordering::Relaxed).checked_sub(1) else {
            return false;
        };
        let key = key as libc::pthread_key_t;
        // SAFETY: the key is there, and is never deleted.
        unsafe {
            libc::pthread_getspecific(key).is_null()
                && libc::pthread_setspecific(key, from_ref(thing).cast()) == 0
        }
    }
}

/// A thread ends. (The C library has taken the thing off the key.)
extern "C" fn end<T: GiveBack>(thing: *mut c_void) {
    // SAFETY: `arm` has made it of such a reference.
    unsafe { &*thing.cast::<T>() }.give_back();
}

/// Keeps the object loaded whose functions are called at a thread's end, and in children. Takes the
/// loader's lock.
pub(crate) fn keep_code() {
    object::pin();
}

/// The number of this process, which a forked child does not share (but see
/// [`holder`](super::holder)). Not zero. Async-signal-safe.
pub(crate) fn process() -> u32 {
    // SAFETY: it has no arguments, and cannot fail.
    unsafe { libc::getpid() }.unsigned_abs().max(1)
}

/// Has `call` run in each forked child, by the one thread that it has: behind what was told of
/// earlier, which may have started others. False if there is no memory for that.
pub(crate) fn in_children(call: extern "C" fn()) -> bool {
    // SAFETY: the function is of an object that is never unloaded (`keep_code`), and does what a
    // child may do.
    unsafe { libc::pthread_atfork(None, None, Some(call)) == 0 }
}
