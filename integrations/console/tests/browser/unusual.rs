//! The first screen says in words what is wrong, with which route, and since when.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::page::Page;
use crate::shop::{Http, Method, Shop};

/// The words of the changes, and the text of the whole line.
const LINE: &str =
    "[[...document.querySelectorAll('#now [data-change]')].map(of => of.textContent),
    document.querySelector('#now').textContent]";

/// Returns the words of the changes that the page tells, and the whole line.
fn line(page: &mut Page) -> (Vec<String>, String) {
    serde_json::from_value(page.browser.value(LINE)).unwrap()
}

/// Returns the hour and the minute of the browser's clock, some seconds ago.
fn moment(page: &mut Page, ago: u64) -> String {
    let asked = format!("new Date(Date.now() - {ago} * 1000).toTimeString().slice(0, 5)");
    page.browser.value(&asked).as_str().unwrap().to_owned()
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn an_incident_is_told_in_words_within_seconds_and_its_row_comes_first() {
    let shop = Shop::new();
    // Up to noon; the checkout has its bad quarter of an hour until 25 minutes before.
    shop.work(5_400);
    let server = shop.serve("127.0.0.1:0");
    let mut page = Page::open(&server);
    page.catch_up(&server);
    page.browser.wait_for("document.querySelector('#now').textContent.includes('unusual since')");
    let (changes, calm) = line(&mut page);
    assert_eq!(changes, [""; 0], "{calm}");
    let ended: Vec<String> = (22..=26).map(|ago| moment(&mut page, ago * 60)).collect();
    let is_told = |ended: &String| calm == format!("Nothing unusual since {ended}.");
    assert!(ended.iter().any(is_told), "{calm} {ended:?}");
    assert_eq!(page.attribute("#now", "data-changes").unwrap(), "0");

    // One route fails, and another is slow; a third is refused.
    let open = shop.open();
    page.catch_up(&server);
    let search = shop.route(Method::Get, "/search");
    let product = shop.route(Method::Get, "/product/{id}");
    let offers = shop.route(Method::Get, "/offers");
    let begun = Instant::now();
    let minute = moment(&mut page, 0);
    let told = "['/search', '/product/', '/offers'].every(route =>
        document.querySelector(`#now [data-change*='\"${route}']`))";
    while page.browser.value(told) != json!(true) {
        assert!(begun.elapsed() < Duration::from_secs(40), "{:?}", line(&mut page));
        search.add(Http::Exception, 6);
        offers.add(Http::Block, 6);
        for _ in 0..6 {
            product.record(Http::Rt, Duration::from_millis(700));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    let took = begun.elapsed();
    println!("told after {took:?}");
    page.draw();
    let (changes, whole) = line(&mut page);
    // It began in this minute or in the next.
    let since: Vec<String> = [0, 20, 40].map(|ago| moment(&mut page, ago)).into();
    let is_since = |text: &str| {
        std::iter::once(&minute).chain(&since).any(|at| text.contains(&format!(" since {at}")))
    };
    assert!(changes.iter().all(|change| is_since(change)), "{whole}: {since:?}");
    assert!(changes[0].contains("/search") && changes[0].contains(" failures "), "{whole}");
    assert!(changes[1].contains("/product/{id}") && changes[1].contains(" p9"), "{whole}");
    assert!(changes[2].contains("/offers") && changes[2].contains(" refused "), "{whole}");
    // The rows stand in that order, say the same, and are sorted by it from the start.
    let names = page.names();
    let firsts = ["/search\"", "/product/{id}\"", "/offers\""];
    assert!(firsts.iter().zip(&names).all(|(route, name)| name.contains(route)), "{names:?}");
    let first = page.browser.value("document.querySelector('tr[data-series] .why').textContent");
    assert!(first.as_str().unwrap().starts_with("failures "), "{first}");
    // A screen reader was told, too.
    let said = page.browser.value("document.querySelector('#said[role=status]').textContent");
    assert!(said.as_str().unwrap().contains("/search"), "{said}");
    // Refusals are no failures: their row is neither red nor amber.
    assert_eq!(page.attribute("tr[data-series*='\"/offers\"']", "data-health").unwrap(), "good");
    assert_eq!(page.attribute("tr[data-series*='\"/search\"']", "data-health").unwrap(), "bad");
    assert_eq!(page.attribute("tr[data-series*='{id}\"']", "data-health").unwrap(), "warn");
    // The words lead to the series, where the shares have a plot of their own.
    page.click("#now [data-change*='\"/search\"']");
    page.browser.wait_for("document.querySelector('#detail [data-plot=share] [data-failed]')");
    assert!(page.attribute("#detail", "data-series").unwrap().contains("\"/search\""));
    let failed = page.attribute("#detail [data-horizon=minute] [data-failed]", "data-failed");
    assert!(failed.unwrap().parse::<f64>().unwrap() > 0.02);
    drop(open);
    page.assert_well();
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn the_head_tells_the_process_and_the_age_of_its_numbers() {
    let shop = Shop::new();
    shop.work(30);
    let server = shop.serve("127.0.0.1:0");
    let mut page = Page::open(&server);
    page.catch_up(&server);
    let about = page.browser.value("document.querySelector('#about').textContent");
    let about = about.as_str().unwrap();
    assert!(
        about.starts_with(&format!("version 1.2.3, process {}, up ", std::process::id())),
        "{about}"
    );
    assert!(about.ends_with(", windows of 30 s"), "{about}");
    let (_, line) = line(&mut page);
    assert_eq!(line, "Nothing to compare with yet: that takes a quarter of an hour.");
    page.assert_well();
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn a_time_of_another_day_says_which() {
    let shop = Shop::new();
    let server = shop.serve("127.0.0.1:0");
    let mut page = Page::open(&server);
    page.catch_up(&server);
    for (days, says) in
        [(0, "12:00"), (1, "yesterday 12:00"), (2, "12:00, 2 days ago"), (5, "12:00, 5 days ago")]
    {
        let noon = format!(
            "(at => moment(new Date(at.getFullYear(), at.getMonth(), at.getDate() - {days}, 12)))
            (new Date(frame.time))"
        );
        assert_eq!(page.browser.value(&noon), json!(says));
    }
}
