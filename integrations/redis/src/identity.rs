//! The ids of clients on the engine: one for each limit that a process holds.
//!
//! The engine keeps the last answer of each client, and gives an old number no new one. So a client
//! that began its numbers anew under an old id would be granted nothing; and two with one id would
//! be told each other's grants. Ids of one process count up from a random beginning. Beginnings
//! are of 64 random bits, with the process and the time mixed in, since a forked child has its
//! parent's memory, and a copied machine the original's.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;
use std::{io, process};

/// The ids that one engine's clients take.
#[derive(Debug)]
pub(crate) struct Identities {
    next: AtomicU64,
}

impl Identities {
    /// Begins at random.
    pub(crate) fn begin() -> Identities {
        let mut hasher = RandomState::new().build_hasher();
        hasher.write_u32(process::id());
        let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        hasher.write_u128(time.unwrap_or_default().as_nanos());
        hasher.write(&of_the_system().unwrap_or_default());
        Identities { next: AtomicU64::new(hasher.finish()) }
    }

    /// Returns an id that no other client has.
    pub(crate) fn next(&self) -> [u8; 8] {
        // Relaxed: each add gets another number.
        self.next.fetch_add(1, Ordering::Relaxed).to_be_bytes()
    }
}

#[cfg(unix)]
fn of_the_system() -> io::Result<[u8; 16]> {
    use std::fs::File;
    use std::io::Read;

    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// (The hasher's own keys come from the system.)
#[cfg(not(unix))]
fn of_the_system() -> io::Result<[u8; 16]> {
    Ok([0; 16])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_differ() {
        let (one, other) = (Identities::begin(), Identities::begin());
        let ids = [one.next(), one.next(), other.next(), other.next()];
        for (i, id) in ids.iter().enumerate() {
            assert!(!ids[..i].contains(id), "{ids:?}");
        }
    }
}
