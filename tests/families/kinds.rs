//! Each type that can be a label: what tells its values apart, and what exporters show.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::sync::Arc;

use windrow::{
    Counter, Family, labels,
    labels::{Label, LabelValue, Labels, ShortText},
};

labels! {
    #[derive(PartialOrd, Ord)]
    enum Level { Low = "low", Unknown = "" }

    struct Texts {
        a: String, b: Box<str>, c: Arc<str>, d: Cow<'static, str>, e: &str, f: &'static str,
        g: Option<String>, h: Option<str>, i: Option<Cow<'static, str>>, j: Option<&'static str>,
        k: Option<Box<str>>, l: Option<Arc<str>>, m: Option<&str>, n: Option<String>,
    }

    struct Float { float: f64, short: f32 }

    struct Optional { text: Option<String>, number: Option<u16>, level: Option<Level> }

    #[derive(PartialOrd, Ord)]
    struct Few { on: Option<bool>, level: Option<Level> }

    struct Client { client: IpAddr, socket: SocketAddr }

    struct V6 { client: Ipv6Addr, socket: SocketAddrV6 }

    struct V4 { client: Ipv4Addr, socket: SocketAddrV4 }

    struct Rest { wide: u128, deep: i128, letter: char, id: ShortText }

    struct Id { id: ShortText }
}

/// Returns a series for each set of labels, by what exporters show of it; and what each counted.
/// Panics if two series are shown alike, as exporters would.
fn shown<L: Labels>(family: &Family<L, Counter>) -> Vec<(String, u64)> {
    let mut all: Vec<_> = family
        .iter()
        .map(|series| {
            let pairs: Vec<_> = series.pairs().map(|(_, value)| value.to_string()).collect();
            (pairs.join("|"), series.sum())
        })
        .collect();
    all.sort();
    let distinct: BTreeSet<_> = all.iter().map(|(pairs, _)| pairs).collect();
    assert_eq!(distinct.len(), all.len(), "{all:?}");
    all
}

fn expected<const N: usize>(of: [(&str, u64); N]) -> Vec<(String, u64)> {
    of.map(|(pairs, sum)| (pairs.to_owned(), sum)).into()
}

#[test]
fn texts_are_borrowed_however_they_are_declared() {
    let owned = String::from("owned");
    let shared: Arc<str> = "shared".into();
    let family: Family<Texts, Counter> = Family::new();
    let set = Texts {
        a: &owned,
        b: "b",
        c: &shared,
        d: &Cow::Borrowed("d"),
        e: "e",
        f: "f",
        g: Some(&owned),
        h: None,
        i: Some("i"),
        j: Some("j"),
        k: None,
        l: Some(&shared),
        m: Some(""),
        n: None,
    };
    family.with(set).add(2);
    family.with(Texts { h: Some(""), m: None, n: Some(""), ..set }).add(3);
    assert_eq!(set, Texts { m: None, ..set }, "an empty text and none are one label");
    let pairs = "owned|b|shared|d|e|f|owned||i|j||shared||";
    assert_eq!(shown(&family), expected([(pairs, 5)]));
    let series = family.iter().next().unwrap();
    assert_eq!(series.labels(), Some(set));
    assert!(family.remove(set) && family.len() == 0);
}

/// Equality is an equivalence, so NaN has one series, too.
#[test]
fn floats_that_are_shown_alike_are_one_label() {
    let family: Family<Float, Counter> = Family::new();
    let quiet = f64::from_bits(f64::NAN.to_bits() ^ 1);
    for float in [f64::NAN, -f64::NAN, quiet, 0.0, -0.0, 0.5, f64::INFINITY, f64::MAX, 5e-324] {
        family.with(Float { float, short: 1.0 }).increment();
    }
    for short in [f32::NAN, -f32::NAN, 0.0, -0.0, f32::MIN_POSITIVE] {
        family.with(Float { float: 1e16, short }).increment();
    }
    let mut all = expected([
        ("NaN|1.0", 3),
        ("0.0|1.0", 2),
        ("0.5|1.0", 1),
        ("inf|1.0", 1),
        ("1.7976931348623157e308|1.0", 1),
        ("5e-324|1.0", 1),
        ("1e16|NaN", 2),
        ("1e16|0.0", 2),
        ("1e16|1.1754944e-38", 1),
    ]);
    all.sort();
    assert_eq!(shown(&family), all);
    let not = Float { float: f64::NAN, short: f32::NAN };
    assert_eq!(not, not);
}

#[test]
fn a_label_that_is_not_there_is_an_empty_text() {
    let family: Family<Optional, Counter> = Family::new();
    let none = Optional { text: None, number: None, level: None };
    family.with(none).add(1);
    family.with(Optional { text: Some(""), level: Some(Level::Unknown), ..none }).add(2);
    family.with(Optional { number: Some(0), ..none }).add(4);
    family.with(Optional { level: Some(Level::Low), text: Some("a"), ..none }).add(8);
    assert_eq!(shown(&family), expected([("a||low", 8), ("|0|", 4), ("||", 3)].map(|it| it)));

    assert_eq!(Few::COMBINATIONS, Some(9));
    let family: Family<Few, Counter> = Family::new();
    for on in [None, Some(false), Some(true)] {
        for level in [None, Some(Level::Unknown), Some(Level::Low)] {
            family.with(Few { on, level }).increment();
        }
    }
    let all =
        [("true|low", 1), ("true|", 2), ("false|low", 1), ("false|", 2), ("|low", 1), ("|", 2)];
    let mut all = expected(all);
    all.sort();
    assert_eq!(shown(&family), all);
    let nested = [None, Some(None), Some(Some(""))];
    assert!(nested.iter().all(|it: &Option<Option<&str>>| it.is_empty()));
    assert!(nested.iter().all(|it| it.key() == nested[0].key() && it.index() == 0));
}

#[test]
fn addresses_are_labels() {
    let family: Family<Client, Counter> = Family::new();
    let socket = |text: &str| text.parse::<SocketAddr>().unwrap();
    let client: IpAddr = "192.0.2.1".parse().unwrap();
    family.with(Client { client, socket: socket("192.0.2.1:80") }).add(1);
    family.with(Client { client, socket: socket("192.0.2.1:81") }).add(2);
    let mapped: IpAddr = "::ffff:192.0.2.1".parse().unwrap();
    family.with(Client { client: mapped, socket: socket("[::1]:80") }).add(4);
    // A flow label is not shown, a zone is.
    let [flow, zone] = [(7, 0), (0, 7)].map(|(flow, scope)| {
        SocketAddr::V6(SocketAddrV6::new(Ipv6Addr::LOCALHOST, 80, flow, scope))
    });
    family.with(Client { client: mapped, socket: flow }).add(8);
    family.with(Client { client: mapped, socket: zone }).add(16);
    let mut all = expected([
        ("192.0.2.1|192.0.2.1:80", 1),
        ("192.0.2.1|192.0.2.1:81", 2),
        ("::ffff:192.0.2.1|[::1]:80", 12),
        ("::ffff:192.0.2.1|[::1%7]:80", 16),
    ]);
    all.sort();
    assert_eq!(shown(&family), all);

    let family: Family<V6, Counter> = Family::new();
    let longest = Ipv6Addr::from([0xffff; 8]);
    for (flow, scope) in [(0, u32::MAX), (1, u32::MAX)] {
        let socket = SocketAddrV6::new(longest, 65_535, flow, scope);
        family.with(V6 { client: longest, socket }).increment();
    }
    let ones = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff";
    let pairs = format!("{ones}|[{ones}%4294967295]:65535");
    assert_eq!((shown(&family), family.refused()), (vec![(pairs, 2)], 0));

    let family: Family<V4, Counter> = Family::new();
    let client = Ipv4Addr::LOCALHOST;
    family.with(V4 { client, socket: SocketAddrV4::new(client, 8) }).add(3);
    assert_eq!(shown(&family), expected([("127.0.0.1|127.0.0.1:8", 3)]));
}

#[test]
fn wide_integers_letters_and_shown_values_are_labels() {
    let family: Family<Rest, Counter> = Family::new();
    let id = ShortText::of(format_args!("{:08x}", 0xbeef));
    family.with(Rest { wide: u128::MAX, deep: i128::MIN, letter: 'ß', id }).add(3);
    let (wide, deep) = (u128::MAX, i128::MIN);
    assert_eq!(shown(&family), vec![(format!("{wide}|{deep}|ß|0000beef"), 3)]);
    assert_eq!(id.value(), LabelValue::Short(id));
}

/// Takes no notice of a text that is full, as a `Display` might.
struct Careless(usize);

impl Display for Careless {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        (0..self.0).for_each(|_| _ = f.write_str("ß"));
        _ = f.write_str("");
        Ok(())
    }
}

/// A value whose text is too long is not shown as the text of another value, and takes no series.
#[test]
fn values_that_show_too_long_a_text_count_in_the_overflow_series() {
    let family: Family<Id, Counter> = Family::new();
    for letters in 0..100 {
        let id = ShortText::of(Careless(letters));
        let is_too_long = 2 * letters > 63;
        assert_eq!(format!("{id:?}") == "(too long)", is_too_long, "{letters} letters");
        assert_eq!(id.len(), if is_too_long { 0 } else { 2 * letters });
        family.with(Id { id }).increment();
    }
    assert_eq!((family.len(), family.refused(), family.lifetime()), (32, 68, 100));
    assert_eq!(shown(&family).len(), 33);
    let (fits, does_not) = (ShortText::of("x".repeat(63)), ShortText::of("x".repeat(64)));
    assert_eq!((fits.len(), &*does_not, does_not.to_string()), (63, "", String::new()));
    assert!(!does_not.is_empty() && ShortText::of("").is_empty());
    assert_ne!(does_not, ShortText::of(""));
    assert_eq!(does_not, ShortText::of("y".repeat(1_000)), "all are one label");
    assert_eq!(format!("{fits:.1?} {does_not:?}"), format!("{:.1?} (too long)", "x".repeat(63)));
}
