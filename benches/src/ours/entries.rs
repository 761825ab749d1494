//! sentinel-core with nodes of its own, and with nodes of windrow's: an add, the rate that a rule
//! asks for, and a whole entry.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use sentinel_core::EntryBuilder;
use sentinel_core::base::{MetricEvent, ResourceType, SlotChain, StatNode};
use sentinel_core::config::{ConfigEntity, reset_global_config};
use sentinel_core::flow::{self, Rule};
use sentinel_core::stat::get_or_create_resource_node;

use super::sentinel;
use crate::harness::{Contender, Rival, rival};
use crate::rivals::sentinel::start_ticker;
use crate::rivals::{OUR_NODE, OWN_NODE};

/// A node that is added to.
struct Add(Arc<dyn StatNode>);

rival! { Add:
    add(self, n) => self.0.add_count(MetricEvent::Pass, n);
    sum(self) => self.0.sum(MetricEvent::Pass);
}

/// A node whose rate is asked for, while a thread adds to it now and then: so that it has buckets
/// to ask.
struct Rate(Arc<dyn StatNode>);

impl Rate {
    fn of(node: Arc<dyn StatNode>) -> Rate {
        let counted = Arc::downgrade(&node);
        thread::spawn(move || {
            // As long as a rule, or the crate's list of nodes, keeps it.
            while let Some(node) = counted.upgrade() {
                node.add_count(MetricEvent::Pass, 1);
                thread::sleep(Duration::from_millis(20));
            }
        });
        // Two buckets that the rate is of.
        thread::sleep(Duration::from_millis(600));
        Rate(node)
    }
}

rival! { Rate:
    // Asks.
    add(self, _n) => black_box(self.0.qps(MetricEvent::Pass));
    sum(self) => self.0.sum(MetricEvent::Pass);
}

/// A resource with a rule that lets everything pass.
struct Entry {
    resource: String,
    /// Our chain; otherwise the crate's own is used.
    chain: Option<Arc<SlotChain>>,
    node: Arc<dyn StatNode>,
}

impl Entry {
    /// Enters and leaves; false if a rule blocks it.
    #[inline]
    fn enter(&self) -> bool {
        let mut builder = EntryBuilder::new(self.resource.clone());
        if let Some(chain) = &self.chain {
            builder = builder.with_slot_chain(Arc::clone(chain));
        }
        builder.build().map(|entry| entry.exit()).is_ok()
    }
}

rival! { Entry:
    // One entry and its exit.
    add(self, _n) => assert!(self.enter(), "the rule lets everything pass");
    sum(self) => self.node.sum(MetricEvent::Pass);
}

fn fresh() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    format!("lab {}", NUMBER.fetch_add(1, Ordering::Relaxed))
}

/// Returns a resource's node: ours, or the crate's own, by its settings by default.
fn node(ours: bool, resource: &String) -> Arc<dyn StatNode> {
    if ours {
        return sentinel::node(resource);
    }
    // The configuration of this thread, which makes the node.
    reset_global_config(ConfigEntity::new());
    get_or_create_resource_node(resource, &ResourceType::Common)
}

fn entry(ours: bool, threshold: f64) -> Entry {
    let resource = fresh();
    let node = node(ours, &resource);
    let own = || Rule { resource: resource.clone(), threshold, ..Rule::default() };
    let rule = if ours { sentinel::rule(&resource, threshold) } else { own() };
    let loaded = flow::load_rules_of_resource(&resource, vec![Arc::new(rule)]);
    assert!(loaded.expect("a sound rule"), "the rule is new");
    Entry { resource, chain: ours.then(sentinel::chain), node }
}

/// The use of a node.
#[derive(Clone, Copy)]
pub enum Use {
    /// It is added to.
    Add,
    /// Its rate is asked for.
    Rate,
    /// It is that of a resource that is entered and left.
    Entry,
}

/// Returns the one called `name`; both read a published time from now on.
pub fn make(name: &str, what: Use) -> Option<Contender> {
    start_ticker();
    let ours = match name {
        OUR_NODE => true,
        OWN_NODE => false,
        _ => return None,
    };
    let name = if ours { OUR_NODE } else { OWN_NODE };
    Some(match what {
        Use::Add => Contender::new(name, Add(node(ours, &fresh()))),
        Use::Rate => Contender::new(name, Rate::of(node(ours, &fresh()))),
        // More than there can be in a second.
        Use::Entry => Contender::new(name, entry(ours, 1e15)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_nodes_count_and_tell_their_rate() {
        for name in [OWN_NODE, OUR_NODE] {
            for what in [Use::Add, Use::Entry] {
                let Contender { rival, .. } = make(name, what).expect("a known name");
                rival.add_many(42);
                assert_eq!(rival.sum(), 42, "{name}");
            }
        }
        for ours in [false, true] {
            let node = node(ours, &fresh());
            node.add_count(MetricEvent::Pass, 40);
            node.add_count(MetricEvent::Complete, 2);
            node.add_count(MetricEvent::Rt, 30);
            let rates = [node.qps(MetricEvent::Pass), node.avg_rt(), node.min_rt()];
            assert_eq!(rates.map(|rate| rate.to_string()), ["40", "15", "30"], "ours: {ours}");
            let longer = node.generate_read_stat(4, 2000).expect("a part of the kept span");
            assert_eq!(longer.qps(MetricEvent::Pass).to_string(), "20", "ours: {ours}");
            assert!(node.generate_read_stat(3, 2000).is_err(), "ours: {ours}");
        }
    }

    #[test]
    fn the_crates_rules_block_by_either_node() {
        for ours in [false, true] {
            let limited = entry(ours, 3.0);
            let passed = (0..64).filter(|_| limited.enter()).count();
            assert!((3..64).contains(&passed), "ours: {ours}, {passed}");
            let node = &limited.node;
            let counted = [MetricEvent::Pass, MetricEvent::Complete].map(|event| node.sum(event));
            assert_eq!(counted, [passed as u64; 2], "ours: {ours}");
            assert_eq!(node.sum(MetricEvent::Block), 64 - passed as u64, "ours: {ours}");
            assert_eq!(node.current_concurrency(), 0, "ours: {ours}");
            let items = node.metrics_on_condition(&|_| true);
            assert!(!items.is_empty(), "ours: {ours}");
        }
    }
}
