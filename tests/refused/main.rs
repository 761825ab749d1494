//! Programs that must not compile, with their messages; and programs that compile without a
//! warning.
//!
//! Each case is a program of its own in a package that depends on this one. They are built, not
//! only checked: a set of events that is written by hand is looked at where its window is compiled.

#![forbid(unsafe_code)]

mod labels;
mod sets;

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

const MANIFEST: &str = "\
[package]
name = \"refused\"
version = \"0.0.0\"
edition = \"2024\"

[workspace]

[dependencies.windrow]
path = ";

/// Returns a package that has nothing in it yet, and its lock file.
fn package() -> &'static PathBuf {
    static PACKAGE: OnceLock<PathBuf> = OnceLock::new();
    PACKAGE.get_or_init(|| {
        let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let package = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("refused");
        let programs = package.join("src/bin");
        _ = fs::remove_dir_all(&programs); // those of the last run
        fs::create_dir_all(programs).expect("a directory");
        let manifest = format!("{MANIFEST}'{}'\n", here.display());
        fs::write(package.join("Cargo.toml"), manifest).expect("a manifest");
        // The versions that are here already, so that nothing is fetched.
        fs::copy(here.join("Cargo.lock"), package.join("Cargo.lock")).expect("a lock file");
        package
    })
}

/// Builds a program, and says what the compiler says. `Ok` if it has compiled.
fn build(name: &str, source: &str) -> Result<String, String> {
    let package = package();
    fs::write(package.join(format!("src/bin/{name}.rs")), source).expect("a source file");
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--offline", "--bin", name, "--target-dir"])
        .arg(package.join("target"))
        .current_dir(package)
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .output()
        .expect("cargo runs");
    let said = String::from_utf8_lossy(&built.stderr).into_owned();
    if built.status.success() { Ok(said) } else { Err(said) }
}

/// A set of events that `events!` must refuse, saying each of `words`.
fn refuses(name: &str, events: &str, words: &[&str]) {
    says(name, &format!("windrow::events! {{ {events} }}\n\nfn main() {{}}\n"), words);
}

/// A program that must not compile, for the reason that has `words` in it.
fn says(name: &str, source: &str, words: &[&str]) {
    let said = build(name, source).expect_err("this must not compile");
    for word in words {
        assert!(said.contains(word), "{word:?} is not in what the compiler says:\n{said}");
    }
}

/// A program with a window that counts each kind, and a line that does something with it.
fn misuses(name: &str, line: &str, words: &[&str]) {
    let source = format!(
        "use windrow::{{SlidingWindow, events}};

events! {{ enum Http {{ Pass: Count, Open: Signed, Size: Value, Busy: Maximum, Rt: Histogram }} }}
events! {{ enum Other {{ Pass: Count }} }}

fn main() {{
    let window = SlidingWindow::<Http>::builder().build().unwrap();
    window.add(Other::Pass, 1);
    {line}
}}
"
    );
    let wrong_set = "    window.add(Other::Pass, 1);\n";
    says(name, &if name == "other_set" { source } else { source.replace(wrong_set, "") }, words);
}

/// Each of these once compiled, and counted something else.
#[test]
fn what_an_event_cannot_do_says_what_it_is_and_what_it_can_do() {
    misuses(
        "record_count",
        "window.record(Http::Pass, 1250);",
        &[
            "no value can be recorded of this event: it is of the kind `windrow::kind::Count`",
            "use `add`",
        ],
    );
    misuses(
        "add_value",
        "window.add(Http::Size, 1);",
        &["nothing can be added to this event: it is of the kind `", "Value`", "use `record`"],
    );
    misuses(
        "add_histogram",
        "window.add(Http::Rt, -1);",
        &["nothing can be added to this event: it is of the kind `", "Histogram`", "use `record`"],
    );
    misuses("subtract_count", "window.add(Http::Pass, -1);", &["`u64: Neg` is not satisfied"]);
    misuses(
        "percentile_of_count",
        "window.quantile(Http::Pass, 0.99);",
        &[
            "this event has no percentiles: it is of the kind `windrow::kind::Count`",
            "`Rt: Histogram`",
        ],
    );
    misuses(
        "percentile_of_value",
        "window.distribution(Http::Size);",
        &["this event has no percentiles: it is of the kind `", "Value`"],
    );
    misuses(
        "sum_of_maximum",
        "window.sum(Http::Busy);",
        &[
            "this event has no sum and no rate: it is of the kind `",
            "Maximum`",
            "`stats(event).max`",
        ],
    );
    misuses(
        "rate_of_any",
        "for event in Http::ALL { window.rate(event); }",
        &[
            "it is of the kind `windrow::kind::Any`",
            "read `stats(event)`, or ask for the kind: `event.typed()`",
        ],
    );
    misuses(
        "peaks_of_count",
        "windrow::InFlight::new().record_peaks(&window, Http::Pass);",
        &["this event keeps no greatest value: it is of the kind `windrow::kind::Count`"],
    );
    misuses(
        "limit_first",
        "let _ = windrow::InFlight::new().try_enter(windrow::AtMost(100), 1);",
        &["expected `u64`, found `AtMost`", "help: swap these arguments"],
    );
    misuses(
        "record_fraction",
        "window.record(Http::Rt, 0.25);",
        &["`{float}` cannot be recorded", "a `u64` or a `Duration` is expected"],
    );
    misuses("other_set", "", &["expected `Event<Http, _>`, found `Event<Other, Count>`"]);
}

/// A static of a type, made of arguments, and used.
fn in_static(name: &str, of: &str, arguments: &str, words: &[&str]) {
    let source = format!(
        "use std::time::Duration;
use windrow::{{Gate, SlidingWindow, events, gate::RationedGate, AtMost}};

events! {{ enum Http {{ Pass: Count }} }}

const SECOND: Duration = Duration::from_secs(1);

static IT: {of} = {}::of({arguments});

fn main() {{
    let _ = &IT;
}}
",
        of.split('<').next().unwrap_or(of)
    );
    says(&format!("static_{name}"), &source, words);
}

/// Settings that a builder would refuse when the program runs.
#[test]
fn a_static_with_a_wrong_geometry_or_limit() {
    let geometries = [
        ("interval", "Duration::ZERO, 10", "the interval is zero"),
        ("buckets", "SECOND, 0", "there are no buckets"),
        ("uneven", "SECOND, 7", "the buckets do not divide the interval into whole nanoseconds"),
        ("short", "SECOND, 20", "buckets are shorter than 100 ms: use the builder"),
        ("long", "Duration::MAX, 10", "the interval is longer than 2^64 - 1 ns"),
        ("many", "Duration::from_secs(200_000), 200_000", "there are more than 100 000 buckets"),
    ];
    for (name, geometry, word) in geometries {
        in_static(&format!("window_{name}"), "SlidingWindow<Http>", geometry, &[word]);
        let arguments = format!("AtMost(5), {geometry}");
        in_static(&format!("gate_{name}"), "Gate", &arguments, &[word]);
    }
    let gates = [
        ("nothing", "AtMost(0), SECOND, 10, AtMost(5)", "the limit is zero"),
        ("much", "AtMost(u64::MAX), SECOND, 10, AtMost(5)", "the limit is more than 2^40"),
        ("no_ration", "AtMost(5), SECOND, 10, AtMost(0)", "the ration is zero"),
        ("ration_first", "AtMost(5), SECOND, 10, AtMost(99)", "the ration is more than the limit"),
    ];
    for (name, arguments, word) in gates {
        in_static(&format!("rationed_{name}"), "RationedGate", arguments, &[word]);
    }
    let swapped = ["expected `usize`, found `AtMost`", "help: swap these arguments"];
    in_static("swapped", "Gate", "10, SECOND, AtMost(5)", &swapped);
}

/// Counters of many cells lack some methods of an `AtomicU64`, which say what to call instead.
#[test]
fn a_counter_is_not_set() {
    let one_word: &[_] = &["cannot be set, swapped or compared", "`take()`"];
    let grows: &[_] = &["a `Counter` only grows", "`windrow::Gauge`"];
    let extreme: &[_] = &["keeps a sum, and no maximum", "`windrow::Maximum`", "`Minimum::record`"];
    let both = "Ordering::AcqRel, Ordering::Relaxed";
    for (name, counter, call, words) in [
        ("store", "Counter", "store(0, Ordering::Relaxed);", one_word),
        ("swap", "Counter", "swap(0, Ordering::Relaxed);", one_word),
        ("exchange", "Counter", &format!("compare_exchange(0, 1, {both});"), one_word),
        ("exchange_weak", "Counter", &format!("compare_exchange_weak(0, 1, {both});"), one_word),
        ("sub", "Counter", "fetch_sub(1, Ordering::Relaxed);", grows),
        ("max", "Counter", "fetch_max(1, Ordering::Relaxed);", extreme),
        ("min", "Counter", "fetch_min(1, Ordering::Relaxed);", extreme),
        ("store", "Gauge", "store(0, Ordering::Relaxed);", one_word),
        ("swap", "Gauge", "swap(0, Ordering::Relaxed);", one_word),
        ("exchange", "Gauge", &format!("compare_exchange(0, 1, {both});"), one_word),
        ("max", "Gauge", "fetch_max(1, Ordering::Relaxed);", extreme),
    ] {
        is_no_atomic(&format!("{counter}_{name}"), counter, &format!("HITS.{call}"), words);
    }
    // The number that an add has found.
    let previous: [(_, _, &[_]); 3] = [
        ("id", "let id: u64 = HITS.fetch_add(1, Ordering::Relaxed);", &["`u64`, found `()`"]),
        ("is_first", "if HITS.fetch_add(1, Ordering::Relaxed) == 0 {}", &["`()`, found integer"]),
        ("shown", "println!(\"{}\", HITS.fetch_add(1, Ordering::Relaxed));", &["`()` doesn't"]),
    ];
    for (name, call, words) in previous {
        is_no_atomic(&format!("previous_{name}"), "Counter", call, words);
    }
}

/// A program that takes a counter for an atomic.
fn is_no_atomic(name: &str, counter: &str, line: &str, words: &[&str]) {
    let source = format!(
        "use std::sync::atomic::Ordering;

static HITS: windrow::{counter} = windrow::{counter}::new();

fn main() {{
    {line}
}}
"
    );
    says(&name.to_lowercase(), &source, words);
}

#[test]
fn what_the_macro_makes_gives_no_warnings() {
    let source = r#"//! A program.
#![deny(warnings, missing_docs, unsafe_code, unreachable_pub, unused_qualifications)]
#![no_implicit_prelude]

/// Public.
pub mod inner {
    ::windrow::events! {
        /// Events.
        #[non_exhaustive]
        pub enum Http { Pass: Count, #[deprecated] Old: Value, Cells: Count }
    }
    ::windrow::labels! {
        /// Labels.
        pub struct Call { client: ::core::net::Ipv4Addr }
    }
    /// Calls of each client.
    pub static CALLS: ::windrow::Family<Call, ::windrow::Counter> = ::windrow::Family::new();
    ::windrow::events! { #[derive(Clone, Copy, Debug)] pub(crate) enum One { It: Histogram, Other: Histogram(::windrow::histogram::Scale::fixed::<1, 2, 9>()) } }
}

fn main() {
    ::windrow::events! { enum Local { It: Count, } }
    let local = ::windrow::SlidingWindow::<Local>::builder().build();
    let _ = local.map(|window| window.add(Local::It, 1));
    let _ = (inner::One::It, inner::One::Other, inner::Http::Cells);
    ::windrow::labels! {
        enum Level { Low, High = "high" }
        struct Call { route: String, user: Option<String>, level: Level, ratio: f64, r#type: bool }
    }
    static CALLS: ::windrow::Family<Call, ::windrow::Counter> = ::windrow::Family::new();
    let user = ::core::option::Option::Some("ann");
    for level in [Level::Low, Level::High] {
        CALLS.with(Call { route: "/", user, level, ratio: 0.5, r#type: true }).increment();
    }
    inner::CALLS.with(inner::Call { client: ::core::net::Ipv4Addr::LOCALHOST }).increment();
}
"#;
    assert_eq!(build("warns", source), Ok(String::new()));
}
