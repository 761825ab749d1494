//! The pictures of the page that the documentation shows.

use std::env;
use std::fs;
use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::page::Page;
use crate::shop::Shop;

/// Pictures are for reading, not for waiting.
const MOST_BYTES: usize = 200_000;

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn the_page_by_day_and_by_night() {
    let folder = env::var_os("WINDROW_PICTURES")
        .map_or_else(|| PathBuf::from(env!("CARGO_TARGET_TMPDIR")), PathBuf::from);
    let shop = Shop::new();
    shop.work(86_400);
    let open = shop.open();
    let server = shop.serve("127.0.0.1:0");
    let mut page = Page::open(&server);
    page.browser.resize(1200, 800, false);
    for (scheme, name) in [("light", "console-light.png"), ("dark", "console-dark.png")] {
        page.browser.prefer(scheme);
        page.catch_up(&server);
        let picture = STANDARD.decode(page.browser.screenshot()).unwrap();
        fs::write(folder.join(name), &picture).unwrap();
    }
    drop(open);
    page.assert_well();
}
