//! The line of the process: in words, and no rows of the table unless a search leaves them.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::json;
use windrow::Counter;
use windrow::export::from_fn;
use windrow_console::Console;

use crate::page::Page;
use crate::shop::Served;

fn served() -> Served {
    let mut console = Console::new("shop");
    console.show("visits", "Visits", Arc::new(Counter::new())).unwrap();
    let start = SystemTime::now() - Duration::from_secs(12_000);
    let start = start.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    for (name, number) in [
        ("process_resident_memory_bytes", 59_768_832.0),
        ("process_open_fds", 31.0),
        ("process_max_fds", 1_024.0),
        ("process_start_time_seconds", start as f64),
        ("shop_start_time_seconds", start as f64),
    ] {
        console.show(name, "", from_fn(move || number)).unwrap();
    }
    Served::of(console)
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn the_process_has_one_line_and_its_rows_are_there_for_a_search() {
    let server = served();
    let mut page = Page::open(&server);
    page.catch_up(&server);
    let line = page.browser.value("document.querySelector('#process').innerText");
    let line = line.as_str().unwrap().replace(['\u{202f}', '\u{a0}'], " ");
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words.join(" "), "memory 57 MiB descriptors 31 of 1024 up 3 h 20 min");
    assert_eq!(page.names(), ["shop_start_time_seconds", "visits"]);
    // A moment is a time, and no number of seconds.
    let cell = "document.querySelector('tr[data-series=shop_start_time_seconds] [data-col=total]')";
    let said = page.browser.value(&format!("{cell}.textContent"));
    assert!(!said.as_str().unwrap().contains('G'), "{said}");
    let title = page.browser.value(&format!("{cell}.title.length > 8"));
    assert_eq!(title, json!(true));

    page.search("process_open");
    assert_eq!(page.names(), ["process_open_fds"]);
    page.search("memory");
    let cell = "document.querySelector('tr[data-series=process_resident_memory_bytes] [data-col=total]').textContent";
    assert_eq!(page.browser.value(cell), json!("57\u{202f}MiB"));
    page.search(" ");

    page.click("#process [data-part=process_open_fds]");
    page.browser.wait_for("document.querySelector('#detail[data-series=process_open_fds]')");
    page.assert_well();
}
