//! The user's choices are in the address, and so survive a reload.

use std::time::Duration;

use serde_json::json;

use crate::page::Page;
use crate::shop::{Served, Shop};

/// Returns a shop whose numbers differ from row to row, at rest.
fn shown() -> (Shop, Served, Page) {
    let shop = Shop::new();
    shop.work(200);
    shop.orders.add(3);
    let server = shop.serve("127.0.0.1:0");
    let page = Page::open(&server);
    (shop, server, page)
}

/// Returns whether the column is in descending order, with missing numbers last.
fn falls(column: &[Option<f64>]) -> bool {
    let numbers: Vec<f64> = column.iter().copied().flatten().collect();
    let last = column[numbers.len()..].iter().all(Option::is_none);
    last && numbers.is_sorted_by(|one, next| one >= next)
}

fn rises(column: &[Option<f64>]) -> bool {
    let numbers: Vec<f64> = column.iter().copied().flatten().collect();
    let last = column[numbers.len()..].iter().all(Option::is_none);
    last && numbers.is_sorted()
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn every_column_sorts_both_ways_and_says_so() {
    let (shop, server, mut page) = shown();
    let open = shop.open();
    page.catch_up(&server);
    page.catch_up(&server); // now there are rates of this moment
    page.click("#pause");
    page.wait_for_state("paused");
    drop(open);
    let heads = page
        .browser
        .value("[...document.querySelectorAll('th[data-sort]')].map(head => head.dataset.sort)");
    let heads: Vec<String> = serde_json::from_value(heads).unwrap();
    assert!(heads.len() >= 10, "{heads:?}");
    for name in &heads {
        let head = format!("th[data-sort={name}]");
        for _ in 0..2 {
            page.click(&head);
            let says = page.attribute(&head, "aria-sort").unwrap();
            let sorted = page.browser.value(
                "[...document.querySelectorAll('th[data-sort]:not([aria-sort=none])')].length",
            );
            assert_eq!(sorted, 1, "{name}");
            if name == "series" {
                let names = page.names();
                let right = match says.as_str() {
                    "ascending" => names.is_sorted(),
                    _ => names.is_sorted_by(|one, next| one >= next),
                };
                assert!(right, "{says}: {names:?}");
                continue;
            }
            let column = page.column(name);
            let right = if says == "ascending" { rises(&column) } else { falls(&column) };
            assert!(right, "{name} {says}: {column:?}");
        }
        let first = page.attribute(&head, "aria-sort").unwrap();
        page.click(&head);
        assert_ne!(page.attribute(&head, "aria-sort").unwrap(), first, "{name}");
    }
    page.assert_well();
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn a_search_leaves_the_rows_that_have_all_its_words() {
    let (_shop, server, mut page) = shown();
    page.catch_up(&server);
    let all = page.names();
    page.search("Post CHECKOUT");
    let left: Vec<&String> =
        all.iter().filter(|name| name.contains("POST") && name.contains("checkout")).collect();
    assert!(!left.is_empty() && left.len() < all.len());
    let mut found = page.names();
    found.sort();
    let mut left: Vec<String> = left.into_iter().cloned().collect();
    left.sort();
    assert_eq!(found, left);
    assert_eq!(page.attribute("body", "data-shown").unwrap(), left.len().to_string());
    page.search("there is no such thing");
    assert_eq!(page.names(), [""; 0]);
    page.assert_well();
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn what_was_chosen_is_in_the_address_and_a_reload_brings_it_back() {
    let (_shop, server, mut page) = shown();
    page.catch_up(&server);
    page.click("th[data-sort=total]");
    page.search("cart");
    page.click("tr[data-series*='\"/cart\"']");
    page.browser.wait_for("document.querySelector('#detail [data-horizon]')"); // it grows
    page.click("[data-choose=hour]");
    page.click("#theme");
    page.browser.wait_for("document.querySelector('#detail [data-horizon]')");
    let chosen =
        "[[...document.querySelectorAll('tr[data-series]')].map(row => row.dataset.series),
        document.querySelector('#search').value, document.querySelector('#detail').dataset.series,
        [...document.querySelectorAll('#detail [data-horizon]')].map(plot => plot.dataset.horizon),
        document.querySelector('[aria-selected=true]').dataset.series,
        document.querySelector('th[data-sort=total]').getAttribute('aria-sort'),
        document.body.dataset.theme]";
    let before = page.browser.value(chosen);
    let address = page.browser.value("location.href");
    page.browser.call("Page.reload", &json!({}));
    page.browser.wait_for("performance.getEntriesByType('navigation')[0].type === 'reload'");
    page.wait_for_rows(); // which may come after what is said of one of them
    page.browser.wait_for("document.querySelector('#detail [data-horizon]')");
    page.draw();
    assert_eq!(page.browser.value(chosen), before);
    assert_eq!(page.browser.value("location.href"), address);
    assert_eq!(before[3], json!(["hour"]));
    // A link from elsewhere does the same.
    let state = address.as_str().unwrap().split_once('#').unwrap().1;
    page.go(&format!("#{state}"));
    page.browser.wait_for("document.querySelector('#detail [data-horizon]')");
    page.draw();
    assert_eq!(page.browser.value(chosen), before);
    page.click("#close");
    assert_eq!(page.browser.value("document.querySelector('#detail').hidden"), true);
    page.assert_well();
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn a_pause_holds_the_page_and_its_end_brings_it_up_to_date() {
    let (shop, server, mut page) = shown();
    page.catch_up(&server);
    page.click("#pause");
    page.wait_for_state("paused");
    let (frame, rows) = (page.attribute("body", "data-frame"), page.rows());
    shop.work(60);
    std::thread::sleep(Duration::from_millis(2_500)); // two frames that it must not show
    assert_eq!(page.attribute("body", "data-frame"), frame);
    assert!(page.rows() == rows, "the numbers of a page that pauses change");
    page.click("#pause");
    page.wait_for_state("live");
    page.come_to_rest(&server);
    crate::numbers::assert_shown(&mut page, &crate::numbers::expected(&shop));
    page.assert_well();
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn the_theme_is_the_systems_until_it_is_chosen() {
    let (_shop, server, mut page) = shown();
    page.catch_up(&server);
    let back = "getComputedStyle(document.body).backgroundColor";
    page.browser.prefer("light");
    let light = page.browser.value(back);
    page.browser.prefer("dark");
    let dark = page.browser.value(back);
    assert_ne!(light, dark);
    let mut seen = Vec::new();
    for _ in 0..3 {
        page.click("#theme");
        seen.push((page.attribute("body", "data-theme").unwrap(), page.browser.value(back)));
    }
    seen.sort_by(|one, next| one.0.cmp(&next.0));
    let expected = [("auto", &dark), ("dark", &dark), ("light", &light)];
    assert!(seen.iter().map(|(theme, back)| (theme.as_str(), back)).eq(expected), "{seen:?}");
    page.assert_well();
}
