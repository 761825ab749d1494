//! Many pages of one browser, which has six connections for all of them.

use serde_json::json;

use crate::page::Page;
use crate::shop::{Served, Shop};

/// A page that is to be seen, or is not.
fn look(page: &mut Page, state: &str) {
    page.browser.value(&format!(
        "Object.defineProperty(document, 'visibilityState', {{ value: '{state}', configurable: true }});
        document.dispatchEvent(new Event('visibilitychange'))"
    ));
}

fn stream(page: &mut Page) -> String {
    page.attribute("body", "data-stream").unwrap()
}

/// Opens nine pages in all.
fn nine(server: &Served) -> Page {
    let mut page = Page::open(server);
    for _ in 1..9 {
        page.browser.open_tab();
        page.go("");
    }
    page
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn nine_pages_are_live_by_one_stream_and_it_passes_on() {
    let shop = Shop::new();
    shop.work(200);
    let server = shop.serve("127.0.0.1:0");
    let mut page = nine(&server);
    let mut own = Vec::new();
    for tab in 0..9 {
        page.browser.turn_to(tab);
        page.catch_up(&server);
        page.wait_for_state("live");
        // The first frame of each is its own; then one page has the stream.
        page.browser.wait_for("document.body.dataset.stream === (leads ? 'own' : 'shared')");
        if stream(&mut page) == "own" {
            own.push(tab);
        }
    }
    assert_eq!(own.len(), 1, "{own:?}");
    // It is not looked at any more: another has the stream, and all go on.
    page.browser.turn_to(own[0]);
    look(&mut page, "hidden");
    page.browser.wait_for("document.body.dataset.stream === 'none' && !stream");
    let before = page.attribute("body", "data-frame");
    let mut others = Vec::new();
    for tab in (0..9).filter(|tab| *tab != own[0]) {
        page.browser.turn_to(tab);
        page.catch_up(&server);
        page.browser.wait_for("document.body.dataset.stream === (leads ? 'own' : 'shared')");
        if stream(&mut page) == "own" {
            others.push(tab);
        }
    }
    assert_eq!(others.len(), 1, "{others:?}");
    page.browser.turn_to(own[0]);
    assert_eq!(page.attribute("body", "data-frame"), before, "a page that is hidden takes frames");
    look(&mut page, "visible");
    page.catch_up(&server);
    page.wait_for_state("live");
    page.assert_well();
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn a_page_without_a_stream_says_why() {
    let shop = Shop::new();
    shop.work(200);
    let server = shop.serve("127.0.0.1:0");
    // The most streams that there may be, each of which takes what comes.
    let streams: Vec<_> = (0..64).map(|_| server.stream()).collect();
    let mut page = Page { browser: crate::browser::Browser::start(), origin: String::new() };
    page.origin = format!("http://{}/", server.address());
    let address = page.origin.clone();
    page.browser.open(&address);
    let notice = "document.querySelector('#notice').textContent";
    page.browser.wait_for(&format!("{notice}.includes('too many streams')"));
    for stream in streams {
        stream.shutdown(std::net::Shutdown::Both).unwrap();
    }
    page.wait_for_state("live");
    assert_eq!(page.browser.value(notice), json!(""));
}
