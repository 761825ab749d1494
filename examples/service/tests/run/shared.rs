//! One limit of the shop on an engine, which stops in the middle.

use axum::http::StatusCode;

use crate::process::Process;
use crate::server::engine;
use crate::{command, get, output};

const OK: StatusCode = StatusCode::OK;
const REFUSED: StatusCode = StatusCode::TOO_MANY_REQUESTS;

async fn ask(service: &Process) -> StatusCode {
    get(service, "/slow/0").await.0
}

#[tokio::test]
async fn the_service_goes_on_by_its_policy_while_the_engine_is_stopped() {
    let Some(server) = engine() else { return };
    let at = server.url();
    // Five a second: by a ration alone, never twenty go on in a row.
    let limit = ["--limit-requests", "5", "--limit-redis", &at, "--limit-absence"];
    let start = |policy| Process::start(&[&limit[..], &[policy]].concat());
    let (lenient, strict) = (start("admit"), start("refuse"));
    for service in [&lenient, &strict] {
        while ask(service).await != OK {} // until the limit is warm
    }
    server.stop(true);
    // Until rations are used up, and it is known that the engine is away.
    for (service, status) in [(&strict, REFUSED), (&lenient, OK)] {
        let mut in_a_row = 0;
        while in_a_row < 20 {
            in_a_row = if ask(service).await == status { in_a_row + 1 } else { 0 };
        }
        for _ in 0..30 {
            assert_eq!(ask(service).await, status);
        }
    }
    // Other routes are answered all the while.
    assert_eq!(get(&strict, "/healthz").await.0, OK);
    server.stop(false);
    while ask(&strict).await != OK {}
}

#[tokio::test]
async fn the_service_starts_by_its_policy_while_the_engine_is_down() {
    let Some(mut server) = engine() else { return };
    server.kill();
    let at = server.url();
    let start = |policy| Process::start(&["--limit-redis", &at, "--limit-absence", policy]);
    let (lenient, strict) = (start("admit"), start("refuse"));
    while ask(&lenient).await != OK {} // until the attempt to connect has failed
    for _ in 0..30 {
        assert_eq!((ask(&lenient).await, ask(&strict).await), (OK, REFUSED));
    }
    server.revive();
    while ask(&strict).await != OK {}
}

#[test]
fn a_url_that_names_no_engine_is_an_error_of_its_setting() {
    let output = output(command().args(["--no-load", "--limit-redis", "redis://host:port/"]));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("limit_redis: "), "{said}");
}
