//! The watch itself: it notices forbidden actions of a page.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::browser::Browser;

/// Returns a page's address that holds the page.
fn page(html: &str) -> String {
    format!("data:text/html;base64,{}", STANDARD.encode(html))
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn a_page_that_throws_complains_or_asks_elsewhere_is_noticed() {
    let mut browser = Browser::start();
    browser.open(&page("<p>quiet"));
    browser.wait_for("document.querySelector('p').textContent === 'quiet'");
    let seen = browser.seen();
    assert!(seen.complaints.is_empty(), "{:?}", seen.complaints);
    assert_eq!(seen.requests.len(), 1, "{:?}", seen.requests);

    let loud = "<img src='http://elsewhere.invalid/a.png' onerror='failed = true'>
        <script>console.error('mind that')</script><script>null.thrown</script>";
    browser.open(&page(loud));
    browser.wait_for("window.failed");
    let seen = browser.seen();
    let elsewhere = "http://elsewhere.invalid/a.png";
    assert!(seen.requests.iter().any(|asked| asked == elsewhere), "{:?}", seen.requests);
    for part in ["mind that", "null", "net::ERR"] {
        assert!(seen.complaints.iter().any(|said| said.contains(part)), "{:?}", seen.complaints);
    }
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn keys_clicks_and_what_the_system_prefers_reach_the_page() {
    let mut browser = Browser::start();
    browser.resize(390, 844, true);
    browser.prefer("dark");
    let form = "<meta name=viewport content='width=device-width'>
        <input id=name><button onclick='clicked = event.isTrusted'>B</button>";
    browser.open(&page(form));
    browser.click("#name");
    browser.type_in("rou\u{202e}te");
    assert_eq!(browser.value("document.querySelector('#name').value"), "rou\u{202e}te");
    browser.press("Tab", 9);
    browser.press("Enter", 13);
    browser.wait_for("window.clicked === true");
    assert_eq!(browser.value("[innerWidth, innerHeight]"), json!([390, 844]));
    browser.wait_for("matchMedia('(prefers-color-scheme: dark)').matches");
    assert!(browser.screenshot().starts_with("iVBORw0KGgo"), "a PNG");
}
