//! The heavy keys beside the rows: their numbers, at any width, whatever the keys are.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use windrow::clock::Manual;
use windrow::{Counter, HeavyKeys};
use windrow_console::Console;

use crate::page::Page;
use crate::shop::Served;

type Keys = Arc<HeavyKeys<str, Manual>>;

/// Serves heavy keys of an hour, some of which are hostile, and two rows.
fn served() -> (Keys, Served) {
    let keys = HeavyKeys::<str>::builder(100).interval(Duration::from_secs(3_600)).buckets(360);
    let keys: Keys = Arc::new(keys.shards(1).clock(Manual::default()).build().unwrap());
    keys.add("acme", 600);
    keys.add("<img src=x onerror=\"window.pwned = 1\">", 200);
    keys.add("\u{202e}gnp.evil\n", 100);
    keys.add(&"W".repeat(300), 60);
    keys.add("", 40);
    let mut console = Console::new("shop");
    console.show("visits", "Visits", Arc::new(Counter::new())).unwrap();
    console.show_heavy("clients", "Requests by client", Arc::clone(&keys));
    (keys, Served::of(console))
}

/// Returns the text of each cell, and the bounds behind it, of the table of the last minute.
fn table(page: &mut Page) -> Value {
    page.browser.value(
        "[...document.querySelectorAll('#heavy [data-heavy=clients] [data-span=\"60000\"] tr[data-key]')]
            .map(row => [...[...row.cells].map(cell => cell.textContent), row.dataset.least, row.dataset.most])",
    )
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn heavy_keys_are_shown_with_their_shares_and_are_text() {
    let (keys, server) = served();
    let mut page = Page::open(&server);
    page.catch_up(&server);
    let long = format!("{}\u{2026}", "W".repeat(120));
    let expected = json!([
        ["acme", "600", "60.0\u{202f}%", "600", "600"],
        ["<img src=x onerror=\"window.pwned = 1\">", "200", "20.0\u{202f}%", "200", "200"],
        ["\\u{202e}gnp.evil\\n", "100", "10.0\u{202f}%", "100", "100"],
        [long, "60", "6.00\u{202f}%", "60", "60"],
        ["(empty)", "40", "4.00\u{202f}%", "40", "40"],
    ]);
    assert_eq!(table(&mut page), expected);
    assert_eq!(page.browser.value("window.pwned ?? null"), Value::Null);
    // It goes on.
    keys.add("acme", 1_000);
    page.browser.wait_for("document.querySelector('#heavy tr[data-least=\"1600\"]')");
    assert_eq!(table(&mut page)[0], json!(["acme", "1600", "80.0\u{202f}%", "1600", "1600"]));
    // A table has a caption and heads; the keyboard reaches it, to scroll it.
    let said = page.browser.value(
        "[...document.querySelectorAll('#heavy table')].map(table => [table.caption.textContent,
            [...table.querySelectorAll('th[scope=col]')].map(head => head.textContent)])",
    );
    let heads = ["key", "weight", "share"];
    let expected = json!([["last minute, 2000 in all", heads], ["last hour, 2000 in all", heads]]);
    assert_eq!(said, expected);
    page.browser.value("document.querySelector('#heavy').focus()");
    assert_eq!(page.browser.value("document.activeElement.id"), json!("heavy"));
    page.assert_well();
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn heavy_keys_are_on_the_first_screen_at_any_width() {
    let (_keys, server) = served();
    let mut page = Page::open(&server);
    for (width, height, phone) in [
        (2560, 1440, false),
        (1920, 1080, false),
        (1600, 900, false),
        (1300, 800, false),
        (700, 800, false),
        (390, 844, true),
        (320, 600, true),
    ] {
        page.browser.resize(width, height, phone);
        page.catch_up(&server);
        let seen = page.browser.value(
            "(() => {
                const heavy = document.querySelector('#heavy'), first = heavy.querySelector('tr[data-key]');
                const box = first.getBoundingClientRect(), row = document.querySelector('tr[data-series]').getBoundingClientRect();
                const over = element => element.scrollWidth - element.clientWidth;
                const cut = [...heavy.querySelectorAll('td:not(:first-child)')].filter(cell => over(cell) > 0);
                const beside = box.left >= row.right;
                return [box.top >= 0 && box.bottom <= innerHeight, row.bottom <= innerHeight, beside,
                    cut.map(cell => cell.textContent), over(document.documentElement), over(heavy)];
            })()",
        );
        assert_eq!(seen, json!([true, true, width >= 1_600, [], 0, 0]), "{width} wide");
    }
    page.assert_well();
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn without_heavy_keys_nothing_is_shown() {
    let mut console = Console::new("shop");
    console.show("visits", "Visits", Arc::new(Counter::new())).unwrap();
    let server = Served::of(console);
    let mut page = Page::open(&server);
    page.browser.resize(1920, 1080, false);
    page.catch_up(&server);
    let hidden = "document.querySelector('#heavy').checkVisibility()";
    assert_eq!(page.browser.value(hidden), json!(false));
    let wide = "document.querySelector('#scroll').clientWidth";
    assert!(page.browser.value(wide).as_u64().unwrap() > 1_850);
}
