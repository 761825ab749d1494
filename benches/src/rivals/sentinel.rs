//! The published crate sentinel-core, which has the five events that the other windows here have.
//!
//! Its rings are private, but for those of the crate's resources: `get_or_create_resource_node`,
//! which its slot chain calls too, gives out the node that keeps a resource's figures, and the
//! node's public traits count (`WriteStat::add_count`) and read (`ReadStat::sum`). So an add here
//! is what the crate does to count one event, without its rules, its slots and the look-up of the
//! resource.
//!
//! It takes the time from the system, or from a thread that publishes it every millisecond. Which
//! one is for the whole process, and the thread never ends: measure without it first.

use std::sync::Arc;
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

use sentinel_core::base::{MetricEvent, ReadStat, ResourceType, WriteStat};
use sentinel_core::config::{ConfigEntity, reset_global_config};
use sentinel_core::stat::get_or_create_resource_node;
use sentinel_core::utils::start_time_ticker;

use crate::harness::{Contender, Rival};

/// The length of a bucket in milliseconds.
const LENGTH: u32 = 500;

/// A resource's node. Its type has a name only inside its crate.
struct Sentinel<N>(Arc<N>);

impl<N: ReadStat + WriteStat> Rival for Sentinel<N> {
    #[inline]
    fn add(&self, n: u64) {
        self.0.add_count(MetricEvent::Pass, n);
    }

    #[inline]
    fn sum(&self) -> u64 {
        self.0.sum(MetricEvent::Pass)
    }
}

/// Returns a fresh window of sentinel-core with `buckets` half seconds. It reads the time from the
/// crate's ticker once that runs. The crate keeps it forever.
pub fn window(buckets: u32) -> Contender {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let mut config = ConfigEntity::new();
    let stat = &mut config.config.stat;
    (stat.interval_ms_total, stat.sample_count_total) = (LENGTH * buckets, buckets);
    (stat.interval_ms, stat.sample_count) = (LENGTH * buckets, buckets);
    reset_global_config(config); // the configuration of this thread, which makes the node
    let name = format!("resource {}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let node = get_or_create_resource_node(&name, &ResourceType::Common);
    Contender::new("sentinel-core", Sentinel(node))
}

/// Has all of sentinel-core's windows read a published time from now on.
pub fn start_ticker() {
    static STARTED: Once = Once::new();
    STARTED.call_once(start_time_ticker);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts() {
        let Contender { name, rival } = window(2);
        rival.add(40);
        rival.add_many(2);
        assert_eq!(rival.sum(), 42, "{name}");
    }
}
