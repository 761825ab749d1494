//! The past that a log has, on the page: its numbers, its marks, and the ways through it.

use std::sync::Arc;

use serde_json::{Value, json};
use windrow_console::Console;

use crate::page::Page;
use crate::shop::{Method, Served, Shop};
use crate::week::{DAY, MINUTE, Week, now};

const SERIES: &str = "requests{method=\"GET\",route=\"/cart\"}";
const HOUR: u64 = 3_600_000;

/// Serves a shop with a log of eight days, and opens the series once all of the log is read.
fn opened(shop: &Shop, week: &Week) -> (Served, Page) {
    let (server, mut page) = opened_at_once(shop, week);
    page.browser.wait_for("document.querySelector('#past').dataset.unread === '0'");
    (server, page)
}

/// Serves a shop with a log of eight days, and opens the series.
fn opened_at_once(shop: &Shop, week: &Week) -> (Served, Page) {
    shop.route(Method::Get, "/cart").add(crate::shop::Http::Pass, 1);
    let mut console = Console::new("shop");
    console.show("requests", "Requests by method and route", shop.requests.clone()).unwrap();
    console.show("orders", "Orders", Arc::clone(&shop.orders)).unwrap();
    console.nanoseconds("Rt");
    console.log(week.directory.path());
    let server = Served::of(console);
    let mut page = Page::open(&server);
    page.browser.resize(1300, 1400, false);
    page.catch_up(&server);
    page.click(&format!("tr[data-series={}]", json!(SERIES)));
    (server, page)
}

/// A span that the page shows: its beginning, end and bin, sums by event, and starts.
struct Shown {
    from: u64,
    to: u64,
    bin: u64,
    sums: Value,
    starts: String,
}

/// Waits until the page shows a span of this length that ends at about this moment.
fn shown(page: &mut Page, length: u64, end: u64) -> Shown {
    // A span begins and ends with a bin, and a minute may pass.
    let bound = length / 150 + 2 * MINUTE;
    page.browser.wait_for(&format!(
        "(() => {{
            const {{ from, to }} = document.querySelector('#past').dataset;
            return Math.abs(to - {end}) < {bound} && Math.abs(to - from - {length}) < {bound};
        }})()"
    ));
    page.draw();
    // At once: a span up to now goes on.
    let shown = page.browser.value(
        "(() => {
            const { from, to, bin, starts } = document.querySelector('#past').dataset;
            const { sums } = document.querySelector('#past [data-plot=rates] .legend').dataset;
            return [from, to, bin, sums, starts];
        })()",
    );
    let text = |at: usize| shown[at].as_str().unwrap();
    let [from, to, bin] = [0, 1, 2].map(|at| text(at).parse().unwrap());
    let sums = serde_json::from_str(text(3)).unwrap();
    Shown { from, to, bin, sums, starts: text(4).to_owned() }
}

fn check(week: &Week, shown: &Shown) {
    let sum = week.sum(shown.from, shown.to);
    let expected = json!({ "Pass": sum.pass, "Exception": sum.failed, "Rt": sum.pass });
    assert_eq!(shown.sums, expected, "{} to {}", shown.from, shown.to);
    let starts = week.starts.iter().filter(|start| (shown.from + 1..=shown.to).contains(start));
    assert_eq!(shown.starts, starts.count().to_string());
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn the_past_is_the_sum_of_the_log_wherever_one_moves() {
    let shop = Shop::new();
    let end = now() / MINUTE * MINUTE;
    let week = Week::write(SERIES, end);
    let (_server, mut page) = opened(&shop, &week);
    let day = shown(&mut page, DAY, end);
    check(&week, &day);
    assert_eq!(day.bin, 5 * MINUTE);
    for (button, length, end) in [
        ("-day", DAY, end - DAY),
        ("-hour", DAY, end - DAY - HOUR),
        ("hour", DAY, end - DAY),
        ("now", DAY, end),
        ("-week", DAY, end - 7 * DAY),
        ("day", DAY, end - 6 * DAY),
    ] {
        page.click(&format!("#past [data-move=\"{button}\"]"));
        check(&week, &shown(&mut page, length, end));
    }
    page.click("#past [data-span=week]");
    // The log begins eight days ago.
    check(&week, &shown(&mut page, 7 * DAY, end - DAY));
    page.click("#past [data-move=now]");
    let seven = shown(&mut page, 7 * DAY, end);
    check(&week, &seven);
    assert_eq!(seven.starts, "3", "that of the first file is eight days ago");
    let said = page.browser.value("document.querySelector('#paststarts').textContent");
    assert!(said.as_str().unwrap().contains("started 3 times: "), "{said}");
    page.click("#past [data-span=hour]");
    let hour = shown(&mut page, HOUR, end);
    check(&week, &hour);
    assert_eq!(hour.bin, MINUTE);
    // The address has the place.
    page.click("#past [data-move=\"-day\"]");
    check(&week, &shown(&mut page, HOUR, end - DAY));
    let address = page.browser.value("location.hash").as_str().unwrap().to_owned();
    page.go(&address);
    check(&week, &shown(&mut page, HOUR, end - DAY));
    page.assert_well();
}

/// A log that ended in the middle of a bin: the rate of the newest bin is that of its time.
#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn the_newest_bin_ends_with_the_log() {
    let shop = Shop::new();
    let bin = 5 * MINUTE;
    let end = (now() - 3 * HOUR) / bin * bin + 2 * MINUTE;
    let week = Week::write(SERIES, end);
    let (_server, mut page) = opened(&shop, &week);
    let day = shown(&mut page, DAY, now());
    check(&week, &day);
    let known = end - 2 * MINUTE - day.from;
    let bins = page.attribute("#past", "data-bins").unwrap();
    assert_eq!((day.bin, bins), (bin, (known / bin + 1).to_string()));
    // Beyond the last bin, the pointer has the last one.
    page.browser.value(
        "(() => {
            const canvas = document.querySelector('#past canvas'), box = canvas.getBoundingClientRect();
            canvas.dispatchEvent(new PointerEvent('pointermove', { bubbles: true, clientX: box.right - 1, clientY: box.top + 9 }));
        })()",
    );
    page.draw();
    let sum = week.sum(end - 2 * MINUTE, end).pass;
    let rate = page.browser.value(&format!("short({sum}) + ', ' + rate({sum} / 120) + '/s'"));
    let said =
        page.browser.value("document.querySelector('#past [data-plot=rates] .legend').textContent");
    assert!(said.as_str().unwrap().contains(rate.as_str().unwrap()), "{said}: {rate}");
    page.assert_well();
}

/// A file that cannot be read: the page has the numbers of the others, says what they lack, and
/// looks again as soon as it is looked at.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn what_the_numbers_lack_is_said_until_they_lack_nothing() {
    let shop = Shop::new();
    let week = Week::write(SERIES, now() / MINUTE * MINUTE);
    let second = week.directory.path().join("windrow-0000000002.jsonl");
    let length = std::fs::metadata(&second).unwrap().len();
    let held = testkit::held::Held::of(&second);
    let (_server, mut page) = opened_at_once(&shop, &week);
    page.browser
        .wait_for(&format!("document.querySelector('#past').dataset.unread === '{length}'"));
    let notes = |page: &mut Page| {
        let said = page
            .browser
            .value("['#pastnote', '#pastleft'].map(id => document.querySelector(id).textContent)");
        [0, 1].map(|at| said[at].as_str().unwrap().to_owned())
    };
    let [said, left] = notes(&mut page);
    assert!(said.starts_with(&format!("cannot read `{}`: ", second.display())), "{said}");
    let bytes = page.browser.value(&format!("short({length})"));
    let bytes = format!("{}B of the log are not in these numbers yet", bytes.as_str().unwrap());
    assert_eq!(left, bytes);
    // The last day is in another file.
    let end = now() / MINUTE * MINUTE;
    check(&week, &shown(&mut page, DAY, end));
    // While it is not looked at, it does not ask; then it asks at once.
    let look = |page: &mut Page, state: &str| {
        page.browser.value(&format!(
            "(() => {{
                const before = pastTurn;
                Object.defineProperty(document, 'visibilityState', {{ value: '{state}', configurable: true }});
                document.dispatchEvent(new Event('visibilitychange'));
                return pastTurn - before;
            }})()"
        ))
    };
    assert_eq!(look(&mut page, "hidden"), 0);
    drop(held);
    assert_eq!(look(&mut page, "visible"), 1);
    page.browser.wait_for("document.querySelector('#past').dataset.unread === '0'");
    assert_eq!(notes(&mut page), ["", ""]);
    page.assert_well();
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn the_keyboard_moves_through_the_past_and_plots_are_said_in_words() {
    let shop = Shop::new();
    let end = now() / MINUTE * MINUTE;
    let mut week = Week::write(SERIES, end);
    let (_server, mut page) = opened(&shop, &week);
    page.browser.value("document.querySelector('#past').focus()");
    for (key, code, end) in [
        ("ArrowLeft", 37, end - HOUR),
        ("PageUp", 33, end - HOUR - DAY),
        ("ArrowRight", 39, end - DAY),
        ("Home", 36, end - 7 * DAY),
        ("PageDown", 34, end - 6 * DAY),
        ("End", 35, end),
    ] {
        page.browser.press(key, code);
        check(&week, &shown(&mut page, DAY, end));
    }
    let plots = page.browser.value(
        "[...document.querySelectorAll('#past canvas')].map(canvas => [canvas.getAttribute('role'),
            canvas.getAttribute('aria-label')])",
    );
    let plots = plots.as_array().unwrap();
    assert_eq!(plots.len(), 3, "rates, shares, times: {plots:?}");
    for (plot, words) in plots.iter().zip(["rates", "share", "values of Rt"]) {
        let said = plot[1].as_str().unwrap();
        assert_eq!(plot[0], "img");
        assert!(said.starts_with(&format!("{words}, ")) && said.contains("to now, by "), "{said}");
    }
    // The pointer has the sums of a bin.
    page.click("#past [data-move=\"-week\"]");
    let all = shown(&mut page, DAY, end - 7 * DAY);
    page.browser.value(
        "(() => {
            const canvas = document.querySelector('#past canvas'), box = canvas.getBoundingClientRect();
            canvas.dispatchEvent(new PointerEvent('pointermove', { bubbles: true, clientX: box.left + box.width / 2, clientY: box.top + 9 }));
        })()",
    );
    page.draw();
    let sums = page.attribute("#past [data-plot=rates] .legend", "data-sums").unwrap();
    let sums: Value = serde_json::from_str(&sums).unwrap();
    let bins = (all.to - all.from) / all.bin;
    let is_of = |bin: u64| {
        let sum = week.sum(all.from + bin * all.bin, all.from + (bin + 1) * all.bin);
        sums == json!({ "Pass": sum.pass, "Exception": sum.failed, "Rt": sum.pass })
    };
    let pointed: Vec<u64> = (0..bins).filter(|bin| is_of(*bin)).collect();
    assert!(pointed.iter().any(|bin| bin.abs_diff(bins / 2) < bins / 10), "{sums}: {pointed:?}");
    // A restart while the page is open is a mark, as soon as the page asks again.
    page.click("#past [data-move=now]");
    drop(week.restart());
    let starts = shown(&mut page, DAY, end).starts;
    page.browser.wait_for("document.querySelector('#past').dataset.starts === '1'");
    assert!(["0", "1"].contains(&starts.as_str()), "{starts}");
    page.assert_well();
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn the_past_fits_any_width_and_is_not_there_without_a_log() {
    let shop = Shop::new();
    let week = Week::write(SERIES, now() / MINUTE * MINUTE);
    let (server, mut page) = opened(&shop, &week);
    for (width, phone) in [(2560, false), (1300, false), (700, false), (390, true), (320, true)] {
        page.browser.resize(width, 900, phone);
        page.catch_up(&server);
        let over = page.browser.value(
            "['html', '#detail', '#past'].map(name => document.querySelector(name)).map(it => it.scrollWidth - it.clientWidth)",
        );
        assert_eq!(over, json!([0, 0, 0]), "{width} wide");
    }
    page.assert_well();
    let server = shop.serve("127.0.0.1:0");
    let mut page = Page::open(&server);
    page.catch_up(&server);
    page.click(&format!("tr[data-series={}]", json!(SERIES)));
    page.browser.wait_for("document.querySelector('#panels canvas')");
    assert_eq!(page.browser.value("document.querySelector('#past').checkVisibility()"), false);
    page.assert_well();
}
