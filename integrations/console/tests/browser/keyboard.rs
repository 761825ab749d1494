//! All of it can be done without a mouse.

use serde_json::json;

use crate::page::Page;
use crate::shop::Shop;

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn keys_search_sort_walk_open_and_close() {
    let shop = Shop::new();
    shop.work(100);
    let server = shop.serve("127.0.0.1:0");
    let mut page = Page::open(&server);
    page.catch_up(&server);
    page.browser.press("/", 191);
    let focus = "document.activeElement.id || document.activeElement.closest('[data-sort], [data-series]')?.dataset.sort
        || document.activeElement.closest('[data-series]')?.dataset.series";
    assert_eq!(page.browser.value(focus), "search");
    page.browser.type_in("cart");
    page.draw();

    // From the search on, each press of the tabulator leads on: to the switches, the heads of the
    // columns, the rows.
    let mut way = Vec::new();
    let rows = page.names();
    while way.last() != Some(&json!(rows[0])) && way.len() < 40 {
        page.browser.press("Tab", 9);
        way.push(page.browser.value(focus));
        if way.last() == Some(&json!("total")) {
            page.browser.press("Enter", 13);
            page.draw();
            assert_eq!(page.attribute("th[data-sort=total]", "aria-sort").unwrap(), "descending");
            page.browser.press(" ", 32);
            page.draw();
            assert_eq!(page.attribute("th[data-sort=total]", "aria-sort").unwrap(), "ascending");
            page.browser.press("Enter", 13);
            page.draw();
        }
        if page.names()[0] != rows[0] && way.last() == Some(&json!(page.names()[0])) {
            break;
        }
    }
    for stop in ["pause", "theme", "series", "total"] {
        assert!(way.contains(&json!(stop)), "{stop}: {way:?}");
    }
    let rows = page.names();
    assert_eq!(page.browser.value(focus), json!(rows[0]));
    page.browser.press("ArrowDown", 40);
    page.browser.press("ArrowDown", 40);
    page.browser.press("ArrowUp", 38);
    assert_eq!(page.browser.value(focus), json!(rows[1]));
    page.browser.press("Enter", 13);
    page.browser.wait_for("!document.querySelector('#detail').hidden");
    assert_eq!(page.attribute("#detail", "data-series").as_ref(), Some(&rows[1]));
    page.browser.press("Escape", 27);
    page.browser.wait_for("document.querySelector('#detail').hidden");
    page.assert_well();
}
