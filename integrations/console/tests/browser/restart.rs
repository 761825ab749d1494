//! The page outlives the service.

use crate::numbers::{assert_shown, expected};
use crate::page::Page;
use crate::shop::{Http, Method, Shop};

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn a_restart_of_the_service_is_seen_and_its_counters_begin_anew() {
    let shop = Shop::new();
    shop.route(Method::Get, "/of/the/old/days").add(Http::Pass, 1);
    shop.work(200);
    let server = shop.serve("127.0.0.1:0");
    let address = server.address();
    let mut page = Page::open(&server);
    page.wait_for_state("live");
    page.catch_up(&server);
    page.browser.value("window.stays = true");
    page.assert_well();
    drop(server);
    page.wait_for_state("lost");

    let shop = Shop::new();
    shop.work(30);
    shop.orders.add(5);
    let server = shop.serve(&address);
    page.wait_for_state("live");
    page.browser.wait_for("document.body.dataset.restarts === '1'");
    page.come_to_rest(&server);
    assert_shown(&mut page, &expected(&shop));
    assert_eq!(page.browser.value("window.stays"), true, "the page was loaded again");
    assert_eq!(page.attribute("#check", "data-loss").as_deref(), Some("0"));
    // The browser's log has the errors of the time without a server.
    page.assert_well_but_for(&["net::ERR_"]);
}
