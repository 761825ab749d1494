//! Heavy keys: on the stream, in `/snapshot.json` and in `/text`.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use windrow::HeavyKeys;
use windrow::clock::Manual;
use windrow_console::{Console, ConsoleService};

use crate::streams::Stream;
use crate::{get, json, served, text};

type Keys = Arc<HeavyKeys<str, Manual>>;

/// Heavy keys of an hour, in buckets of ten seconds.
fn keys(capacity: usize) -> (Keys, Manual) {
    let clock = Manual::default();
    let keys = HeavyKeys::<str>::builder(capacity).interval(Duration::from_secs(3_600));
    (Arc::new(keys.buckets(360).shards(1).clock(clock.clone()).build().unwrap()), clock)
}

fn console(keys: &Keys) -> ConsoleService {
    let mut console = Console::new("shop");
    console.show_heavy("clients", "Bytes by client", Arc::clone(keys));
    console.build()
}

#[tokio::test]
async fn keys_have_their_shares_of_the_last_minute_and_of_the_interval() {
    let (keys, clock) = keys(100);
    keys.add("initech", 300);
    clock.advance(Duration::from_secs(600));
    keys.add("acme", 75);
    keys.add("initech", 25);
    let server = served(&console(&keys));
    let shown: Value = json(server.address(), "/snapshot.json").await;
    let key = |key: &str, weight: u64, share: f64| json!({ "key": key, "at_least": weight, "at_most": weight, "shares": [share, share] });
    let minute = [key("acme", 75, 0.75), key("initech", 25, 0.25)];
    let hour = [key("initech", 325, 0.8125), key("acme", 75, 0.1875)];
    let expected = json!([{ "name": "clients", "help": "Bytes by client", "spans": [
        { "span_ms": 60_000, "total": 100, "keys": minute },
        { "span_ms": 3_600_000, "total": 400, "keys": hour },
    ]}]);
    assert_eq!(shown["heavy"], expected);
    let shown = text(get(server.address(), "/text").await).await;
    let expected = "\n# clients: Bytes by client\nthe last 60 s: 100 in all\n\
        acme  75 (75\u{202f}%)\ninitech  25 (25\u{202f}%)\n\
        the last 3600 s: 400 in all\ninitech  325 (81\u{202f}%)\nacme  75 (19\u{202f}%)\n";
    assert!(shown.contains(expected), "{shown}");
}

#[tokio::test]
async fn the_last_hour_and_day_come_from_tiers() {
    let (minute, hour) = (Duration::from_secs(60), Duration::from_secs(3_600));
    let clock = Manual::default();
    let keys = HeavyKeys::<str>::builder(100).interval(minute).buckets(6).shards(1);
    let keys = keys.tier(minute, 60).tier(hour, 24).clock(clock.clone()).build().unwrap();
    keys.add("initech", 300);
    clock.advance(2 * hour);
    keys.add("hooli", 20);
    clock.advance(10 * minute);
    keys.add("acme", 1);
    let shown: Value = json(served(&console(&Arc::new(keys))).address(), "/snapshot.json").await;
    let spans = shown["heavy"][0]["spans"].as_array().unwrap().iter();
    let totals: Vec<Value> = spans.map(|span| json!([span["span_ms"], span["total"]])).collect();
    assert_eq!(totals, [json!([60_000, 1]), json!([3_600_000, 21]), json!([86_400_000, 321])]);
}

#[tokio::test]
async fn bounds_are_both_shown_where_they_differ() {
    let (keys, _) = keys(4);
    for stranger in 0..200 {
        keys.add(&format!("stranger {stranger}"), 1);
    }
    keys.add("acme", 1_000); // it may have been there before, and evicted
    let bounds = keys.bounds("acme");
    assert!(bounds.at_least < bounds.at_most, "{bounds:?}");
    let server = served(&console(&keys));
    let shown: Value = json(server.address(), "/snapshot.json").await;
    let acme = &shown["heavy"][0]["spans"][1]["keys"][0];
    assert_eq!(
        (&acme["at_least"], &acme["at_most"]),
        (&bounds.at_least.into(), &bounds.at_most.into())
    );
    let shares = [bounds.at_least, bounds.at_most.min(1_200)].map(|weight| weight as f64 / 1_200.0);
    assert_eq!(acme["shares"], json!(shares));
    let shown = text(get(server.address(), "/text").await).await;
    let weights = format!("\nacme  {} to {} (", bounds.at_least, bounds.at_most);
    assert!(shown.contains(&weights), "{shown}");
}

#[tokio::test]
async fn few_keys_are_shown_and_of_each_only_the_beginning() {
    let (keys, _) = keys(100);
    let long = "W".repeat(200);
    keys.add("\u{202e}\n# shop: gone", 3_000);
    keys.add(&long, 2_000);
    for stranger in 0..50 {
        keys.add(&format!("stranger {stranger}"), 1 + stranger);
    }
    let server = served(&console(&keys));
    let shown: Value = json(server.address(), "/snapshot.json").await;
    let hour = shown["heavy"][0]["spans"][1]["keys"].as_array().unwrap();
    assert_eq!((hour.len(), &hour[0]["key"]), (10, &"\u{202e}\n# shop: gone".into()));
    assert_eq!(hour[1]["key"], format!("{}\u{2026}", "W".repeat(120)));
    let shown = text(get(server.address(), "/text").await).await;
    assert!(shown.contains("\n\\u{202e}\\n# shop: gone  3000 ("), "{shown}");
    let heads = shown.lines().filter(|line| line.starts_with('#'));
    assert_eq!(heads.collect::<Vec<_>>(), ["# clients: Bytes by client"]);
}

#[tokio::test]
async fn frames_have_the_keys() {
    let (keys, _) = keys(100);
    keys.add("acme", 7);
    let mut stream = Stream::of(&console(&keys));
    let (name, all) = stream.next().await.unwrap();
    let weights = json!([["acme", 7, 7]]);
    let expected =
        json!([["clients", "Bytes by client", [[60_000, 7, weights], [3_600_000, 7, weights]]]]);
    assert_eq!((&*name, &all["heavy"]), ("all", &expected));
    keys.add("acme", 1);
    // A frame that is being made may not have it yet.
    let (mut name, mut more) = stream.next().await.unwrap();
    while more["heavy"][0][2][0][1] != 8 {
        (name, more) = stream.next().await.unwrap();
    }
    assert_eq!((&*name, &more["heavy"][0][2][0][2]), ("more", &json!([["acme", 8, 8]])));
}
