//! The file of the page: the texts that it must not contain, and that its policy lets its own
//! script run.

use std::fmt::Write;

use http::{Request, StatusCode};
use http_body_util::BodyExt;
use sha2::{Digest, Sha256};
use windrow_console::Console;

const PAGE: &str = include_str!("../../src/sent/page.html");

/// Returns the text between the only pair of tags of that name.
fn inside<'p>(page: &'p str, tag: &str) -> &'p str {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    assert_eq!((page.matches(&open).count(), page.matches(&close).count()), (1, 1), "one {tag}");
    page.split_once(&open).unwrap().1.split_once(&close).unwrap().0
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let word =
            (0..3).fold(0_u32, |word, at| word << 8 | u32::from(*chunk.get(at).unwrap_or(&0)));
        for digit in 0..=chunk.len() {
            text.push(char::from(DIGITS[(word >> (18 - 6 * digit) & 63) as usize]));
        }
    }
    let _ = write!(text, "{}", "=".repeat((3 - bytes.len() % 3) % 3));
    text
}

/// Checks that a policy lets the script and the style of this page run, and nothing else.
fn check_policy(policy: &str, page: &str) {
    for (directive, tag) in [("script-src", "script"), ("style-src", "style")] {
        let hash = base64(&Sha256::digest(inside(page, tag)));
        let expected = format!("{directive} 'sha256-{hash}'");
        assert!(
            policy.split("; ").any(|part| part == expected),
            "src/sent/response.rs needs {expected}"
        );
    }
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
}

#[tokio::test]
async fn the_policy_lets_the_pages_own_script_and_style_run_and_nothing_else() {
    let console = Console::new("shop").build();
    let request = Request::get("/").header("accept", "text/html").body(()).unwrap();
    let response = console.respond(&request).await;
    assert_eq!(response.status(), StatusCode::OK);
    check_policy(response.headers()["content-security-policy"].to_str().unwrap(), PAGE);
    let body = response.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(body, PAGE);
}

#[test]
fn the_page_is_small_and_asks_nobody_else() {
    assert!(PAGE.len() < 120_000, "{} bytes", PAGE.len());
    for foreign in ["http:", "https:", "//cdn", "url(", "@import", "src=", "import("] {
        assert!(!PAGE.contains(foreign), "the page has `{foreign}`");
    }
}

#[test]
fn the_page_makes_no_code_or_markup_of_data() {
    let ways = [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "Function(",
        " onclick=",
    ];
    for way in ways {
        assert!(!PAGE.contains(way), "the page has `{way}`");
    }
}
