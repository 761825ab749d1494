//! By a key of the C library.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr::from_ref;

use super::GiveBack;
use crate::object;
use crate::sync::{AtomicUsize, Ordering};

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

    /// Makes a key, once a process. False if the process has as many keys as it may have.
    pub(crate) fn prepare(&self) -> bool {
        object::pin();
        let mut key = 0;
        // SAFETY: the destructor is of this object, which is never unloaded, and is only given what `arm` has set.
        if unsafe { libc::pthread_key_create(&raw mut key, Some(end::<T>)) } != 0 {
            return false;
        }
        // Relaxed: published with the decision that follows it.
        self.key.store(key as usize + 1, Ordering::Relaxed);
        true
    }

    /// Has `thing` given back at this thread's end. False if that cannot be, or if the thread has another such thing.
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

/// Has `call` run first in each forked child, by the one thread that it has. False if there is no memory for that.
pub(crate) fn in_children(call: extern "C" fn()) -> bool {
    // SAFETY: the function is of an object that is never unloaded (`prepare`), and does what a child may do.
    unsafe { libc::pthread_atfork(None, None, Some(call)) == 0 }
}
