//! The numbers on the page are the service's own.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use windrow::clock::Manual;
use windrow::histogram::Distribution;
use windrow::{Clock, SlidingWindow};
use windrow_console::Console;

use crate::page::{Cells, Page};
use crate::shop::{Http, Method, Served, Shop, Window};

/// A row's numbers, as read here. A missing number is empty on the page.
pub(crate) type Numbers = BTreeMap<&'static str, f64>;

/// Returns the numbers that the page must show for each series at rest.
pub(crate) fn expected(shop: &Shop) -> BTreeMap<String, Numbers> {
    let mut all: BTreeMap<String, Numbers> = BTreeMap::new();
    for series in shop.requests.iter() {
        let labels: Vec<String> =
            series.pairs().map(|(name, value)| format!("{name}=\"{value}\"")).collect();
        all.insert(format!("requests{{{}}}", labels.join(",")), of_window(&series));
    }
    all.insert(
        "orders".to_owned(),
        [("total", shop.orders.lifetime() as f64), ("now", 0.0)].into(),
    );
    all.insert("carts".to_owned(), [("total", shop.carts.sum() as f64)].into());
    let mut paid = of_values(&shop.paid.distribution());
    paid.extend([("total", shop.paid.lifetime().count() as f64), ("now", 0.0)]);
    all.insert("paid".to_owned(), paid);
    all
}

fn of_window(window: &Window) -> Numbers {
    let closed = window.over(window.interval()).unwrap().complete();
    let count = |event| closed.sum(event) as f64;
    // Over its own age, if the window is younger than its interval.
    let known = closed.interval().min(window.clock().now() - window.built()).as_secs_f64();
    let (pass, block, exception) = (count(Http::Pass), count(Http::Block), count(Http::Exception));
    let mut numbers: Numbers = [
        ("now", 0.0),
        ("rate", count(Http::Pass) / known),
        ("pass", pass),
        ("block", block),
        ("exception", exception),
        ("total", window.lifetime(Http::Pass).count as f64),
    ]
    .into();
    numbers.extend(of_values(&closed.distribution(Http::Rt)));
    numbers
}

fn of_values(values: &Distribution) -> Numbers {
    let (Some(mean), [p50, p99]) = (values.mean(), [0.5, 0.99].map(|q| values.quantile(q))) else {
        return Numbers::new();
    };
    let whole = [("min", values.min()), ("p50", p50), ("p99", p99), ("max", values.max())];
    let whole = whole.map(|(name, number)| (name, number.unwrap() as f64));
    whole.into_iter().chain([("mean", mean)]).collect()
}

/// Asserts that the page's rows have these numbers, and no others.
pub(crate) fn assert_shown(page: &mut Page, expected: &BTreeMap<String, Numbers>) {
    let rows = page.rows();
    assert_eq!(rows.len(), expected.len(), "{:?}", page.names());
    let shown: BTreeMap<String, Cells> = rows.into_iter().collect();
    assert!(shown.keys().eq(expected.keys()), "{:?}", shown.keys());
    for (key, numbers) in expected {
        for (column, cell) in &shown[key] {
            // The share and the weight are of the page's own making; the spark has no number.
            if ["series", "unusual", "share", "spark"].contains(&column.as_str()) {
                continue;
            }
            let number = numbers.get(column.as_str()).copied();
            let (cell, is) = (cell.parse::<f64>().ok(), number);
            let same = match (cell, is) {
                // A quotient may be rounded otherwise.
                (Some(cell), Some(is)) => (cell - is).abs() <= is.abs() * 1e-12,
                (cell, is) => cell == is,
            };
            assert!(same, "{key} {column}: {cell:?} is shown, {is:?} is so");
        }
    }
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn each_number_is_the_windows_own() {
    let shop = Shop::new();
    shop.work(200);
    shop.orders.add((1 << 60) + 1); // more than a script's numbers hold
    shop.carts.add(-7);
    (1..=1_000).for_each(|cents| shop.paid.record(cents * 1_000));
    let server = shop.serve("127.0.0.1:0");
    let mut page = Page::open(&server);
    let open = shop.open();
    page.catch_up(&server);
    // The frames that follow then have only changes.
    std::thread::sleep(Duration::from_secs(2));
    drop(open);
    page.come_to_rest(&server);
    assert_shown(&mut page, &expected(&shop));

    let orders = page.rows().into_iter().find(|(key, _)| key == "orders").unwrap().1;
    assert_eq!(orders["total"], shop.orders.lifetime().to_string());
    // The share of failed requests among all: those that are refused are none.
    let login = shop.route(Method::Post, "/login");
    let closed = login.over(login.interval()).unwrap().complete();
    let bad = closed.sum(Http::Exception);
    let key = "requests{method=\"POST\",route=\"/login\"}";
    let shown = page.rows().into_iter().find(|(name, _)| name == key).unwrap().1;
    let share: f64 = shown["share"].parse().unwrap();
    let all = closed.sum(Http::Pass) + closed.sum(Http::Block);
    assert!((share - bad as f64 / all as f64).abs() < 1e-12, "{share} of {bad} in {all}");
    page.assert_well();
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn what_stands_above_the_table_is_the_sum_of_the_rows_that_are_left() {
    let shop = Shop::new();
    shop.work(200);
    let server = shop.serve("127.0.0.1:0");
    let mut page = Page::open(&server);
    let open = shop.open();
    page.catch_up(&server);
    page.catch_up(&server); // now there are rates of this moment
    page.click("#pause");
    page.wait_for_state("paused");
    drop(open);
    for words in ["", "checkout"] {
        page.search(words);
        let rows = page.rows();
        let rows = rows.iter().filter(|(name, _)| name.starts_with("requests"));
        let now: f64 = rows.map(|(_, cells)| cells["now"].parse::<f64>().unwrap()).sum();
        let shown = sum_above(&mut page, "now");
        assert!(now > 0.0 && (shown - now).abs() < 1e-9, "{words:?}: {shown}, not {now}");
    }
    page.click("#pause");
    page.wait_for_state("live");
    page.come_to_rest(&server);
    for words in ["", "checkout"] {
        page.search(words);
        let (mut bad, mut refused, mut all) = (0, 0, 0);
        for window in shop.requests.iter() {
            if window.pairs().any(|(_, value)| value.to_string().contains(words)) {
                let closed = window.over(window.interval()).unwrap().complete();
                bad += closed.sum(Http::Exception);
                refused += closed.sum(Http::Block);
                all += closed.sum(Http::Pass) + closed.sum(Http::Block);
            }
        }
        for (hits, sum) in [(bad, "share"), (refused, "refused")] {
            let (share, shown) = (hits as f64 / all as f64, sum_above(&mut page, sum));
            assert!((shown - share).abs() < 1e-9, "{words:?} {sum}: {shown}, not {share}");
        }
    }
    page.assert_well();
}

fn sum_above(page: &mut Page, sum: &str) -> f64 {
    let selector = format!("#sums [data-metric=requests] [data-sum={sum}]");
    page.attribute(&selector, "data-value").unwrap().parse().unwrap()
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn the_accounts_of_a_series_are_the_windows_own() {
    let shop = Shop::new();
    shop.pass(Duration::from_secs(3 * 86_400));
    shop.work(200);
    let login = shop.route(Method::Post, "/login");
    shop.step_back(|| login.add(Http::Pass, 7)); // too late for any bucket, and for the tiers
    let server = shop.serve("127.0.0.1:0");
    let mut page = Page::open(&server);
    page.click("tr[data-series*='\"/login\"']");
    page.browser.wait_for("document.querySelector('#ledger tr[data-event=Pass]')");
    let accounts = page.browser.value(
        "Object.fromEntries([...document.querySelectorAll('#ledger tr[data-event=Pass] td[data-account]')]
            .map(cell => [cell.dataset.account, Number(cell.dataset.value)]))",
    );
    let ever = login.lifetime(Http::Pass).count;
    let held = login.snapshot().totals().sum(Http::Pass);
    let late = login.late(Http::Pass).count;
    let expected = serde_json::json!({
        "lifetime": ever, "buckets": held, "difference": login.sum(Http::Pass), "late": late,
        "before": ever - held - late,
    });
    assert_eq!(accounts, expected);
    assert!(held > 0 && late > 0 && ever > held + late, "{expected}");
    assert_eq!(page.attribute("#check", "data-loss").as_deref(), Some("0"));
    let horizons = page.browser.value(
        "[...document.querySelectorAll('#detail [data-horizon]')].map(plot => plot.dataset.horizon)",
    );
    assert_eq!(horizons, serde_json::json!(["minute", "hour", "day"]));
    page.assert_well();
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn refused_requests_are_counted_once_in_either_way_of_counting() {
    use windrow_tower::Http as Tower;

    let clock = Manual::default();
    let minute = Duration::from_secs(60);
    let disjoint = SlidingWindow::<Http>::builder().interval(minute).clock(clock.clone());
    let total = SlidingWindow::<Tower>::builder().interval(minute).clock(clock.clone());
    let (disjoint, total) = (disjoint.build().unwrap(), total.build().unwrap());
    disjoint.add(Http::Pass, 60);
    disjoint.add(Http::Block, 40);
    disjoint.add(Http::Exception, 3);
    total.add(Tower::Request, 100);
    total.add(Tower::Block, 40);
    total.add(Tower::Exception, 3);
    clock.advance(minute / 2);
    let mut console = Console::new("shop");
    console.show("sentinel", "Passes and blocks", Arc::new(disjoint)).unwrap();
    console.show("tower", "Requests, and blocks among them", Arc::new(total)).unwrap();
    let server = Served::of(console);
    let mut page = Page::open(&server);
    page.catch_up(&server);
    for (key, cells) in page.rows() {
        let numbers = ["pass", "block", "exception", "share"].map(|column| &*cells[column]);
        assert_eq!(numbers, ["60", "40", "3", "0.03"], "{key}");
        let sum = format!("#sums [data-metric={key}] [data-sum=refused]");
        assert_eq!(page.attribute(&sum, "data-value").unwrap(), "0.4", "{key}");
        page.click(&format!("tr[data-series={key}]"));
        page.browser.wait_for(&format!(
            "document.querySelector('#detail[data-series={key}] [data-plot=share] [data-refused]')"
        ));
        let plot = page.attribute("#detail [data-plot=share] [data-refused]", "data-refused");
        assert_eq!(plot.unwrap(), "0.4", "{key}");
    }
    page.assert_well();
}
