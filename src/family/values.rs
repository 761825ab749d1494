//! The values of a series whose names are known at run time, in one allocation.
//!
//! A lookup compares words, so each value is a stored [`Text`]. But callers borrow `&[&str]`. So
//! behind the texts stands a list of references to them.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::{NonNull, drop_in_place, slice_from_raw_parts_mut};
use std::slice::from_raw_parts;

use crate::family::text::Text;

/// Copies of texts, and a list of them.
pub struct Values {
    /// The texts, then the list. Neither is changed or handed out but by a shared reference that
    /// borrows from this, so the list's lifetime `'static` is seen here only.
    texts: NonNull<Text>,
    count: usize,
}

impl Values {
    #[inline]
    pub(super) fn new(texts: &[&str]) -> Values {
        let (layout, behind) = Values::layout(texts.len());
        let all =
            if texts.is_empty() { NonNull::<Text>::dangling().cast() } else { allocated(layout) };
        let new = Values { texts: all.cast(), count: texts.len() };
        for (at, text) in texts.iter().enumerate() {
            // SAFETY: both places are in the allocation, which no other code has seen. The
            // reference is to a text that lives, and stays in its place, as long as the list.
            unsafe {
                let own = new.texts.add(at);
                own.write(Text::new(text));
                let list = all.byte_add(behind).cast::<&'static str>();
                list.add(at).write((*own.as_ptr()).as_str());
            }
        }
        new
    }

    /// Returns the layout of a number of values, and the distance of the list from the begin.
    #[inline]
    fn layout(count: usize) -> (Layout, usize) {
        let lists = Layout::array::<Text>(count)
            .and_then(|texts| Ok((texts, Layout::array::<&str>(count)?)))
            .and_then(|(texts, list)| texts.extend(list));
        lists.expect("fewer values than the memory has bytes")
    }

    /// Returns the texts as they are stored.
    #[inline]
    pub(super) fn texts(&self) -> &[Text] {
        // SAFETY: `new` has written this number of them.
        unsafe { from_raw_parts(self.texts.as_ptr(), self.count) }
    }

    #[inline]
    pub(super) fn as_slice(&self) -> &[&str] {
        let (_, behind) = Values::layout(self.count);
        // SAFETY: `new` has written this number of them there.
        unsafe { from_raw_parts(self.texts.byte_add(behind).cast().as_ptr(), self.count) }
    }
}

/// Allocates memory.
#[inline]
fn allocated(layout: Layout) -> NonNull<u8> {
    // SAFETY: the layout has a size, since it is of at least one value.
    let all = unsafe { alloc(layout) };
    NonNull::new(all).unwrap_or_else(|| handle_alloc_error(layout))
}

impl Drop for Values {
    #[inline]
    fn drop(&mut self) {
        let (layout, _) = Values::layout(self.count);
        // SAFETY: `new` has written the texts, and has allocated by this layout, unless it is of
        // none. The list needs no drop.
        unsafe {
            drop_in_place(slice_from_raw_parts_mut(self.texts.as_ptr(), self.count));
            if self.count > 0 {
                dealloc(self.texts.cast().as_ptr(), layout);
            }
        }
    }
}

// SAFETY: it owns the texts, which do not change.
unsafe impl Send for Values {}
// SAFETY: as above.
unsafe impl Sync for Values {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_kept_apart_and_where_they_are_moved() {
        const LONG: &str = "a text of more than 15 bytes";
        let sets = [&["ab", "c"][..], &["a", "bc"], &["", "é\0", LONG, "\""], &[""], &[]];
        for texts in sets {
            let own: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            let lent: Vec<&str> = own.iter().map(String::as_str).collect();
            let kept = Values::new(&lent);
            drop(own);
            let moved = std::thread::spawn(move || {
                assert_eq!(kept.as_slice(), texts);
                Box::new(kept)
            });
            assert_eq!(moved.join().unwrap().as_slice(), texts);
        }
    }
}
