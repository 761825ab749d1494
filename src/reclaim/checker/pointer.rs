//! Pointers to blocks: the checker's `Atomic`, `Owned` and `Shared`.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr;

use super::registry::{Guard, Memory, REGISTRY};
use crate::sync::{AtomicPtr, Ordering, UnsafeCell, const_fn};

/// A value on the heap with its checked cell.
pub(super) struct Block<T> {
    alive: UnsafeCell<bool>,
    value: ManuallyDrop<T>,
}

impl<T> Block<T> {
    /// Allocates a block. Its memory belongs to the registry until the execution ends.
    fn allocate(value: T) -> *mut Block<T> {
        let value = ManuallyDrop::new(value);
        let block = Box::into_raw(Box::new(Block { alive: UnsafeCell::new(true), value }));
        REGISTRY.allocated(Memory { block: block.cast(), release: Self::release });
        block
    }

    /// # Safety
    ///
    /// `block` came from `allocate`, in this execution.
    unsafe fn check<'g>(block: *mut Block<T>) -> &'g Block<T> {
        // SAFETY: memory is kept until the execution ends.
        let block = unsafe { &*block };
        // SAFETY: no thread writes to the cell, as loom has just checked. Under shuttle, steps do
        // not overlap.
        block.alive.with(|alive| assert!(unsafe { *alive }, "a freed block was read"));
        block
    }

    /// Frees the block: runs the destructor, and fails every access from now on.
    ///
    /// # Safety
    ///
    /// `block` came from `allocate`, in this execution, and no thread will use it again.
    pub(super) unsafe fn free(block: *mut Block<T>) {
        // SAFETY: memory is kept until the execution ends.
        unsafe { &*block }.alive.with_mut(|alive| {
            // SAFETY: by contract no other thread uses the cell.
            assert!(unsafe { alive.replace(false) }, "a block was freed twice");
        });
        REGISTRY.freed();
        // SAFETY: freed for the first time, so the destructor has not run. No other thread uses it.
        unsafe { ManuallyDrop::drop(&mut (*block).value) };
    }

    /// # Safety
    ///
    /// `block` came from `allocate`, and is not used again.
    unsafe fn release(block: *mut ()) {
        // SAFETY: `allocate` made it by `Box::into_raw`; the value's destructor is not run here.
        drop(unsafe { Box::from_raw(block.cast::<Block<T>>()) });
    }
}

/// A block that no other thread can reach yet, or any more.
pub(crate) struct Owned<T> {
    block: *mut Block<T>,
    owns: PhantomData<Box<T>>,
}

// SAFETY: it owns a `T`, like a box.
unsafe impl<T: Send> Send for Owned<T> {}
// SAFETY: it shares a `T`, like a box.
unsafe impl<T: Sync> Sync for Owned<T> {}

#[allow(dead_code)] // crossbeam-epoch's interface
impl<T> Owned<T> {
    /// Allocates a block for `value`.
    pub(crate) fn new(value: T) -> Self {
        Owned { block: Block::allocate(value), owns: PhantomData }
    }

    /// Converts to a shared pointer.
    pub(crate) fn into_shared(self, _: &Guard) -> Shared<'_, T> {
        Shared::new(self.into_pointer())
    }
}

impl<T> From<Box<T>> for Owned<T> {
    fn from(value: Box<T>) -> Self {
        Owned::new(*value)
    }
}

impl<T> Deref for Owned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: allocated in this execution; ours until dropped.
        unsafe { &Block::check(self.block).value }
    }
}

impl<T> DerefMut for Owned<T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`, and `&mut self` is the only borrow.
        unsafe {
            Block::check(self.block);
            &mut (*self.block).value
        }
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: no other thread can reach it, and this is its last use.
            unsafe { Block::free(self.block) };
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Owned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Owned").field(&**self).finish()
    }
}

/// A pointer to a block, valid as long as the guard `'g`.
pub(crate) struct Shared<'g, T> {
    block: *mut Block<T>,
    guard: PhantomData<(&'g (), *const T)>,
}

#[allow(dead_code, clippy::trivially_copy_pass_by_ref)] // crossbeam-epoch's interface
impl<'g, T> Shared<'g, T> {
    fn new(block: *mut Block<T>) -> Self {
        Shared { block, guard: PhantomData }
    }

    /// Returns the block, alive or not.
    pub(super) fn block(self) -> *mut Block<T> {
        self.block
    }

    /// Points at nothing.
    pub(crate) fn null() -> Self {
        Self::new(ptr::null_mut())
    }

    /// Returns whether the pointer is null.
    pub(crate) fn is_null(&self) -> bool {
        self.block.is_null()
    }

    /// Returns the address of the value. Reading through it is not checked.
    pub(crate) fn as_raw(&self) -> *const T {
        if self.is_null() {
            return ptr::null();
        }
        // SAFETY: in bounds of the block, whose memory is kept until the execution ends.
        unsafe { (&raw const (*self.block).value).cast() }
    }

    /// The value.
    ///
    /// # Safety
    ///
    /// Not null, and protected by the guard.
    pub(crate) unsafe fn deref(&self) -> &'g T {
        assert!(!self.is_null(), "a null pointer was dereferenced");
        // SAFETY: every block that is pointed at was allocated in this execution.
        unsafe { &Block::check(self.block).value }
    }

    /// Returns the value, if there is one.
    ///
    /// # Safety
    ///
    /// Null, or protected by the guard.
    pub(crate) unsafe fn as_ref(&self) -> Option<&'g T> {
        // SAFETY: not null; the caller guarantees the rest.
        (!self.is_null()).then(|| unsafe { self.deref() })
    }

    /// Takes the block over.
    ///
    /// # Safety
    ///
    /// Not null, and no other thread can reach it any more.
    pub(crate) unsafe fn into_owned(self) -> Owned<T> {
        assert!(!self.is_null(), "a null pointer was taken over");
        Owned { block: self.block, owns: PhantomData }
    }
}

impl<T> Clone for Shared<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Shared<'_, T> {}

impl<T> PartialEq for Shared<'_, T> {
    fn eq(&self, other: &Self) -> bool {
        self.block == other.block
    }
}

impl<T> Eq for Shared<'_, T> {}

impl<T> fmt::Debug for Shared<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Shared").field(&self.block).finish()
    }
}

/// A pointer that can be stored in an [`Atomic`]: [`Owned`] or [`Shared`].
pub(crate) trait Pointer<T> {
    /// Gives the block up.
    #[allow(private_interfaces)] // only this module makes pointers
    fn into_pointer(self) -> *mut Block<T>;

    /// Takes back the block that `into_pointer` gave up.
    ///
    /// # Safety
    ///
    /// `block` came from `into_pointer` of the same kind, and no thread has seen it since.
    #[allow(private_interfaces)]
    unsafe fn from_pointer(block: *mut Block<T>) -> Self;
}

impl<T> Pointer<T> for Owned<T> {
    #[allow(private_interfaces)]
    fn into_pointer(self) -> *mut Block<T> {
        ManuallyDrop::new(self).block
    }

    #[allow(private_interfaces)]
    unsafe fn from_pointer(block: *mut Block<T>) -> Self {
        Owned { block, owns: PhantomData }
    }
}

impl<T> Pointer<T> for Shared<'_, T> {
    #[allow(private_interfaces)]
    fn into_pointer(self) -> *mut Block<T> {
        self.block
    }

    #[allow(private_interfaces)]
    unsafe fn from_pointer(block: *mut Block<T>) -> Self {
        Shared::new(block)
    }
}

/// A compare-exchange that did not find what it expected.
#[allow(dead_code)] // crossbeam-epoch's interface
pub(crate) struct CompareExchangeError<'g, T, P> {
    /// The pointer in the atomic.
    pub(crate) current: Shared<'g, T>,
    /// The pointer that was to be stored, returned.
    pub(crate) new: P,
}

impl<T, P> fmt::Debug for CompareExchangeError<'_, T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompareExchangeError")
            .field("current", &self.current)
            .finish_non_exhaustive()
    }
}

/// A shared pointer to a block, or to nothing. Dropping it frees nothing.
pub(crate) struct Atomic<T> {
    pointer: AtomicPtr<Block<T>>,
}

// SAFETY: a thread that reaches a `T` through it shares it, and may take it over.
unsafe impl<T: Send + Sync> Send for Atomic<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Atomic<T> {}

#[allow(dead_code)] // crossbeam-epoch's interface
impl<T> Atomic<T> {
    const_fn! {
        /// Points at nothing.
        #[track_caller]
        pub(crate) const fn null() -> Self {
            Atomic { pointer: AtomicPtr::new(ptr::null_mut()) }
        }
    }

    /// Points at a new block.
    #[track_caller]
    pub(crate) fn new(value: T) -> Self {
        Self::from(Owned::new(value))
    }

    /// Loads the pointer.
    #[track_caller]
    pub(crate) fn load<'g>(&self, order: Ordering, _: &'g Guard) -> Shared<'g, T> {
        Shared::new(self.pointer.load(order))
    }

    /// Stores a pointer.
    #[track_caller]
    pub(crate) fn store<P: Pointer<T>>(&self, new: P, order: Ordering) {
        self.pointer.store(new.into_pointer(), order);
    }

    /// Stores a pointer and returns the one that it replaced.
    #[track_caller]
    pub(crate) fn swap<'g, P: Pointer<T>>(
        &self,
        new: P,
        order: Ordering,
        _: &'g Guard,
    ) -> Shared<'g, T> {
        Shared::new(self.pointer.swap(new.into_pointer(), order))
    }

    /// Stores `new` if the atomic holds `current`, and returns the stored pointer.
    #[track_caller]
    pub(crate) fn compare_exchange<'g, P: Pointer<T>>(
        &self,
        current: Shared<'_, T>,
        new: P,
        success: Ordering,
        failure: Ordering,
        _: &'g Guard,
    ) -> Result<Shared<'g, T>, CompareExchangeError<'g, T, P>> {
        let block = new.into_pointer();
        match self.pointer.compare_exchange(current.block, block, success, failure) {
            Ok(_) => Ok(Shared::new(block)),
            Err(found) => Err(CompareExchangeError {
                current: Shared::new(found),
                // SAFETY: given up above, and not stored.
                new: unsafe { P::from_pointer(block) },
            }),
        }
    }
}

impl<T> From<Owned<T>> for Atomic<T> {
    #[track_caller]
    fn from(owned: Owned<T>) -> Self {
        Atomic { pointer: AtomicPtr::new(owned.into_pointer()) }
    }
}

impl<T> From<Shared<'_, T>> for Atomic<T> {
    #[track_caller]
    fn from(shared: Shared<'_, T>) -> Self {
        Atomic { pointer: AtomicPtr::new(shared.block) }
    }
}

impl<T> Default for Atomic<T> {
    fn default() -> Self {
        Atomic::null()
    }
}

impl<T> fmt::Debug for Atomic<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Atomic") // a load would be a step of the model
    }
}

impl Guard {
    /// Destroys the block of `pointer` when every guard that lives now is gone.
    ///
    /// # Safety
    ///
    /// The block is unlinked, so that a thread that pins from now on cannot find it; and retired
    /// once.
    pub(crate) unsafe fn defer_destroy<T>(&self, pointer: Shared<'_, T>) {
        let block = pointer.block();
        assert!(!block.is_null(), "a null pointer was retired");
        // SAFETY: by contract the block may be freed then, and the registry keeps its memory.
        unsafe { self.defer_unchecked(move || Block::free(block)) };
    }
}
