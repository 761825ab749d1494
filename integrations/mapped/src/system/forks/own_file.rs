//! An open file that no forked child keeps.
//!
//! A lock of an open file lasts until its last descriptor is closed. A forked child has one too, so
//! it would keep the lock of a dead parent. So the child closes it before `fork` returns
//! (`pthread_atfork`). A child that was made without the C library's handlers (`_Fork`, or `clone`
//! by the program itself) has it until it [opens](OwnFile::open_again) the file again. A program
//! that is started (`exec`) never has it.

use std::ffi::c_int;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, Ordering};
use std::thread::{sleep, yield_now};
use std::time::{Duration, Instant};

use crate::error::MappedError;
use crate::failpoint::{self, Point};
use crate::system::opened::Opened;

/// No descriptor.
const NONE: c_int = -1;

/// The time for which a thread waits for another one that asks the C library, and the pause between
/// two looks at it.
const LONGEST: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_micros(50);

/// The states of the request to the C library.
const NOT_YET: u32 = 0;
const BEGUN: u32 = 1;
const DONE: u32 = 2;

/// All of them, which children walk through. None is ever removed.
static ALL: AtomicPtr<OwnFile> = AtomicPtr::new(null_mut());

/// True while a thread opens a file: then a fork waits until the descriptor is noted.
static IS_OPENING: AtomicBool = AtomicBool::new(false);

/// An open file of this process alone.
#[derive(Debug)]
pub(crate) struct OwnFile {
    descriptor: AtomicI32,
    /// The one that was made before.
    next: *mut OwnFile,
}

// SAFETY: `next` is never written after it was published, and points to what is never freed.
unsafe impl Send for OwnFile {}
// SAFETY: as above.
unsafe impl Sync for OwnFile {}

impl OwnFile {
    /// Makes one that is not open yet. It is never freed, because a fork may come at any time.
    pub(crate) fn new() -> io::Result<&'static OwnFile> {
        prepare()?;
        let made = Box::leak(Box::new(OwnFile { descriptor: NONE.into(), next: null_mut() }));
        let pointer: *mut OwnFile = made;
        let mut first = ALL.load(Ordering::Relaxed); // checked by the exchange
        loop {
            // SAFETY: not published yet.
            unsafe { (*pointer).next = first };
            // Release: pairs with the load of a child, which finds `next` written.
            let (order, failed) = (Ordering::Release, Ordering::Relaxed);
            match ALL.compare_exchange_weak(first, pointer, order, failed) {
                // SAFETY: leaked above, and not written to from now on.
                Ok(_) => return Ok(unsafe { &*pointer }),
                Err(there) => first = there,
            }
        }
    }

    /// Opens a file anew, by the descriptor `of`, and closes what was open before. One thread at a
    /// time calls this.
    pub(crate) fn open_again(
        &'static self,
        of: &Opened,
        path: &Path,
    ) -> Result<BorrowedFd<'static>, MappedError> {
        self.close(|descriptor| of.is_same(descriptor));
        lock();
        let descriptor = of.again(path).map(Opened::into_raw_fd);
        if let Ok(descriptor) = descriptor {
            self.descriptor.store(descriptor, Ordering::Relaxed); // `unlock` is Release
        }
        unlock();
        // SAFETY: it stays open until this is called again, or in a child.
        descriptor.map(|descriptor| unsafe { BorrowedFd::borrow_raw(descriptor) })
    }

    /// Closes the file, if it is open and the descriptor is still its own. A handler of `fork` may
    /// call this.
    fn close(&self, is_own: impl FnOnce(BorrowedFd<'_>) -> bool) {
        // Relaxed: in one thread at a time, or in a child, which has one thread.
        let descriptor = self.descriptor.swap(NONE, Ordering::Relaxed);
        // SAFETY: it is asked for what it leads to, and nothing else.
        if descriptor != NONE && is_own(unsafe { BorrowedFd::borrow_raw(descriptor) }) {
            // SAFETY: `open_again` has opened it, and nothing else closes it.
            unsafe { libc::close(descriptor) };
        }
    }
}

/// Asks the C library, once, to call the functions below at each fork.
///
/// A child that is forked in the middle of this does not have the thread that would end it, and
/// cannot know whether the functions are called: so it gives up.
fn prepare() -> io::Result<()> {
    static STATE: AtomicU32 = AtomicU32::new(NOT_YET);
    let begun = Instant::now();
    // Relaxed, as below: what the thread that was here first has done is in the C library.
    while let Err(state) =
        STATE.compare_exchange(NOT_YET, BEGUN, Ordering::Relaxed, Ordering::Relaxed)
    {
        if state == DONE {
            return Ok(());
        }
        if begun.elapsed() > LONGEST {
            return Err(io::ErrorKind::TimedOut.into());
        }
        sleep(PAUSE);
    }
    failpoint::reach(Point::Preparing);
    // SAFETY: the functions do what a handler may do, and stay loaded: the C library forgets those
    // of an object that is unloaded.
    let error = unsafe { libc::pthread_atfork(Some(lock), Some(unlock), Some(in_child)) };
    STATE.store(if error == 0 { DONE } else { NOT_YET }, Ordering::Relaxed);
    match error {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

extern "C" fn in_child() {
    unlock();
    // Acquire: pairs with the exchange of `new`.
    let mut next: *const OwnFile = ALL.load(Ordering::Acquire);
    // SAFETY: those in the list are never freed.
    while let Some(file) = unsafe { next.as_ref() } {
        file.close(|_| true); // the program has had no time to close it
        next = file.next;
    }
}

extern "C" fn lock() {
    // Acquire: pairs with the Release of `unlock`, so a child finds each descriptor noted.
    while IS_OPENING.swap(true, Ordering::Acquire) {
        yield_now();
    }
}

extern "C" fn unlock() {
    IS_OPENING.store(false, Ordering::Release);
}
