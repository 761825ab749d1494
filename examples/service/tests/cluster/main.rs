//! Many processes as one: the sums of Prometheus are the requests sent to all of them, though one
//! is killed.
//!
//! `cargo xtask cluster` runs this where Prometheus is.
#![cfg(unix)]

#[path = "../common/client.rs"]
mod client;
mod coupons;
mod dashboard;
mod load;
#[path = "../common/process.rs"]
mod process;
mod prometheus;
mod recorded;
mod scraped;
mod unlike;

use std::env;
use std::fs;
use std::future::pending;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use load::{Counts, Load, Sent, expected, now};
use process::{Process, file};
use prometheus::{FILES, Prometheus};
use scraped::{Life, lives};
use tokio::time::sleep;

/// The time of each part of the run: some scrapes.
const PART: Duration = Duration::from_secs(5);

fn promtool(arguments: &[&str]) -> (bool, String) {
    let output = Command::new("promtool").current_dir(FILES).args(arguments).output();
    let output = output.expect("promtool is on the path");
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
#[ignore = "`cargo xtask cluster`: needs promtool"]
fn the_rules_give_what_was_worked_out_by_hand() {
    for arguments in [
        ["check", "config", "prometheus.yml"],
        ["check", "config", "federation.yml"],
        ["check", "rules", "rules.yml"],
        ["check", "rules", "burn.yml"],
        ["check", "rules", "unlike.yml"],
        ["check", "rules", "alerts.yml"],
        ["test", "rules", "tests.yml"],
        ["test", "rules", "alert_tests.yml"],
        ["test", "rules", "unlike_tests.yml"],
        ["test", "rules", "past_tests.yml"],
    ] {
        let (right, said) = promtool(&arguments);
        assert!(right, "promtool {arguments:?}: {said}");
    }
}

#[test]
#[ignore = "`cargo xtask cluster`: needs promtool"]
fn a_mean_of_means_or_a_sum_of_extremes_is_noticed() {
    for (right, wrong) in [
        (
            "max without (instance) (shop_payments_max)",
            "sum without (instance) (shop_payments_max)",
        ),
        (
            "max without (instance) (shop_requests_max_seconds{event=\"Rt\"})",
            "avg without (instance) (shop_requests_max_seconds{event=\"Rt\"})",
        ),
        (
            "sum without (instance) (rate(shop_requests_total[5m]))",
            "rate(sum without (instance) (shop_requests_total)[5m:1m])",
        ),
        (
            "job:shop_payments_cents:rate5m / job:shop_payments:rate5m",
            "avg without (instance) (rate(shop_payments_sum_total[5m]) / rate(shop_payments_count_total[5m]))",
        ),
        (
            "histogram_quantile(0.99, job:shop_requests_seconds_bucket:rate5m)",
            "avg without (instance) (histogram_quantile(0.99, rate(shop_requests_values_seconds_bucket[5m])))",
        ),
        ("sum without (instance) (shop_in_flight)", "max without (instance) (shop_in_flight)"),
        // The share of those that are answered.
        (
            "1 - job:shop_requests_answered:rate5m{event=\"Rt\"}",
            "job:shop_requests_answered:rate5m{event=\"Rt\"}",
        ),
    ] {
        assert_noticed("rules.yml", "tests.yml", right, wrong);
    }
    for (right, wrong) in [
        (
            "sum without (leaf) (job:shop_requests:rate5m)",
            "max without (leaf) (job:shop_requests:rate5m)",
        ),
        (
            "max without (leaf) (job:shop_requests_max_seconds:max)",
            "sum without (leaf) (job:shop_requests_max_seconds:max)",
        ),
        // Means of the servers' shares.
        (
            "1 - all:shop_requests_answered:rate5m{event=\"Rt\"}
          / ignoring (event) all:shop_requests:rate5m{event=\"Request\"}",
            "avg without (leaf) (1 - job:shop_requests_answered:rate5m{event=\"Rt\"}
          / ignoring (event) job:shop_requests:rate5m{event=\"Request\"})",
        ),
        (
            "all:shop_requests:rate5m{event=\"Exception\"}
          / ignoring (event) all:shop_requests:rate5m{event=\"Request\"}",
            "avg without (leaf) (job:shop_requests:rate5m{event=\"Exception\"}
          / ignoring (event) job:shop_requests:rate5m{event=\"Request\"})",
        ),
    ] {
        assert_noticed("global.yml", "tests.yml", right, wrong);
    }
}

#[test]
#[ignore = "`cargo xtask cluster`: needs promtool"]
fn an_alert_that_misses_or_cries_wolf_is_noticed() {
    for (right, wrong) in [
        ("absent(up{job=\"shop\"} == 1)", "absent(up{job=\"shop\"})"),
        (
            "(shop_requests_overflow_total > 0 unless",
            "(increase(shop_requests_overflow_total[15m]) > 0 unless",
        ),
        ("job:shop_requests_refused:ratio5m > 0.5", "job:shop_requests_refused:ratio5m > 0.95"),
        (
            "job:shop_requests_unanswered:ratio5m > 0.5",
            "job:shop_requests_unanswered:ratio5m > 0.1",
        ),
        // A limit beside the one that the objective gives.
        ("14.4", "7.1"),
        ("14.4", "40"),
        ("increase1h > 30", "increase1h > 100"),
        // A page by the first two scrapes of a new server.
        ("for: 2m", "for: 1m"),
        ("increase(shop_coupons_overflow_total[15m]) > 0", "shop_coupons_overflow_total > 9"),
        // One window in place of two: the page goes on for an hour, or comes at once.
        (" and job:shop_requests_failed:ratio5m > 14.4 * 0.01", ""),
        ("job:shop_requests_failed:ratio1h > 14.4 * 0.01 and ", ""),
        (" and job:shop_requests_slow:ratio5m > 14.4 * 0.01", ""),
        (" and job:shop_requests_failed:ratio30m > 6 * 0.01", ""),
        (" and job:shop_requests_slow:ratio30m > 6 * 0.01", ""),
        // One slow request a minute of a route that has one a minute.
        ("job:shop_requests:rate5m{event=\"Request\"} > 1", "job:shop_requests:rate5m > 0"),
    ] {
        assert_noticed("alerts.yml", "alert_tests.yml", right, wrong);
    }
    for (right, wrong) in [("[6h]", "[1h]"), ("[30m]", "[6h]"), ("[1h]", "[6h]")] {
        assert_noticed("burn.yml", "alert_tests.yml", right, wrong);
    }
    for (right, wrong) in [
        // A process is compared with two others at least.
        (">= 3", ">= 2"),
        // Chance, and the share of all.
        (">= 2.5", ">= 0.5"),
        (">= 0.01", ">= 0.05"),
        ("2 * job:shop_requests_failed:median5m", "5 * job:shop_requests_failed:median5m"),
        ("histogram_quantile(0.95,", "histogram_quantile(0.9,"),
        (
            "2 * job:shop_requests_seconds:median5m_p99",
            "0.5 * job:shop_requests_seconds:median5m_p99",
        ),
    ] {
        assert_noticed("unlike.yml", "unlike_tests.yml", right, wrong);
    }
    for (right, wrong) in [
        // A change that comes each day is none, and one that has lasted for hours is over.
        ("(job:shop_requests:rate5m offset 1d)", "(job:shop_requests:rate5m offset 1w)"),
        (
            "(job:shop_requests_seconds:p99_5m offset 1d)",
            "(job:shop_requests_seconds:p99_5m offset 1w)",
        ),
        ("[2h] offset 1h", "[2h]"),
    ] {
        assert_noticed("unlike.yml", "past_tests.yml", right, wrong);
    }
}

#[test]
#[ignore = "`cargo xtask cluster`: needs promtool"]
fn the_expressions_of_the_dashboard_are_sound() {
    dashboard::is_sound();
}

/// Checks that the tests fail by a number with a part of a file replaced, wherever it stands.
fn assert_noticed(file_name: &str, tests: &str, right: &str, wrong: &str) {
    let broken = file(&format!("broken-{file_name}"));
    fs::create_dir_all(&broken).unwrap();
    for copied in ["rules.yml", "burn.yml", "unlike.yml", "alerts.yml", "global.yml", tests] {
        fs::copy(Path::new(FILES).join(copied), broken.join(copied)).unwrap();
    }
    let rules = fs::read_to_string(broken.join(file_name)).unwrap();
    assert!(rules.contains(right), "{right}");
    fs::write(broken.join(file_name), rules.replace(right, wrong)).unwrap();
    let (passes, said) = promtool(&["test", "rules", broken.join(tests).to_str().unwrap()]);
    fs::remove_dir_all(broken).unwrap();
    assert!(!passes, "{wrong} passes: {said}");
    assert!(said.contains("exp:"), "{wrong}: not by a number: {said}");
}

#[test]
#[ignore = "`cargo xtask cluster`: needs prometheus"]
fn what_prometheus_adds_up_is_what_was_sent_but_for_the_unscraped_tail_of_a_killed_process() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(run());
}

/// The requests sent to an instance, by life of its process.
struct Instance {
    process: Process,
    export: PathBuf,
    lives: Vec<Vec<Sent>>,
}

impl Instance {
    fn start(number: usize, port: Option<u16>) -> Instance {
        let export = file(&format!("last-of-{number}"));
        let listen = port.map(|port| format!("127.0.0.1:{port}"));
        let mut arguments = vec!["--export", export.to_str().expect("a path in UTF-8")];
        arguments.extend(listen.iter().flat_map(|address| ["--listen", address]));
        Instance { process: Process::start(&arguments), export, lives: Vec::new() }
    }

    fn address(&self) -> SocketAddr {
        self.process.address()
    }
}

async fn run() {
    let begun = Instant::now();
    let say = |what: &str| println!("{:>5.1} s  {what}", begun.elapsed().as_secs_f64());

    let mut instances: Vec<Instance> =
        (1..=3).map(|number| Instance::start(number, None)).collect();
    let addresses: Vec<SocketAddr> = instances.iter().map(Instance::address).collect();
    say(&format!("three services: {addresses:?}"));
    let prometheus = Prometheus::of(&addresses).await;
    let page = format!("http://{}", prometheus.address());
    say(&format!("Prometheus, which scrapes each of them once a second: {page}"));
    let native = Prometheus::of_native_histograms(&addresses).await;
    say("one beside it, which takes native histograms");
    let top = Prometheus::above(&prometheus).await;
    say(&format!("another above it, which scrapes what it adds up: http://{}", top.address()));

    let mut loads: Vec<Load> = addresses.iter().copied().map(Load::begin).collect();
    say("load on all three");
    sleep(PART).await;

    let victim = instances.remove(0);
    drop(victim.process); // SIGKILL
    let mut killed = Instance::start(1, Some(addresses[0].port()));
    killed.lives = victim.lives;
    killed.lives.push(loads.remove(0).end().await);
    instances.insert(0, killed);
    loads.insert(0, Load::begin(addresses[0]));
    say("the first was killed under load, and has begun anew");
    sleep(PART).await;

    let campaigns = coupons::redeemed_in_campaigns(&prometheus, addresses[1]).await;
    say("campaigns of one coupon have come and gone, and their increases are what was redeemed");

    for (instance, load) in instances.iter_mut().zip(loads) {
        instance.lives.push(load.end().await);
    }
    instances[1].lives[0].extend(campaigns);

    let (slow_since, slow) = (now(), unlike::is_slow(&addresses).await);
    for (instance, sent) in instances.iter_mut().zip(slow) {
        instance.lives.last_mut().expect("it has lived").extend(sent);
    }
    for server in [&prometheus, &native] {
        unlike::is_found(server, addresses[2], slow_since).await;
    }
    let buckets = native.query("shop_requests_values_seconds_bucket").await;
    assert!(buckets.is_empty(), "native histograms have no buckets: {buckets:?}");
    say(
        "one is slow, unlike the others: its rule alone fires, by classic buckets and by native ones",
    );
    let ended = now();
    say("the load has ended; one more scrape of each");
    let newest = "timestamp(shop_start_time_seconds)"; // that of a scrape that found something
    prometheus.until(&format!("{newest} > {ended}"), |found| found.len() == 3).await;

    let mut lost = 0;
    for (instance, address) in instances.iter().zip(&addresses) {
        let scraped = lives(&prometheus, *address).await;
        assert_eq!(scraped.len(), instance.lives.len(), "lives of {address}");
        for (number, (scraped, sent)) in scraped.iter().zip(&instance.lives).enumerate() {
            let was_killed = number + 1 < instance.lives.len();
            let requests = sent.len();
            if was_killed {
                lost = tail(&prometheus, *address, scraped, sent).await;
            } else {
                assert_eq!(scraped.counts, expected(sent), "{address}, to the last request");
            }
            say(&format!("{address}: {requests} requests sent, {} scraped", scraped.requests()));
        }
    }
    say(&format!(
        "missing, all in all: {lost}, those answered since the last scrape before the kill"
    ));

    for server in [&prometheus, &native] {
        recorded::is_of_the_raw_numbers(server).await;
        dashboard::finds_something(server).await;
    }
    say("by classic buckets and by native ones, the recorded rules agree with the raw numbers,");
    say("every rule is evaluated, and each expression of the dashboard finds something");
    recorded::slow_shares_agree(&prometheus, &native).await;
    say("the shares of slow requests are the same by both");
    recorded::is_the_same_above(&prometheus, &top).await;
    say("the server above says the same");

    if env::var_os("WINDROW_CLUSTER").is_some_and(|what| what == "keep") {
        let _loads: Vec<Load> = addresses.iter().copied().map(Load::begin).collect();
        say("load again, until Ctrl-C. Look at");
        println!(
            "         {page}/graph?g0.expr=job%3Ashop_requests_per_second%3Asum&g0.tab=0&g0.range_input=5m"
        );
        println!("         {page}/alerts");
        for address in &addresses {
            println!("         http://{address}/console/");
        }
        pending::<()>().await;
    }
    for instance in instances {
        let sent = expected(instance.lives.last().expect("it has lived"));
        instance.process.signal("TERM");
        let end = instance.process.end();
        assert!(end.code == Some(0) && end.said.ends_with(", lost 0\n"), "{end:?}");
        assert_eq!(end.complained, "");
        let export = fs::read_to_string(&instance.export).expect("it was written");
        assert_eq!(exported_requests(&export), requests(&sent), "in the last export");
    }
    say("each has ended in good order, with all that was sent to it in its last export");
}

/// Prometheus notes when a scrape began in whole milliseconds, and up to two of them too early, so
/// that the intervals are equal.
const EARLIER: f64 = 0.003;

/// Returns the number of requests missing of a life that was ended by a kill: none that was
/// answered before the last scrape began.
async fn tail(prometheus: &Prometheus, address: SocketAddr, life: &Life, sent: &[Sent]) -> u64 {
    let last = format!("scrape_duration_seconds{{instance=\"{address}\"}} @ {:.3}", life.last);
    let found = prometheus.query(&last).await;
    let took: f64 =
        found[0]["value"][1].as_str().and_then(|text| text.parse().ok()).expect("a time");
    let answered_before = sent.iter().filter(|sent| sent.ended.is_some_and(|at| at < life.last));
    let begun_before = sent.iter().filter(|sent| sent.began <= life.last + took + EARLIER);
    let (answered, begun) = (answered_before.count() as u64, begun_before.count() as u64);
    let scraped = life.requests();
    assert!(answered <= scraped && scraped <= begun, "{answered} <= {scraped} <= {begun}");
    let counted = sent.iter().filter(|sent| sent.ended.is_some()).count() as u64;
    counted.saturating_sub(scraped)
}

/// Returns the number of requests among the counts.
fn requests(counts: &Counts) -> u64 {
    counts.iter().filter(|(name, _)| name.ends_with(" Request")).map(|(_, count)| count).sum()
}

/// Returns the requests in a text.
fn exported_requests(text: &str) -> u64 {
    let lines = text.lines().filter(|line| line.starts_with("shop_requests_total{"));
    let requests = lines.filter_map(|line| line.split_once("event=\"Request\"} "));
    requests.map(|(_, count)| count.parse::<u64>().expect("a count")).sum()
}
