//! No element is cut, and none lies over another, on a desk and on a phone.

use serde_json::{Value, json};

use crate::page::Page;
use crate::shop::Shop;

/// The parts of the page that do not fit: numbers and headers that are cut, and elements wider than
/// the window.
const AMISS: &str = "(() => {
    const says = cell => `${cell.dataset.sort ?? cell.dataset.col}: ${cell.textContent}`;
    const needs = cell => {
        const range = document.createRange();
        range.selectNodeContents(cell.querySelector('button') ?? cell);
        return range.getBoundingClientRect().width;
    };
    const has = cell => {
        const style = getComputedStyle(cell.querySelector('button') ?? cell);
        return cell.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    };
    const cells = document.querySelectorAll('th[data-sort], tr[data-series] td[data-col]:not([data-col=series], [data-col=spark])');
    const cut = [...cells].filter(cell => cell.offsetWidth > 0 && cell.textContent && needs(cell) > has(cell) + 0.5);
    const beyond = ['html', '#scroll', '#detail'].filter(wide => {
        const { scrollWidth, clientWidth } = document.querySelector(wide);
        return scrollWidth > clientWidth;
    });
    const head = document.querySelector('th').getBoundingClientRect();
    const first = document.querySelector('tr[data-series]').getBoundingClientRect();
    const scroll = document.querySelector('#scroll');
    const open = document.querySelector('[aria-selected=true]')?.getBoundingClientRect();
    const hidden = !document.querySelector('#detail').hidden
        && !(open && open.top >= head.bottom - 1 && open.bottom <= scroll.getBoundingClientRect().bottom + 1);
    const gap = scroll.scrollTop === 0 && Math.abs(first.top - head.bottom) > 2 ? ['a gap above the first row'] : [];
    return [...cut.map(says), ...beyond, ...gap, ...(hidden ? ['the row that is open'] : [])];
})()";

/// The legends that cannot be brought into sight, or have something else over them then.
const COVERED: &str = "(() => {
    const found = [...document.querySelectorAll('#detail .legend')].filter(legend => {
        legend.scrollIntoView({ block: 'nearest', behavior: 'instant' });
        const { left, top, height } = legend.getBoundingClientRect();
        const over = document.elementFromPoint(left + 4, top + height - 2);
        return legend.checkVisibility() && !legend.contains(over);
    });
    for (const scrolled of document.querySelectorAll('main, #detail')) scrolled.scrollTop = 0;
    return found.map(legend => legend.textContent);
})()";

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn nothing_is_cut_at_any_width() {
    let shop = Shop::new();
    shop.work(4_000);
    shop.orders.add(u64::MAX / 3);
    let server = shop.serve("127.0.0.1:0");
    let mut page = Page::open(&server);
    for (width, height, phone) in [
        (1920, 1080, false),
        (1200, 800, false),
        (1199, 800, false),
        (1000, 800, false),
        (861, 800, false),
        (750, 800, false),
        (701, 800, false),
        (640, 400, false), // a desk's at 200 %
        (390, 844, true),
        (320, 600, true),
    ] {
        page.browser.resize(width, height, phone);
        page.draw();
        for state in ["closed", "open"] {
            if state == "open" {
                let key = "requests{method=\"POST\",route=\"/checkout/payment\"}";
                page.browser.value(&format!(
                    "location.hash = new URLSearchParams({{ series: {} }})",
                    json!(key)
                ));
                page.browser.wait_for("document.querySelector('#detail [data-horizon]')");
            }
            page.catch_up(&server);
            let amiss = page.browser.value(AMISS);
            assert_eq!(amiss, json!([]), "{width} wide, {state}");
            // A name has room, and nothing stands over what belongs to a plot.
            if width > 700 {
                let room =
                    page.browser.value("document.querySelector('td[data-col=series]').clientWidth");
                assert!(room.as_u64().unwrap() >= 220, "{width} wide: a name has {room}");
            }
            assert_eq!(page.browser.value(COVERED), json!([]), "{width} wide, {state}");
        }
        page.browser.value("location.hash = ''");
    }
    // On a phone too, a row says how it is called and how it is.
    let shown = page.browser.value(
        "[...document.querySelectorAll('th[data-sort]')].filter(head => head.offsetWidth > 0)
            .map(head => head.dataset.sort)",
    );
    for column in ["series", "share"] {
        assert!(shown.as_array().unwrap().contains(&Value::from(column)), "{shown}");
    }
    page.assert_well();
}
