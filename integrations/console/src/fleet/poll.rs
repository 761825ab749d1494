//! The rounds in which a fleet asks its members: one a second.
//!
//! Each address is asked by a task of its own, and not anew before that has ended: a member that is
//! slow delays no other.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::net::lookup_host;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::get::{PATIENCE, reading};
use super::site::Shared;
use super::targets::{FileError, MOST, Target, read};
use crate::text::cut;

/// The time from one round to the next.
const ROUND: Duration = Duration::from_secs(1);

/// The time after which a name is looked up anew.
const NAMES: Duration = Duration::from_secs(10);

/// A name that has been looked up, or is being.
#[derive(Default)]
struct Found {
    addresses: Vec<SocketAddr>,
    error: Option<String>,
    looked: Option<Instant>,
    looking: Option<JoinHandle<Result<Vec<SocketAddr>, String>>>,
}

/// The address of a console, and the path at which it is mounted.
type Mounted = (SocketAddr, String);

/// Asks all members, in rounds, until the runtime ends.
pub(super) async fn rounds(shared: Arc<Shared>) {
    let mut rounds = interval(ROUND);
    rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut names: BTreeMap<String, Found> = BTreeMap::new();
    let mut asked: BTreeMap<Mounted, JoinHandle<()>> = BTreeMap::new();
    let mut listed = Listed::default();
    loop {
        rounds.tick().await;
        shared.end_round();
        let mut troubles = Vec::new();
        if let Some(file) = shared.file.clone() {
            troubles.extend(listed.read(move || read(&file)).await);
        }
        let mut targets: BTreeSet<&Target> = shared.targets.iter().chain(&listed.targets).collect();
        if targets.len() > MOST {
            troubles.push(format!("of {} targets, only {MOST} are asked", targets.len()));
            targets = targets.into_iter().take(MOST).collect();
        }
        names.retain(|name, _| targets.iter().any(|target| target.host == *name));
        let mut places: BTreeMap<Mounted, String> = BTreeMap::new();
        for target in targets {
            if let Ok(address) = target.host.parse() {
                places.insert((address, target.path.clone()), target.to_string());
                continue;
            }
            let found = names.entry(target.host.clone()).or_default();
            found.look(&target.host).await;
            if let Some(error) = &found.error {
                troubles.push(format!("`{}` is not found: {error}", cut(&target.host)));
            }
            let mounted = |address: &SocketAddr| (*address, target.path.clone());
            let addresses = found.addresses.iter().map(mounted);
            places.extend(addresses.map(|mounted| (mounted, target.to_string())));
        }
        if places.len() > MOST {
            troubles.push(format!("of {} addresses, only {MOST} are asked", places.len()));
            places = places.into_iter().take(MOST).collect();
        }
        let addresses = places.iter().map(|(place, target)| (name(place), target.clone()));
        shared.set(addresses, troubles);
        asked.retain(|_, task| !task.is_finished());
        for place in places.into_keys() {
            if !asked.contains_key(&place) {
                asked.insert(place.clone(), tokio::spawn(ask(Arc::clone(&shared), place)));
            }
        }
    }
}

/// Returns the name of an address with its path.
fn name((address, path): &Mounted) -> String {
    format!("{address}{}", path.trim_end_matches('/'))
}

/// Asks one address: a balancer's several times.
async fn ask(shared: Arc<Shared>, place: Mounted) {
    let name = name(&place);
    let begun = Instant::now();
    for _ in 0..shared.questions(&name) {
        let answer = reading(place.0, &place.1).await;
        shared.note(&name, answer);
        if begun.elapsed() > ROUND {
            break;
        }
    }
}

/// The targets of the file, as they were last read.
#[derive(Default)]
struct Listed {
    targets: Vec<Target>,
    /// A reading that has not ended.
    reading: Option<JoinHandle<Result<Vec<Target>, FileError>>>,
}

impl Listed {
    /// Reads the file, for at most a round. Returns the reason why the targets stay as they were.
    ///
    /// A reading that takes longer goes on, and none begins before it has ended.
    async fn read<F>(&mut self, read: F) -> Option<String>
    where
        F: FnOnce() -> Result<Vec<Target>, FileError> + Send + 'static,
    {
        let reading = self.reading.get_or_insert_with(|| spawn_blocking(read));
        let result = timeout(ROUND, reading).await;
        if result.is_ok() {
            self.reading = None;
        }
        let why = match result {
            Ok(Ok(Ok(targets))) => {
                self.targets = targets;
                return None;
            }
            Ok(Ok(Err(error))) => error.to_string(),
            Ok(Err(_)) => "reading them was ended".to_owned(),
            Err(_) => "reading them takes long".to_owned(),
        };
        Some(format!("the targets stay as they were: {why}"))
    }
}

impl Found {
    /// Takes the result of a look-up that has ended, and begins one if it is time.
    async fn look(&mut self, host: &str) {
        if self.looking.as_ref().is_some_and(JoinHandle::is_finished)
            && let Some(looking) = self.looking.take()
        {
            match looking.await {
                Ok(Ok(addresses)) => (self.addresses, self.error) = (addresses, None),
                // The addresses stay as they were.
                Ok(Err(error)) => self.error = Some(error),
                Err(_) => {} // it was ended with the runtime
            }
        }
        let is_due = self.looked.is_none_or(|looked| looked.elapsed() >= NAMES);
        if self.looking.is_none() && is_due {
            self.looked = Some(Instant::now());
            let host = host.to_owned();
            self.looking = Some(tokio::spawn(async move {
                match timeout(PATIENCE, lookup_host(host)).await {
                    Ok(Ok(addresses)) => Ok(addresses.collect()),
                    Ok(Err(error)) => Err(error.to_string()),
                    Err(_) => Err(format!("no answer within {} s", PATIENCE.as_secs())),
                }
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;

    use super::*;

    #[tokio::test]
    async fn a_reading_that_hangs_is_the_only_one() {
        let (begun, (go, wait)) = (Arc::new(AtomicUsize::new(0)), channel());
        let mut wait = Some(wait);
        let mut reading = || {
            let (begun, wait) = (Arc::clone(&begun), wait.take());
            move || {
                begun.fetch_add(1, Ordering::Relaxed); // a number, which nothing else goes by
                wait.map(|wait| wait.recv());
                Target::parse("shop:80").map(|target| vec![target]).map_err(|_| unreachable!())
            }
        };
        let mut listed = Listed::default();
        let late = "the targets stay as they were: reading them takes long";
        for _ in 0..2 {
            assert_eq!(listed.read(reading()).await.as_deref(), Some(late));
        }
        assert!(listed.targets.is_empty());
        go.send(()).unwrap();
        while listed.read(reading()).await.is_some() {}
        assert_eq!((begun.load(Ordering::Relaxed), listed.targets.len()), (1, 1));
    }
}
