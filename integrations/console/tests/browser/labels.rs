//! Labels are what others send. To the page they are text.

use serde_json::json;

use crate::page::Page;
use crate::shop::{Http, Method, Shop};

fn labels() -> Vec<String> {
    let mut labels: Vec<String> = [
        "<script>window.pwned = 1</script>",
        "\"><img src=x onerror=\"window.pwned = 1\">",
        "'-window.pwned=1-'",
        "</td></tr></table><h1>gone",
        "<style>body { display: none }</style>",
        "javascript:window.pwned=1",
        "a\nb\r\n\tc\\n",
        "\u{202e}gnp.evil\u{2066}",
        "e\u{301}\u{1F600}\u{2028}\u{feff}\0\u{7f}",
        "__proto__",
        "%3Cscript%3E#&sort=x",
        "",
    ]
    .map(str::to_owned)
    .into();
    labels.push("very long/".repeat(100));
    labels.push("W".repeat(1_000));
    labels
}

/// Returns a label with escapes for invisible characters, and for those that change the direction
/// of a text.
fn legible(label: &str) -> String {
    let escaped = |character: char| match character {
        '\u{301}' | '"' | '\'' | '\\' => character.to_string(),
        other => other.escape_debug().to_string(),
    };
    label.chars().map(escaped).collect()
}

/// Returns a series' key as `/metrics` has it.
fn key(label: &str) -> String {
    let label = label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("requests{{method=\"GET\",route=\"{label}\"}}")
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn hostile_labels_are_text() {
    let shop = Shop::new();
    for (label, times) in labels().iter().zip(1..) {
        shop.route(Method::Get, label).add(Http::Pass, times);
        shop.route(Method::Get, label).record(Http::Rt, times);
    }
    let server = shop.serve("127.0.0.1:0");
    let mut page = Page::open(&server);
    page.browser.resize(1200, 1500, false);
    page.catch_up(&server);
    let mut shown = page.names();
    shown.sort();
    let mut expected: Vec<String> = labels().iter().map(|label| key(label)).collect();
    expected.extend(["carts", "orders", "paid"].map(str::to_owned));
    expected.sort();
    assert_eq!(shown, expected);
    assert_harmless(&mut page);
    let texts = page.browser.value(
        "[...document.querySelectorAll('tr[data-series] td[data-col=series]')].map(cell => cell.textContent)",
    );
    let texts: Vec<String> = serde_json::from_value(texts).unwrap();
    for label in labels().iter().filter(|label| label.len() < 300) {
        let label = legible(label);
        assert!(
            texts.iter().any(|text| text.contains(&label)),
            "{label:?} is not to be read: {texts:?}"
        );
    }

    for (label, times) in labels().iter().zip(1_u32..) {
        let key = key(label);
        page.browser.value(&format!(
            "[...document.querySelectorAll('tr[data-series]')]
                .find(row => row.dataset.series === {}).click()",
            json!(key)
        ));
        page.browser.wait_for(&format!(
            "document.querySelector('#detail').dataset.series === {} &&
                document.querySelector('#ledger tr[data-event=Pass] [data-account=lifetime]').dataset.value == {times}",
            json!(key)
        ));
        assert_harmless(&mut page);
        // The open series is in the address; a reload opens it again.
        if times <= 3 {
            let address = page.browser.value("location.hash");
            page.go(address.as_str().unwrap());
            page.browser.wait_for(&format!(
                "document.querySelector('#detail').dataset.series === {}",
                json!(key)
            ));
        }
        page.click("#close");
    }
    page.search("<script>");
    assert_eq!(page.names(), [key(&labels()[0])]);
    page.assert_well();
}

/// Asserts that no part of the labels has become a part of the page, that all rows have one height,
/// and that none is wider than the window.
fn assert_harmless(page: &mut Page) {
    page.draw();
    let found = page.browser.value(
        "({ pwned: window.pwned ?? null,
            foreign: document.querySelectorAll('body script ~ script, img, h1 ~ h1, body style, iframe').length,
            heights: [...new Set([...document.querySelectorAll('tr[data-series]')]
                .map(row => Math.round(row.getBoundingClientRect().height)))].length,
            wide: document.documentElement.scrollWidth > innerWidth,
            seen: document.body.getBoundingClientRect().height > 0 })",
    );
    let harmless = json!({
        "pwned": null, "foreign": 0, "heights": 1, "wide": false, "seen": true,
    });
    assert_eq!(found, harmless);
}
