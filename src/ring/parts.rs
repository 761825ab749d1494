//! What models look at beneath a window (`--cfg loom`), because with one it takes three threads and many
//! rotations for it, or cannot be told from what is allowed. The code is the window's own.

use std::ptr::{from_ref, null_mut};
use std::time::Duration;

use crate::kind::Kind;
use crate::layout::Shape;
use crate::reclaim;
use crate::ring::header::{Header, Link, OPEN};
use crate::ring::hold::{Adder, Held};
use crate::ring::read::Seen;
use crate::ring::{Geometry, Ring};
use crate::sync::Ordering;

/// A header that leaves its link and comes back to it as another bucket: [`Ring::open`] and [`Seen::by`].
///
/// A ring, and a link to one header of its, which is in no slot; both blocks are free.
#[derive(Debug)]
pub struct Comeback {
    ring: Ring,
    link: Link,
}

/// Where the header's bucket begins at first, and when it has come back.
const STARTS: [u64; 2] = [10, 30];

impl Comeback {
    /// The header is linked as a bucket that has counted in a block.
    #[must_use]
    #[allow(clippy::missing_panics_doc, clippy::new_without_default)]
    pub fn new() -> Comeback {
        let geometry = Geometry::new(Duration::from_nanos(20), 2).expect("sound");
        let ring = Ring::new(geometry, Shape::of(&[("Hit", Kind::Count)]), 0).expect("sound");
        let link = Link::new(null_mut());
        let comeback = Comeback { ring, link };
        let header = comeback.open(STARTS[0]);
        comeback.link.store(from_ref(header).cast_mut(), Ordering::Release);
        header.close();
        comeback.free_blocks();
        comeback
    }

    fn open(&self, start: u64) -> &Header {
        let guard = reclaim::pin();
        let current = self.ring.hold_current();
        self.ring.open(current.generation(&guard), start)
    }

    fn free_blocks(&self) {
        for block in &self.ring.blocks {
            let owner = block.owner.swap(null_mut(), Ordering::AcqRel);
            // SAFETY: null, or a header of this ring's.
            if let Some(header) = unsafe { owner.as_ref() } {
                header.let_go();
            }
        }
    }

    /// Takes the header out of its link and makes it into another bucket, which it links there.
    pub fn leave_and_come_back(&self) {
        let header = self.link.swap(null_mut(), Ordering::AcqRel);
        // SAFETY: a header of this ring's.
        unsafe { &*header }.let_go();
        let header = self.open(STARTS[1]);
        self.link.store(from_ref(header).cast_mut(), Ordering::Release);
    }

    /// Takes the first block, if it is free.
    pub fn take_a_block(&self) {
        let current = self.ring.hold_current();
        let header = from_ref(current.header()).cast_mut();
        let owner = &self.ring.blocks[0].owner;
        if owner.compare_exchange(null_mut(), header, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            std::mem::forget(current); // the block's hold
        }
    }

    /// What a reader finds: where the bucket begins, and in which block it counts.
    #[must_use]
    pub fn read(&self) -> Option<(u64, Option<usize>)> {
        // SAFETY: a header of this ring's.
        let seen = unsafe { Seen::by(&self.link) }?;
        let found = (seen.header.start(), seen.header.block());
        seen.is_still().then_some(found)
    }

    /// Takes the header out of its link, which leads to a newer bucket from then on, and makes it into an
    /// older one, which is linked elsewhere.
    pub fn become_older(&self) {
        let newer = self.open(STARTS[1]);
        let header = self.link.swap(from_ref(newer).cast_mut(), Ordering::AcqRel);
        // SAFETY: a header of this ring's.
        unsafe { &*header }.let_go();
        let older = self.open(0);
        older.close();
        older.let_go(); // its slot's
    }

    /// Whether a reader finds the bucket that the header was at first; or knows, if not, that it came too
    /// late.
    #[must_use]
    pub fn find_or_be_overtaken(&self) -> bool {
        let guard = reclaim::pin();
        let Some(view) = self.ring.present(&guard) else { return true };
        view.bucket(STARTS[0], &self.link).is_some() || view.is_overtaken()
    }

    /// When all is done: what a reader must have found, if it found the bucket that came back.
    #[must_use]
    #[allow(clippy::missing_panics_doc)]
    pub fn end(self) -> (u64, Option<usize>) {
        let found = self.read().expect("it is linked");
        self.free_blocks();
        let header = self.link.swap(null_mut(), Ordering::AcqRel);
        // SAFETY: a header of this ring's.
        unsafe { &*header }.let_go();
        found
    }
}

/// A bucket that is displaced while a thread adds to its shared cells: [`Adder`] and
/// [`Header::is_final`].
#[derive(Debug)]
pub struct Displaced {
    _ring: Ring,
    /// The newest bucket, as far as adders know.
    current: Link,
}

impl Displaced {
    /// The bucket has no block, and is the newest.
    #[must_use]
    #[allow(clippy::missing_panics_doc, clippy::new_without_default)]
    pub fn new() -> Displaced {
        let geometry = Geometry::new(Duration::from_nanos(20), 2).expect("sound");
        let ring = Ring::new(geometry, Shape::of(&[("Took", Kind::Value)]), 0).expect("sound");
        let header = ring.unstriped.take();
        {
            let guard = reclaim::pin();
            header.make(ring.hold_current().generation(&guard), STARTS[0]);
            header.made(OPEN);
        }
        let current = Link::new(from_ref(header).cast_mut());
        Displaced { _ring: ring, current }
    }

    /// Adds to two cells, if the bucket is still the newest.
    pub fn add(&self) {
        // SAFETY: a header of the ring's.
        let Some(header) = (unsafe { Held::by(&self.current) }) else { return };
        if let Some(_adder) = Adder::of(&header, &self.current) {
            for pair in &header.pairs()[..2] {
                pair.shared.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Displaces the bucket, and looks whether it is final: then, what the two cells hold.
    #[must_use]
    #[allow(clippy::missing_panics_doc)]
    pub fn displace(&self) -> Option<(u64, u64)> {
        let header = self.current.swap(null_mut(), Ordering::AcqRel);
        // SAFETY: a header of the ring's, which its slot would still hold.
        let header = unsafe { &*header };
        let cell = |position: usize| header.pairs()[position].shared.load(Ordering::Relaxed);
        let found = header.is_final().then(|| (cell(0), cell(1)));
        header.let_go();
        found
    }
}

/// A displaced bucket that several threads want closed at once: [`Ring::settle`].
#[derive(Debug)]
pub struct Unclosed(Ring);

impl Unclosed {
    /// The first bucket is displaced, and not closed.
    #[must_use]
    #[allow(clippy::missing_panics_doc, clippy::new_without_default)]
    pub fn new() -> Unclosed {
        let geometry = Geometry::new(Duration::from_nanos(20), 2).expect("sound");
        let ring = Ring::new(geometry, Shape::of(&[("Hit", Kind::Count)]), 0).expect("sound");
        assert!(ring.rotate(&ring.hold_current(), STARTS[0], &reclaim::pin()));
        Unclosed(ring)
    }

    /// Closes it, if nobody else is about to.
    pub fn settle(&self) {
        self.0.settle();
    }

    /// Whether it is closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.0.blocks[0].owner.load(Ordering::Relaxed).is_null()
    }
}
