#[test]
#[ignore]
fn views() {
    use base64::Engine;
    let shop = crate::shop::Shop::new();
    shop.work(86_400);
    let open = shop.open();
    let server = shop.serve("127.0.0.1:0");
    let mut page = crate::page::Page::open(&server);
    page.browser.resize(1200, 800, false);
    let mut shot = |page: &mut crate::page::Page, name: &str| {
        let d =
            base64::engine::general_purpose::STANDARD.decode(page.browser.screenshot()).unwrap();
        std::fs::write(format!("/tmp/cdp/{name}.png"), d).unwrap();
    };
    let key = "requests{method=\"POST\",route=\"/checkout/payment\"}";
    page.browser.value(&format!(
        "location.hash = 'series=' + encodeURIComponent({})",
        serde_json::json!(key)
    ));
    std::thread::sleep(std::time::Duration::from_secs(3));
    shot(&mut page, "detail");
    page.browser.resize(390, 844, true);
    std::thread::sleep(std::time::Duration::from_secs(2));
    shot(&mut page, "phone-detail");
    page.browser.value("location.hash = ''");
    std::thread::sleep(std::time::Duration::from_secs(2));
    shot(&mut page, "phone");
    drop(open);
    println!("{}", serde_json::to_string_pretty(&page.rows()[..2]).unwrap());
    page.assert_well();
}
