//! The merge of a fleet, without sockets: answers of real consoles, at times of the test's own.

mod bad;
mod courses;
mod heavy;
mod limits;
mod says;
mod simulated;

use std::sync::Arc;
use std::time::Duration;

use http::Request;
use serde_json::{Value, json};
use windrow::export::{from_fn, total_fn};
use windrow::{Counter, Gauge, Histogram, InFlight, Maximum, Minimum};

use super::answer::{self, Head};
use super::courses::Courses;
use super::members::{MOST_LIVES, Members, Miss, STALE};
use super::reading::Reading;
use super::says::Beginnings;
use super::view::View;
use crate::{Console, ConsoleService};

/// Returns what a console answers to a fleet.
fn answer(console: &ConsoleService) -> Vec<u8> {
    use http_body_util::BodyExt;
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let request = Request::get("/member.json").body(()).unwrap();
        let body = console.respond(&request).await.into_body();
        body.collect().await.unwrap().to_bytes().to_vec()
    })
}

/// Returns the answer of a process with one counter, and one gauge.
fn small(instance: &str, epoch: &str, visits: u64, level: i64) -> Value {
    json!({
        "form": 1, "service": "shop", "instance": instance, "version": "1", "epoch": epoch,
        "age_ms": visits, "unusual": { "changes": [], "calm_since_ms": null },
        "metrics": [
            {
                "name": "visits", "help": "", "form": "counter", "unit": null, "events": [],
                "series": [{ "key": "visits", "span_ns": 0, "all": [{ "Count": visits }], "last": [] }],
            },
            {
                "name": "open", "help": "", "form": "gauge", "unit": null, "events": [],
                "series": [{ "key": "open", "span_ns": 0, "all": [{ "Signed": level }], "last": [] }],
            },
        ],
    })
}

fn read(answer: &Value) -> Result<Reading, Miss> {
    let parsed = Reading::parse(answer.to_string().as_bytes());
    parsed.map_err(|flaw| Miss::Refused(flaw.to_string()))
}

const fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Returns an address as the fleet takes it from a target without a name.
fn of_itself(address: &str) -> (String, String) {
    (address.to_owned(), address.to_owned())
}

fn members_at(addresses: &[&str]) -> Members {
    let mut members = Members::default();
    members.set_places(addresses.iter().map(|address| of_itself(address)));
    members
}

/// Returns the first view of a fleet.
fn noted(members: &Members, now: Duration) -> View {
    let mut view = View::of(members, now);
    view.note(&mut Beginnings::default());
    view
}

/// Returns the fleet as a client reads it.
fn seen(members: &Members, now: Duration) -> Value {
    let head = Head { name: "shop".to_owned(), begun: 0, troubles: Vec::new() };
    serde_json::from_str(&answer::json(&head, &noted(members, now))).unwrap()
}

/// Returns the sums of `visits` and `open`.
fn sums(members: &Members, now: Duration) -> [i64; 2] {
    let seen = seen(members, now);
    let row = |name: &str, event: &str, number: &str| {
        let metrics = seen["metrics"].as_array().unwrap();
        let metric = metrics.iter().find(|metric| metric["name"] == *name);
        metric.map_or(0, |metric| metric["rows"][0]["all"][event][number].as_i64().unwrap_or(0))
    };
    [row("visits", "visits", "count"), row("open", "open", "sum")]
}

/// Returns the answer of a process with a metric of each type.
fn of_each_type(instance: &str, number: u64) -> Reading {
    let (counter, gauge, in_flight) = (Counter::new(), Gauge::new(), InFlight::new());
    let (maximum, minimum, histogram) = (Maximum::new(), Minimum::new(), Histogram::new());
    counter.add(number);
    gauge.add(-3);
    maximum.record(number);
    minimum.record(number);
    histogram.record(1_000 * number);
    let _ = histogram.take();
    histogram.record(5_000 * number);
    let in_flight = Arc::new(in_flight);
    let _entered = in_flight.enter(1);
    let mut console = Console::new("shop");
    console.instance(instance);
    console.show("counter", "", Arc::new(counter)).unwrap();
    console.show("gauge", "", Arc::new(gauge)).unwrap();
    console.show("in_flight", "", Arc::clone(&in_flight)).unwrap();
    console.show("maximum", "", Arc::new(maximum)).unwrap();
    console.show("minimum", "", Arc::new(minimum)).unwrap();
    console.show("histogram", "", Arc::new(histogram)).unwrap();
    console.show("real", "", from_fn(move || number as f64 / 4.0)).unwrap();
    console.show("infinite", "", from_fn(|| f64::INFINITY)).unwrap();
    Reading::parse(&answer(&console.build())).unwrap()
}

#[test]
fn metrics_of_each_type_are_added() {
    let mut members = members_at(&["a:1", "b:1"]);
    members.note("a:1", at(1), Ok(of_each_type("a", 1)));
    members.note("b:1", at(1), Ok(of_each_type("b", 2)));
    let seen = seen(&members, at(1));
    let all = |name: &str| {
        let metrics = seen["metrics"].as_array().unwrap();
        &metrics.iter().find(|metric| metric["name"] == *name).unwrap()["rows"][0]["all"][name]
    };
    assert_eq!(all("counter"), &json!({ "count": 3 }));
    assert_eq!(all("gauge"), &json!({ "sum": -6 }));
    assert_eq!(all("in_flight"), &json!({ "sum": 2 }));
    assert_eq!(all("maximum"), &json!({ "max": 2 }));
    assert_eq!(all("minimum"), &json!({ "min": 1 }));
    assert_eq!(all("real"), &json!({ "level": 0.75 }));
    assert_eq!(all("infinite"), &json!({ "level": 0.0 }), "none of them has a number");
    let values = all("histogram");
    assert_eq!(
        (&values["count"], &values["sum"], &values["max"]),
        (&json!(4), &json!(18_000), &json!(10_000))
    );
    let row =
        seen["metrics"].as_array().unwrap().iter().find(|it| it["name"] == "histogram").unwrap();
    assert_eq!(row["rows"][0]["values"]["count"], 2, "since it was drained");
    // One number of each: that of all processes.
    let values: Vec<(&Value, &Value)> = (seen["metrics"].as_array().unwrap().iter())
        .map(|metric| (&metric["name"], &metric["rows"][0]["value"]))
        .collect();
    let expected = [
        ("counter", 3.0),
        ("gauge", -6.0),
        ("in_flight", 2.0),
        ("maximum", 2.0),
        ("minimum", 1.0),
        ("histogram", 4.0),
        ("real", 0.75),
        ("infinite", 0.0),
    ]
    .map(|(name, value)| (json!(name), json!(value)));
    assert_eq!(values, expected.each_ref().map(|(name, value)| (name, value)));
}

#[test]
fn a_sum_beyond_all_real_numbers_is_null_and_inf() {
    let mut members = members_at(&["a:1", "b:1"]);
    let level = |instance: &str, level: f64| {
        let mut answer = small(instance, "1", 1, 1);
        answer["metrics"][1]["series"][0]["all"] = json!([{ "Real": level }]);
        answer
    };
    for address in ["a:1", "b:1"] {
        members.note(address, at(1), read(&level(address, f64::MAX)));
    }
    let head = Head { name: "shop".to_owned(), begun: 0, troubles: Vec::new() };
    let view = noted(&members, at(1));
    let row = &seen(&members, at(1))["metrics"][1]["rows"][0];
    assert_eq!((&row["value"], &row["all"]["open"]), (&Value::Null, &json!({ "level": null })));
    let text = answer::text(&head, &view, &Courses::default());
    assert!(text.contains("\nopen  open inf\n"), "{text}");
    // One of them alone is as it was.
    let late = at(2) + STALE;
    members.note("a:1", late, read(&level("a:1", f64::MAX)));
    assert_eq!(seen(&members, late)["metrics"][1]["rows"][0]["value"], f64::MAX);
}

#[test]
fn a_process_that_answers_again_is_not_counted_twice() {
    let mut members = members_at(&["a:1", "b:1"]);
    members.note("a:1", at(1), read(&small("a", "1", 10, 3)));
    members.note("b:1", at(1), read(&small("b", "1", 100, -1)));
    for second in 2..20 {
        members.note("a:1", at(second), read(&small("a", "1", 10 + second, 3)));
        members.note("b:1", at(second), read(&small("b", "1", 100, -1)));
    }
    assert_eq!(sums(&members, at(20)), [129, 2]);
}

#[test]
fn a_restart_adds_to_the_sums_and_its_old_level_is_gone() {
    let mut members = members_at(&["a:1"]);
    members.note("a:1", at(1), read(&small("a", "1", 10, 3)));
    members.note("a:1", at(2), read(&small("a", "2", 4, 1)));
    assert_eq!(sums(&members, at(2)), [14, 1], "at once");
    members.note("a:1", at(3), read(&small("a", "2", 5, 2)));
    assert_eq!(sums(&members, at(3)), [15, 2]);
    let seen = seen(&members, at(3));
    assert_eq!((seen["processes"].as_array().unwrap().len(), &seen["gone"]), (1, &json!(1)));
    assert_eq!(seen["metrics"][0]["rows"][0]["value"], 15.0, "the counter's number has both");
}

#[test]
fn a_restart_adds_to_a_total_of_the_programs_own_and_its_old_number_is_gone() {
    let mut members = members_at(&["a:1"]);
    for total in [10.5, 4.0] {
        let mut console = Console::new("shop");
        console.show("seconds", "", total_fn(move || total)).unwrap();
        console.show("load", "", from_fn(move || total)).unwrap();
        let reading = Reading::parse(&answer(&console.build())).unwrap();
        members.note("a:1", at(1), Ok(reading));
    }
    let seen = seen(&members, at(1));
    assert_eq!(seen["gone"], 1, "the second one has another epoch");
    let of = |metric: usize| {
        let metric = &seen["metrics"][metric];
        (metric["form"].as_str().unwrap(), metric["rows"][0]["value"].as_f64().unwrap())
    };
    assert_eq!((of(0), of(1)), (("counter", 14.5), ("gauge", 4.0)));
}

#[test]
fn a_process_that_went_away_stays_in_the_sums_and_leaves_the_rows() {
    let mut members = members_at(&["a:1", "b:1"]);
    members.note("a:1", at(1), read(&small("a", "1", 10, 3)));
    members.note("b:1", at(1), read(&small("b", "1", 5, 1)));
    let late = at(2) + STALE;
    members.note("a:1", late, read(&small("a", "1", 11, 3)));
    members.note("b:1", late, Err(Miss::Silent("connection refused".to_owned())));
    assert_eq!(sums(&members, late), [16, 3]);
    let seen = seen(&members, late);
    assert_eq!(seen["metrics"][0]["rows"][0]["processes"], 1);
    assert_eq!(seen["failing"][0]["instance"], "b");
    assert_eq!(seen["failing"][0]["why"], "connection refused");
    assert_eq!(seen["failing"][0]["since_ms"], 12_000);
    let says = seen["says"][0]["text"].as_str().unwrap();
    assert_eq!(says, "1 of 2 addresses does not answer: b:1, b (connection refused)");
    // When it comes back, it is the same process.
    members.note("b:1", late + at(5), read(&small("b", "1", 7, 1)));
    assert_eq!(sums(&members, late + at(5)), [18, 4]);
    assert_eq!(self::seen(&members, late + at(5))["failing"], json!([]));
}

#[test]
fn the_text_of_a_process_has_its_age_and_that_of_its_answer() {
    let mut members = members_at(&["a:1"]);
    members.note("a:1", at(1), read(&small("shop 7", "1", 3 * 3_600_000, 3)));
    let head = Head { name: "shop".to_owned(), begun: 0, troubles: Vec::new() };
    let text = answer::text(&head, &noted(&members, at(8)), &Courses::default());
    assert!(text.contains("\nprocess: shop 7  a:1  up 3 h, answered 7 s ago  1\n"), "{text}");
}

#[test]
fn silence_is_told_from_its_beginning() {
    let mut members = members_at(&["a:1"]);
    for second in 3..9 {
        members.note("a:1", at(second), Err(Miss::Silent(format!("reason {second}"))));
    }
    let seen = seen(&members, at(9));
    assert_eq!(seen["failing"][0]["since_ms"], 3_000);
    assert_eq!(seen["failing"][0]["why"], "reason 8");
    assert_eq!(seen["failing"][0]["state"], "silent");
    // What comes next has a beginning of its own.
    for second in 9..12 {
        members.note("a:1", at(second), Err(Miss::Refused("no member".to_owned())));
    }
    let seen = self::seen(&members, at(12));
    assert_eq!(seen["failing"][0]["since_ms"], 9_000);
}

#[test]
fn processes_behind_one_address_are_told_apart() {
    let mut members = members_at(&["balancer:80"]);
    // The same instance, as containers have the same process number.
    for second in 1..7 {
        let epoch = ["one", "two"][usize::try_from(second % 2).unwrap()];
        let visits = if epoch == "one" { 10 } else { 200 };
        members.note("balancer:80", at(second), read(&small("process 1", epoch, visits, 1)));
    }
    assert_eq!(sums(&members, at(6)), [210, 2]);
    let seen = seen(&members, at(6));
    let names: Vec<&Value> =
        seen["processes"].as_array().unwrap().iter().map(|process| &process["process"]).collect();
    assert_eq!(names, ["process 1 at balancer:80 (two)", "process 1 at balancer:80 (one)"]);
    assert_eq!(members.questions("balancer:80", at(6)), 4, "each is to be met");
}

#[test]
fn a_process_with_two_addresses_is_counted_once() {
    let mut members = members_at(&["10.0.0.1:80", "[::1]:80"]);
    members.note("10.0.0.1:80", at(1), read(&small("a", "1", 10, 1)));
    members.note("[::1]:80", at(1), read(&small("a", "1", 12, 1)));
    // An answer that was made earlier comes later.
    members.note("10.0.0.1:80", at(2), read(&small("a", "1", 11, 1)));
    assert_eq!(sums(&members, at(2)), [12, 1]);
    assert_eq!(seen(&members, at(2))["processes"][0]["addresses"].as_array().unwrap().len(), 2);
}

#[test]
fn nobody_misses_an_address_of_the_other_family() {
    let refused = || Err(Miss::Silent("connection refused".to_owned()));
    let mut members = Members::default();
    let addresses = ["127.0.0.1:80", "[::1]:80"];
    members.set_places(addresses.map(|address| (address.to_owned(), "localhost:80/".to_owned())));
    members.note("[::1]:80", at(1), refused());
    assert_eq!(seen(&members, at(1))["failing"][0]["address"], "[::1]:80", "none answers yet");
    members.note("127.0.0.1:80", at(1), read(&small("a", "1", 10, 1)));
    let now = seen(&members, at(1));
    assert_eq!((&now["failing"], &now["addresses"]), (&json!([]), &json!(1)));
    // It is missed once it has answered.
    members.note("[::1]:80", at(2), read(&small("a", "1", 11, 1)));
    members.note("[::1]:80", at(3), refused());
    assert_eq!(seen(&members, at(3))["failing"][0]["address"], "[::1]:80");
    // Two processes of one name and family are two.
    let addresses = ["10.0.0.1:80", "10.0.0.2:80"];
    members.set_places(addresses.map(|address| (address.to_owned(), "shop:80/".to_owned())));
    members.note("10.0.0.1:80", at(4), read(&small("b", "1", 1, 1)));
    members.note("10.0.0.2:80", at(4), refused());
    assert_eq!(seen(&members, at(4))["failing"][0]["address"], "10.0.0.2:80");
}

#[test]
fn of_many_restarts_the_sums_are_kept() {
    let mut members = members_at(&["a:1"]);
    let lives = MOST_LIVES as u64 + 100;
    for life in 0..lives {
        members.note("a:1", at(life), read(&small("a", &format!("life {life}"), 3, 1)));
    }
    assert_eq!(sums(&members, at(lives)), [3 * i64::try_from(lives).unwrap(), 1]);
    assert_eq!(members.lives.len(), MOST_LIVES);
    assert_eq!(seen(&members, at(lives))["gone"], lives - 1);
    // The first one is in the sums, with what it had then: it must not be added again.
    members.note("a:1", at(lives), read(&small("a", "life 0", 5, 1)));
    assert_eq!(sums(&members, at(lives))[0], 3 * i64::try_from(lives).unwrap());
    assert_eq!(seen(&members, at(lives))["failing"][0]["state"], "refused");
}

#[test]
fn an_address_that_is_no_longer_asked_is_forgotten_and_its_counts_are_not() {
    let mut members = members_at(&["a:1", "b:1"]);
    members.note("a:1", at(1), read(&small("a", "1", 10, 0)));
    members.note("b:1", at(1), Err(Miss::Silent("nothing there".to_owned())));
    members.set_places([of_itself("c:1")]);
    members.note("a:1", at(2), read(&small("a", "1", 11, 0)));
    let late = at(2) + STALE;
    assert_eq!(sums(&members, late), [10, 0]);
    let seen = seen(&members, late);
    assert_eq!((&seen["failing"], &seen["unasked"]), (&json!([]), &json!(1)));
    assert_eq!(seen["processes"], json!([]));
}
