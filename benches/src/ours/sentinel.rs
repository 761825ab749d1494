//! sentinel-core on windrow: a node for the statistics of a resource, by the crate's public traits,
//! and a slot that puts it into the context in the place of the crate's own. The crate is as it is
//! published.
//!
//! All rules are checked by the crate's own slots. A rule of the flow reads what its *controller*
//! was given; the crate's checker with a controller of ours reads our node ([`rule`]). The one slot
//! that the crate keeps to itself is the one that counts: [`Counting`] makes the calls that it
//! makes.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex, Weak};
use std::time::Duration;

use sentinel_core::base::{
    BaseSlot, BlockError, ConcurrencyStat, EntryContext, MetricEvent, MetricItem,
    MetricItemRetriever, ReadStat, SlotChain, StatNode, StatPrepareSlot, StatSlot, TimePredicate,
    TrafficType, WriteStat, check_validity_for_reuse_statistic,
};
use sentinel_core::flow::{
    Calculator, Checker, ControlStrategy, Controller, DirectCalculator, RejectChecker, Rule,
    StandaloneStat, set_traffic_shaping_generator,
};
use sentinel_core::{circuitbreaker, flow, hotspot, isolation, log, stat, system, utils};
use windrow::clock::Ticker;
use windrow::kind::Count;
use windrow::{
    Event, Family, SlidingWindow,
    family::Metric,
    snapshot::{BucketSnapshot, Over},
};

windrow::events! {
    /// The events of a node: the crate's own, and the maximum of concurrent calls.
    enum Call {
        Pass: Count, Block: Count, Complete: Count, Error: Count, Rt: Value, Concurrency: Value
    }
}

/// Returns the event that counts the crate's event; `None` of the one that has values,
/// [`Call::Rt`].
#[inline]
fn count_of(event: MetricEvent) -> Option<Event<Call, Count>> {
    match event {
        MetricEvent::Pass => Some(Call::Pass),
        MetricEvent::Block => Some(Call::Block),
        MetricEvent::Complete => Some(Call::Complete),
        MetricEvent::Error => Some(Call::Error),
        MetricEvent::Rt => None,
    }
}

/// The crate's settings by default: a bucket is half a second, rules read two buckets, and twenty
/// are kept.
const LENGTH: Duration = Duration::from_millis(500);
const READ: u32 = 2;
const KEPT: u32 = 20;

/// The crate's answer without a record, in milliseconds.
const LONGEST_RT: u64 = 60_000;

fn milliseconds(time: Duration) -> u32 {
    u32::try_from(time.as_millis()).expect("a short time")
}

/// Returns the sum of one of the crate's events.
fn sum(window: &SlidingWindow<Call, Ticker>, event: MetricEvent) -> u64 {
    count_of(event).map_or_else(|| window.sum(Call::Rt), |event| window.sum(event))
}

/// Returns the sum over a part of the window.
fn sum_over(span: &Over<Call, Ticker>, event: MetricEvent) -> u64 {
    count_of(event).map_or_else(|| span.sum(Call::Rt), |event| span.sum(event))
}

/// The statistics of a resource.
#[derive(Debug)]
pub struct Node {
    window: Arc<SlidingWindow<Call, Ticker>>,
    concurrency: AtomicU32,
}

impl Node {
    /// A node without counts, on a clock that is published.
    fn new(clock: Ticker) -> Node {
        let window = SlidingWindow::builder()
            .interval(LENGTH * READ)
            .buckets(READ as usize)
            .tier(LENGTH, KEPT as usize)
            .clock(clock);
        let window = Arc::new(window.build().expect("sound settings"));
        Node { window, concurrency: AtomicU32::new(0) }
    }

    /// Returns what rules read.
    fn read(&self) -> Read {
        Read { window: Arc::clone(&self.window), span: LENGTH * READ }
    }
}

impl ReadStat for Node {
    fn qps(&self, event: MetricEvent) -> f64 {
        self.sum(event) as f64 / self.window.interval().as_secs_f64()
    }

    fn qps_previous(&self, event: MetricEvent) -> f64 {
        self.read().qps_previous(event)
    }

    fn sum(&self, event: MetricEvent) -> u64 {
        sum(&self.window, event)
    }

    fn min_rt(&self) -> f64 {
        self.window.stats(Call::Rt).min.unwrap_or(LONGEST_RT) as f64
    }

    fn avg_rt(&self) -> f64 {
        self.read().avg_rt()
    }
}

impl WriteStat for Node {
    #[inline]
    fn add_count(&self, event: MetricEvent, count: u64) {
        match count_of(event) {
            Some(event) => self.window.add(event, count),
            None => self.window.record(Call::Rt, count),
        }
    }

    fn update_concurrency(&self, concurrency: u32) {
        self.window.record(Call::Concurrency, u64::from(concurrency));
    }
}

impl ConcurrencyStat for Node {
    fn current_concurrency(&self) -> u32 {
        self.concurrency.load(Ordering::Relaxed)
    }

    fn increase_concurrency(&self) {
        // Relaxed, here and below: a number, which publishes nothing.
        self.update_concurrency(self.concurrency.fetch_add(1, Ordering::Relaxed) + 1);
    }

    fn decrease_concurrency(&self) {
        self.concurrency.fetch_sub(1, Ordering::Relaxed);
    }
}

impl MetricItemRetriever for Node {
    /// Returns an item for each bucket that is kept.
    fn metrics_on_condition(&self, predicate: &TimePredicate) -> Vec<MetricItem> {
        let kept = self.window.series(0).expect("the tier of the builder's");
        let wanted = kept.buckets().iter().filter_map(|bucket| {
            let start = bucket.start().as_millis();
            predicate(start).then_some((start, bucket))
        });
        let item = |(start, bucket): (u64, &BucketSnapshot<Call>)| {
            let [pass, block, complete, error] =
                [Call::Pass, Call::Block, Call::Complete, Call::Error]
                    .map(|event| bucket.sum(event));
            let rt = bucket.sum(Call::Rt) / complete.max(1);
            let most = bucket.stats(Call::Concurrency).max.unwrap_or(0);
            // Its fields are the crate's own, but it reads a line of text.
            let line = format!("{start}|||{pass}|{block}|{complete}|{error}|{rt}|0|{most}|0");
            MetricItem::from_string(&line).expect("the crate's format")
        };
        wanted.map(item).collect()
    }
}

impl StatNode for Node {
    fn generate_read_stat(
        &self,
        sample_count: u32,
        interval_ms: u32,
    ) -> sentinel_core::Result<Arc<dyn ReadStat>> {
        let kept = milliseconds(LENGTH * KEPT);
        check_validity_for_reuse_statistic(sample_count, interval_ms, KEPT, kept)?;
        let span = Duration::from_millis(interval_ms.into());
        Ok(Arc::new(Read { window: Arc::clone(&self.window), span }))
    }
}

/// The newest part of what a node keeps.
#[derive(Debug)]
struct Read {
    window: Arc<SlidingWindow<Call, Ticker>>,
    span: Duration,
}

impl ReadStat for Read {
    fn qps(&self, event: MetricEvent) -> f64 {
        self.sum(event) as f64 / self.span.as_secs_f64()
    }

    fn qps_previous(&self, event: MetricEvent) -> f64 {
        let recent = self.window.over(self.span + LENGTH).expect("shorter than the kept span");
        let newest = self.window.over(LENGTH).expect("shorter than the kept span");
        // The newest bucket may have been added to in between.
        let sum = sum_over(&recent, event).saturating_sub(sum_over(&newest, event));
        sum as f64 / self.span.as_secs_f64()
    }

    fn sum(&self, event: MetricEvent) -> u64 {
        if self.span == self.window.interval() {
            return sum(&self.window, event);
        }
        sum_over(&self.window.over(self.span).expect("shorter than the kept span"), event)
    }

    fn min_rt(&self) -> f64 {
        let recent = self.window.over(self.span).expect("shorter than the kept span");
        recent.stats(Call::Rt).min.unwrap_or(LONGEST_RT) as f64
    }

    fn avg_rt(&self) -> f64 {
        let complete = self.sum(MetricEvent::Complete);
        if complete == 0 { 0.0 } else { self.sum(MetricEvent::Rt) as f64 / complete as f64 }
    }
}

windrow::labels! { struct Resource { name: str } }

/// A node as a family has it.
struct Found(Arc<Node>);

impl Metric for Found {
    type Total = ();

    fn total(&self) {}

    fn merge(_one: &mut (), _other: ()) {}
}

/// The nodes of all resources.
static NODES: LazyLock<Family<Resource<'static>, Found>> =
    LazyLock::new(|| Family::with_constructor(|| Found(Arc::new(Node::new(clock())))));

/// Returns the clock of all nodes.
fn clock() -> Ticker {
    static CLOCK: LazyLock<Ticker> = LazyLock::new(|| Ticker::start(Duration::from_millis(1)));
    CLOCK.clone()
}

/// Returns the node of a resource.
pub fn node(name: &str) -> Arc<Node> {
    Arc::clone(&NODES.with(Resource { name }).0)
}

/// Puts our node of the resource into the context.
struct Prepare;

impl BaseSlot for Prepare {}

impl StatPrepareSlot for Prepare {
    fn prepare(&self, context: &mut EntryContext) {
        let node = node(context.resource().name());
        context.set_stat_node(node);
    }
}

/// Counts entries in the node of the context, as the crate's slot does.
struct Counting;

impl Counting {
    /// Does it to the node of the resource; and to the crate's for all inbound calls, if this is
    /// one.
    fn each(context: &EntryContext, count: impl Fn(&dyn StatNode)) {
        let Some(node) = context.stat_node() else { return };
        count(&*node);
        if *context.resource().traffic_type() == TrafficType::Inbound {
            count(&*stat::inbound_node());
        }
    }
}

impl BaseSlot for Counting {
    fn order(&self) -> u32 {
        1000 // the crate's
    }
}

impl StatSlot for Counting {
    fn on_entry_pass(&self, context: &EntryContext) {
        Counting::each(context, |node| {
            node.increase_concurrency();
            node.add_count(MetricEvent::Pass, context.input().batch_count().into());
        });
    }

    fn on_entry_blocked(&self, context: &EntryContext, _: Option<BlockError>) {
        Counting::each(context, |node| {
            node.add_count(MetricEvent::Block, context.input().batch_count().into());
        });
    }

    fn on_completed(&self, context: &mut EntryContext) {
        let round_trip = utils::curr_time_millis() - context.start_time();
        context.set_round_trip(round_trip);
        Counting::each(context, |node| {
            node.add_count(MetricEvent::Rt, round_trip);
            node.add_count(MetricEvent::Complete, context.input().batch_count().into());
            node.decrease_concurrency();
        });
    }
}

/// Returns the crate's chain, with our two slots in it.
pub fn chain() -> Arc<SlotChain> {
    let mut chain = SlotChain::new();
    chain.add_stat_prepare_slot(Arc::new(Prepare));
    chain.add_rule_check_slot(system::default_slot());
    chain.add_rule_check_slot(flow::default_slot());
    chain.add_rule_check_slot(isolation::default_slot());
    chain.add_rule_check_slot(hotspot::default_slot());
    chain.add_rule_check_slot(circuitbreaker::default_slot());
    chain.add_stat_slot(Arc::new(Counting));
    chain.add_stat_slot(log::default_stat_slot());
    chain.add_stat_slot(flow::default_stand_alone_stat_slot());
    chain.add_stat_slot(hotspot::default_stand_alone_stat_slot());
    chain.add_stat_slot(circuitbreaker::default_metric_stat_slot());
    Arc::new(chain)
}

/// The crate's way to refuse, of a controller whose statistics are our node's.
const REFUSE: ControlStrategy = ControlStrategy::Custom(1);

/// Returns a rule for a resource of ours: at most `threshold` calls in a second.
pub fn rule(resource: &str, threshold: f64) -> Rule {
    static KNOWN: LazyLock<()> = LazyLock::new(|| {
        let strategy = flow::CalculateStrategy::Direct;
        let known = set_traffic_shaping_generator(
            strategy,
            REFUSE,
            Box::new(|rule, _| Ok(controller(rule))),
        );
        known.expect("a strategy of our own");
    });
    LazyLock::force(&KNOWN);
    let resource = resource.to_owned();
    Rule { resource, threshold, control_strategy: REFUSE, ..Rule::default() }
}

fn controller(rule: Arc<Rule>) -> Arc<Controller> {
    let read = Arc::new(node(&rule.resource).read());
    let calculator = DirectCalculator::new(Weak::new(), Arc::clone(&rule));
    let checker = RejectChecker::new(Weak::new(), Arc::clone(&rule));
    let (calculator, checker) = (Arc::new(Mutex::new(calculator)), Arc::new(Mutex::new(checker)));
    let mut controller = Controller::new(rule, Arc::new(StandaloneStat::new(true, read, None)));
    controller.set_calculator(Arc::clone(&calculator) as _);
    controller.set_checker(Arc::clone(&checker) as _);
    let controller = Arc::new(controller);
    let owner = Arc::downgrade(&controller);
    calculator.lock().expect("not shared yet").set_owner(owner.clone());
    checker.lock().expect("not shared yet").set_owner(owner);
    controller
}
