//! Texts in one allocation: a family's names of labels.

use std::sync::Arc;

/// Copies of texts, in one allocation, and a list of them.
///
/// Exporters borrow `&[&str]`. Hence the list refers to the copies beside it.
pub(crate) struct Texts {
    /// Each borrows from `all` only. The lifetime `'static` is not true; only
    /// [`as_slice`](Self::as_slice) sees it, and returns the true one.
    list: Box<[&'static str]>,
    /// Never changed or handed out. In an `Arc` and not a `Box`, because moving a box invalidates
    /// references into it.
    _all: Arc<str>,
}

impl Texts {
    #[inline]
    pub(super) fn new(texts: &[&str]) -> Texts {
        let all: Arc<str> = texts.concat().into();
        // SAFETY: the text does not move and does not change, and is freed with the list that
        // refers to it, not before. References leave only for as long as the list is borrowed.
        let mut rest: &'static str = unsafe { &*Arc::as_ptr(&all) };
        let list = texts.iter().map(|text| {
            let (copy, behind) = rest.split_at(text.len());
            rest = behind;
            copy
        });
        Texts { list: list.collect(), _all: all }
    }

    #[inline]
    pub(super) fn as_slice(&self) -> &[&str] {
        &self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_kept_apart_and_where_they_are_moved() {
        for texts in [&["ab", "c"][..], &["a", "bc"], &["", "é\0", "", "\""], &[""], &[]] {
            let own: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            let lent: Vec<&str> = own.iter().map(String::as_str).collect();
            let kept = Texts::new(&lent);
            drop(own);
            let moved = std::thread::spawn(move || {
                assert_eq!(kept.as_slice(), texts);
                Box::new(kept)
            });
            assert_eq!(moved.join().unwrap().as_slice(), texts);
        }
    }
}
