//! Work that is done two pieces at a time: each piece is one process of one thread.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const WORKERS: usize = 2;

/// Does `work` for each piece, with the number of the worker, and returns the results in the order
/// of the pieces. After an error no further piece is begun.
pub(crate) fn each<P: Sync, R: Send>(
    pieces: &[P],
    work: impl Fn(usize, &P) -> Result<R, String> + Sync,
) -> Result<Vec<R>, String> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let all = |worker: usize| {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed); // only a number, as below
            let Some(piece) = pieces.get(at) else { return };
            let result = work(worker, piece);
            if result.is_err() {
                next.store(pieces.len(), Ordering::Relaxed);
            }
            done.lock().expect("no panic").insert(at, result);
        }
    };
    thread::scope(|scope| {
        let all = &all;
        (0..WORKERS).for_each(|worker| _ = scope.spawn(move || all(worker)));
    });
    done.into_inner().expect("no panic").into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_their_pieces() {
        let pieces: Vec<usize> = (0..100).collect();
        assert_eq!(each(&pieces, |_, piece| Ok(piece * 2)), Ok((0..100).map(|n| n * 2).collect()));
        let begun = AtomicUsize::new(0);
        let fails = |_, piece: &usize| {
            begun.fetch_add(1, Ordering::Relaxed);
            if *piece < 3 { Err("broken".to_owned()) } else { Ok(()) }
        };
        assert_eq!(each(&pieces, fails), Err("broken".to_owned()));
        assert!(begun.into_inner() < 100);
    }
}
