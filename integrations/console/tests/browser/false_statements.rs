//! False statements that the page must not make: a rate where there is none, all where it is nearly
//! all, that all is well where nothing answers.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::page::Page;
use crate::shop::{Http, Method, Shop};

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn numbers_are_rounded_to_what_they_are() {
    let shop = Shop::new();
    let server = shop.serve("127.0.0.1:0");
    let mut page = Page::open(&server);
    for (asked, is) in [
        ("short(999_999)", "1.00M"),
        ("short(999_499)", "999k"),
        ("short(9_999.7)", "10.0k"),
        ("short(12_345)", "12.3k"),
        ("short(9_999)", "9999"),
        ("short(999_999.6e3, 'ns')", "1.00\u{202f}s"),
        ("short(999.7, 'ns')", "1.00\u{202f}\u{b5}s"),
        ("short(12, 'ns')", "12\u{202f}ns"),
        ("ratio(0.9999)", "99.99\u{202f}%"),
        ("ratio(0.999999)", "99.99\u{202f}%"),
        ("ratio(1)", "100\u{202f}%"),
        ("ratio(0.98765)", "98.8\u{202f}%"),
        ("ratio(0.00001)", "<0.01\u{202f}%"),
        ("ratio(0)", "0\u{202f}%"),
    ] {
        assert_eq!(page.browser.value(asked), json!(is), "{asked}");
    }
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn a_service_that_is_gone_has_no_rate_now_and_no_check() {
    let shop = Shop::new();
    shop.work(200);
    let server = shop.serve("127.0.0.1:0");
    let mut page = Page::open(&server);
    page.catch_up(&server);
    let sums = "document.querySelector('#sums').textContent";
    page.browser.wait_for(&format!("{sums}.includes('/s now')"));
    drop(server);
    page.wait_for_state("lost");
    page.browser.wait_for(&format!("{sums}.includes('/s, ') && !{sums}.includes('now')"));
    let check = "document.querySelector('#check')";
    page.browser.wait_for(&format!("{check}.textContent.startsWith('last check ')"));
    page.browser.wait_for(&format!("{check}.classList.contains('old')"));
    page.browser.wait_for("document.querySelector('#notice').textContent !== ''");
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn what_is_drawn_is_said_and_a_restart_has_a_time() {
    let shop = Shop::new();
    shop.work(200);
    let server = shop.serve("127.0.0.1:0");
    let address = server.address();
    let mut page = Page::open(&server);
    page.catch_up(&server);
    page.click("tr[data-series*='\"/cart\"']");
    page.browser.wait_for("document.querySelectorAll('#detail canvas').length >= 3");
    page.catch_up(&server);
    let silent = page.browser.value(
        "[...document.querySelectorAll('#detail canvas')].filter(canvas => canvas.getAttribute('role') !== 'img'
            || !/^\\w+( of \\w+)?, last \\w+.*: .*\\d/.test(canvas.getAttribute('aria-label')))
            .map(canvas => canvas.outerHTML)",
    );
    assert_eq!(silent, json!([]));
    drop(server);
    page.wait_for_state("lost");
    let server = shop.serve(&address);
    page.wait_for_state("live");
    page.catch_up(&server);
    let notice = "document.querySelector('#notice').textContent";
    page.browser.wait_for(&format!("/restarted at \\d\\d:\\d\\d:\\d\\d/.test({notice})"));
    page.browser.value("news.until = 0");
    page.browser.wait_for(&format!("{notice} === ''"));
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn what_is_not_seen_in_a_name_is_shown() {
    let shop = Shop::new();
    shop.route(Method::Get, "\u{202e}gnp.evil\u{200b}").add(Http::Pass, 1);
    let server = shop.serve("127.0.0.1:0");
    let mut page = Page::open(&server);
    page.browser.wait_for(
        r"[...document.querySelectorAll('td[data-col=series]')]
            .some(cell => cell.textContent.includes('\\u{202e}gnp.evil\\u{200b}') && cell.title.includes('\\u{202e}gnp'))",
    );
}

/// Passes connections on to one address after the other.
fn balance(to: [String; 2]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (to, turn) = (Arc::new(to), AtomicUsize::new(0));
    thread::spawn(move || {
        for client in listener.incoming() {
            let Ok(client) = client else { return };
            let to = &to[turn.fetch_add(1, Ordering::Relaxed) % 2];
            let Ok(server) = TcpStream::connect(to) else { continue };
            for (mut from, mut to) in
                [(client.try_clone().unwrap(), server.try_clone().unwrap()), (server, client)]
            {
                thread::spawn(move || {
                    let mut some = [0; 4_096];
                    while let Ok(read @ 1..) = from.read(&mut some) {
                        if to.write_all(&some[..read]).is_err() {
                            break;
                        }
                    }
                    let _ = to.shutdown(Shutdown::Both);
                });
            }
        }
    });
    address
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn two_processes_behind_a_balancer_are_not_shown_as_one() {
    let (one, other) = (Shop::new(), Shop::new());
    one.work(200);
    other.work(90);
    let servers = [one.serve("127.0.0.1:0"), other.serve("127.0.0.1:0")];
    thread::sleep(Duration::from_secs(4)); // neither has just begun
    let between = balance([servers[0].address(), servers[1].address()]);
    let mut page =
        Page { browser: crate::browser::Browser::start(), origin: format!("http://{between}/") };
    page.go("");
    assert_eq!(page.attribute("body", "data-processes"), None);
    // The stream breaks off, and the next one is the other process'.
    for _ in 0..3 {
        page.browser.value("connect()");
        thread::sleep(Duration::from_secs(1));
    }
    page.browser.wait_for("document.body.dataset.processes === '2'");
    page.browser.wait_for(
        "document.querySelector('#notice').textContent.startsWith('Two processes answer')",
    );
    assert_eq!(page.attribute("body", "data-restarts").as_deref(), Some("0"));
}
