//! The answers of each endpoint.

use std::io::Read;
use std::thread;
use std::time::Duration;

use axum::Router;
use http::{Method, StatusCode};
use http_body_util::BodyExt;
use serde_json::json;
use windrow::export::{field, field_count_fn, from_fn};
use windrow::{Counter, Family, Gate, Gauge, InFlight, Maximum, SlidingWindow};
use windrow_console::{Console, RegisterError};
use windrow_tower::{
    Endpoint, Http as Requests, Limit, Limits, Method as Verb, Route as Path, Routes as Paths,
};

use super::{
    Http, Route, console_of, counter, encoded, get, json, request, routes, send, series, served,
    text,
};

const KINDS: [(&str, &str); 5] = [
    ("/", "text/plain; charset=utf-8"),
    ("/events", "text/event-stream"),
    ("/snapshot.json", "application/json"),
    ("/metrics", "text/plain; version=0.0.4; charset=utf-8"),
    ("/text", "text/plain; charset=utf-8"),
];

#[tokio::test]
async fn each_endpoint_answers_as_what_it_is_and_is_not_kept() {
    let server = served(&console_of(routes()));
    for (path, kind) in KINDS {
        for method in [Method::GET, Method::HEAD] {
            let response = send(server.address(), request(method.clone(), path)).await;
            assert_eq!(response.status(), StatusCode::OK, "{path}");
            let headers = response.headers();
            assert_eq!(headers["content-type"], kind, "{path}");
            assert_eq!(headers["cache-control"], "no-store");
            assert_eq!(headers["x-content-type-options"], "nosniff");
            if method == Method::HEAD {
                assert_eq!(text(response).await, "", "{path}");
            }
        }
    }
}

#[tokio::test]
async fn what_is_not_there_is_404_and_nothing_can_be_changed() {
    let server = served(&console_of(routes()));
    for path in
        ["/nothing", "/snapshot", "/events/", "/metrics/x", "/../text", "/snapshot.json?series=no"]
    {
        assert_eq!(get(server.address(), path).await.status(), StatusCode::NOT_FOUND, "{path}");
    }
    for (path, _) in KINDS {
        for method in [Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS, Method::PATCH] {
            let response = send(server.address(), request(method, path)).await;
            assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED, "{path}");
            assert_eq!(response.headers()["allow"], "GET, HEAD");
        }
    }
}

#[tokio::test]
async fn a_browser_gets_the_page_and_curl_the_text() {
    let server = served(&console_of(routes()));
    let mut browsers = request(Method::GET, "/");
    browsers.headers_mut().insert("accept", "text/html,*/*;q=0.8".parse().unwrap());
    let response = send(server.address(), browsers).await;
    assert_eq!(response.headers()["content-type"], "text/html; charset=utf-8");
    assert_eq!(response.headers()["vary"], "accept");
    assert!(text(response).await.starts_with("<!doctype html>"));

    let mut curls = request(Method::GET, "/");
    curls.headers_mut().insert("accept", "*/*".parse().unwrap());
    assert!(text(send(server.address(), curls).await).await.starts_with("shop, "));
}

#[tokio::test]
async fn at_rest_the_numbers_are_the_services_own() {
    let routes = routes();
    let labels = [("/a", 200), ("/a", 500), ("/b", 200)];
    thread::scope(|scope| {
        for thread in 0..4_u64 {
            scope.spawn(move || {
                for number in 0..3_000 {
                    for (route, status) in labels {
                        let window = routes.with(Route { route, status });
                        window.add(Http::Pass, 1 + u64::from(status == 500));
                        window.add(Http::Open, if number % 3 == 0 { -2 } else { 1 });
                        window.record(Http::Rt, number + 10 * thread);
                        window.record(Http::Peak, number + thread);
                    }
                }
            });
        }
    });
    let server = served(&console_of(routes));
    let snapshot = json(server.address(), "/snapshot.json").await;
    assert_eq!(snapshot["check"], json!({ "audits": 3, "failing": [] }));
    for (route, status) in labels {
        let window = routes.handle(Route { route, status });
        let key = format!("requests{{route=\"{route}\",status=\"{status}\"}}");
        let one = json(server.address(), &format!("/snapshot.json?series={}", encoded(&key))).await;
        for shown in [series(&snapshot, &key), &one["series"]] {
            assert_eq!(shown["labels"], json!({ "route": route, "status": status.to_string() }));
            let lifetime = window.lifetime(Http::Rt);
            assert_eq!(
                shown["events"]["Pass"]["lifetime"]["count"],
                window.lifetime(Http::Pass).count
            );
            assert_eq!(shown["events"]["Pass"]["count"], window.sum(Http::Pass));
            assert_eq!(shown["events"]["Open"]["lifetime"]["sum"], 0);
            assert_eq!(shown["events"]["Exception"]["lifetime"]["count"], 0);
            let rt = &shown["events"]["Rt"]["lifetime"];
            assert_eq!((&rt["count"], &rt["sum"]), (&json!(12_000), &json!(lifetime.sum)));
            assert_eq!((&rt["min"], &rt["max"]), (&json!(0), &json!(3_029)));
            assert_eq!(rt["mean"], json!(lifetime.mean()));
            assert_eq!(shown["events"]["Peak"]["lifetime"], json!({ "max": 3_002 }));
        }
        let (detail, pass) = (&one["series"], window.lifetime(Http::Pass).count);
        assert_eq!(detail["check"], json!({ "holds": true }));
        assert_eq!(detail["events"]["Pass"]["walk"]["count"], pass);
        let cores = detail["cores"]["rows"].as_array().unwrap();
        let rows: u64 = cores.iter().filter_map(serde_json::Value::as_u64).sum();
        assert_eq!(rows + detail["cores"]["shared"].as_u64().unwrap(), pass);
        let minute = &detail["panels"][0];
        let counts = minute["events"]["Pass"]["count"].as_array().unwrap();
        // The time before the windows were built is left out.
        assert_eq!(minute["horizon"].as_str(), Some("minute"));
        assert!((1..60).contains(&counts.len()), "{counts:?}");
        assert_eq!(counts.iter().filter_map(serde_json::Value::as_u64).sum::<u64>(), pass);
    }
}

#[tokio::test]
async fn a_family_with_names_of_run_time_is_shown_by_them() {
    let requests = Family::<_, Counter>::with_names(["tenant", "region"]).unwrap();
    let requests = requests.with_max_series(2);
    let requests: &'static _ = Box::leak(Box::new(requests));
    let mut console = Console::new("shop");
    console.show("requests", "Requests", requests).unwrap();
    requests.with(&["acme", "eu"]).add(2);
    requests.with(&["say \"hi\"", ""]).add(3);
    requests.with(&["acme"]).add(4);
    let server = served(&console.build());
    let snapshot = json(server.address(), "/snapshot.json").await;
    assert_eq!(snapshot["metrics"][0]["labels"], json!(["tenant", "region"]));
    for (key, labels, value) in [
        (r#"{tenant="acme",region="eu"}"#, json!({ "tenant": "acme", "region": "eu" }), 2),
        (r#"{tenant="say \"hi\"",region=""}"#, json!({ "tenant": "say \"hi\"", "region": "" }), 3),
        (r#"{overflow="true"}"#, json!({ "overflow": "true" }), 4),
    ] {
        let shown = series(&snapshot, &format!("requests{key}"));
        assert_eq!((&shown["labels"], &shown["sum"]), (&labels, &json!(value)), "{shown}");
    }
}

#[tokio::test]
async fn a_scrape_is_read_by_its_own_rules_and_has_the_same_numbers() {
    let routes = routes();
    routes.with(Route { route: "/a", status: 200 }).add(Http::Pass, 41);
    routes.with(Route { route: "say \"hi\"\n\\", status: 200 }).add(Http::Pass, 7);
    let server = served(&console_of(routes));
    let mut asked = request(Method::GET, "/metrics");
    asked.headers_mut().insert("accept", "application/openmetrics-text".parse().unwrap());
    let response = send(server.address(), asked).await;
    let headers = response.headers();
    assert_eq!(headers["content-type"], windrow_prometheus::CONTENT_TYPE);
    assert_eq!(headers["vary"], "accept, accept-encoding");
    assert!(!headers.contains_key("content-encoding"));
    let scrape = text(response).await;
    assert!(scrape.ends_with("# EOF\n"));
    let mut samples = 0;
    for line in scrape.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(value.parse::<f64>().is_ok_and(f64::is_finite), "{line}");
        assert!(name.starts_with("requests_"), "{line}");
        samples += 1;
    }
    assert!(samples > 4, "{scrape}");
    assert!(
        scrape.contains(r#"requests_total{route="/a",status="200",event="Pass"} 41"#),
        "{scrape}"
    );
    assert!(
        scrape.contains(r#"requests_total{route="say \"hi\"\n\\",status="200",event="Pass"} 7"#),
        "{scrape}"
    );
}

#[tokio::test]
async fn a_scrape_is_compressed_or_protobuf_for_clients_that_ask_for_it() {
    let routes = routes();
    for status in 0..200 {
        routes.with(Route { route: "/a", status }).add(Http::Pass, 41);
    }
    let server = served(&console_of(routes));
    let ask = async |accept: &'static str, coding: &'static str| {
        let mut asked = request(Method::GET, "/metrics");
        asked.headers_mut().insert("accept", accept.parse().unwrap());
        asked.headers_mut().insert("accept-encoding", coding.parse().unwrap());
        let response = send(server.address(), asked).await;
        assert_eq!(response.headers()["vary"], "accept, accept-encoding");
        let header = |name| response.headers().get(name).map(|value| value.to_str().unwrap());
        let coding = header("content-encoding").map(str::to_owned);
        let kind = header("content-type").unwrap().to_owned();
        (kind, coding, response.into_body().collect().await.unwrap().to_bytes())
    };
    let (_, coding, plain) = ask("text/plain", "identity").await;
    assert_eq!(coding, None);
    let (_, coding, compressed) = ask("text/plain", "gzip").await;
    assert_eq!(coding.as_deref(), Some("gzip"));
    let mut again = String::new();
    flate2::read::GzDecoder::new(&compressed[..]).read_to_string(&mut again).unwrap();
    // A bucket may have ended between the two: then rates have changed.
    let totals = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.contains("_total")).map(str::to_owned).collect()
    };
    assert_eq!(totals(&again), totals(std::str::from_utf8(&plain).unwrap()));
    assert!(totals(&again).len() > 200);
    assert!(compressed.len() < plain.len() / 4);
    let protobuf = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;\
                    encoding=delimited,text/plain;q=0.5";
    let (kind, _, body) = ask(protobuf, "identity").await;
    assert!(kind.starts_with("application/vnd.google.protobuf;"), "{kind}");
    assert!(body.windows(14).any(|part| part == b"requests_total"));
}

#[tokio::test]
async fn hostile_labels_come_back_as_they_are_and_a_terminal_obeys_none() {
    let long = "x".repeat(1_000);
    let hostile = [
        "<script>alert(1)</script>",
        "\"'`};{=,",
        "two\nlines\r\n\ndata: {}",
        "\u{202e}desrever\u{2066}",
        "\u{1b}[2J\u{7}\0",
        "&amp; %7B +",
        long.as_str(),
    ];
    let routes = routes();
    for (index, route) in hostile.iter().enumerate() {
        routes.with(Route { route, status: 200 }).add(Http::Pass, 1 + index as u64);
    }
    let server = served(&console_of(routes));
    let snapshot = json(server.address(), "/snapshot.json").await;
    let all = snapshot["metrics"][0]["series"].as_array().unwrap();
    assert_eq!(all.len(), hostile.len());
    for (index, route) in hostile.iter().enumerate() {
        let found = all.iter().find(|series| series["labels"]["route"] == **route).unwrap();
        assert_eq!(found["events"]["Pass"]["lifetime"]["count"], 1 + index as u64);
        if route.len() < 1_000 {
            let key = found["key"].as_str().unwrap();
            let path = format!("/snapshot.json?series={}", encoded(key));
            assert_eq!(json(server.address(), &path).await["series"]["labels"]["route"], **route);
        }
    }

    let shown = text(get(server.address(), "/text").await).await;
    let obeyed = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{2069}').contains(&c);
    assert!(!shown.contains(obeyed), "{shown:?}");
    // A head of two lines, two lines of the metric, and a line for each series.
    assert_eq!(shown.lines().count(), 4 + hostile.len(), "{shown}");
    assert!(shown.contains(r"\u{202e}desrever"), "{shown}");
}

#[tokio::test]
async fn metrics_of_all_kinds_are_shown_by_reference_and_shared() {
    let mut console = Console::new("all kinds");
    let (visits, open, most) = (counter(), std::sync::Arc::new(Gauge::from(-3)), Maximum::new());
    visits.add(5);
    most.record(9);
    let window = SlidingWindow::<Http>::builder().build().unwrap();
    window.add(Http::Pass, 2);
    let paths: &'static Paths = Box::leak(Box::new(Paths::new()));
    paths.with(Path { method: Verb::Get, route: "/x" }).window().record(Requests::Rt, 1_500_000);
    console.show("visits", "Visits", visits).unwrap();
    console.show("open", "Open", open).unwrap();
    console.show("most", "Most", std::sync::Arc::new(most)).unwrap();
    console.show("own", "A window", std::sync::Arc::new(window)).unwrap();
    console.show("requests", "By route", field(paths.family(), Endpoint::window)).unwrap();
    let busy = std::sync::Arc::new(InFlight::new());
    let _four = busy.enter(4).owned_by(busy.clone());
    console.show("busy", "Busy", busy).unwrap();
    console.show("load", "Load", from_fn(|| 0.75)).unwrap();
    console.show("absent", "Absent", from_fn(|| f64::NAN)).unwrap();
    console.nanoseconds("Rt");
    let error = console.show("open", "Again", counter()).unwrap_err();
    assert_eq!(error, RegisterError::NameTaken { name: "open".to_owned() });
    assert!(console.show("a b", "No name", counter()).is_err());

    let server = served(&console.build());
    let snapshot = json(server.address(), "/snapshot.json").await;
    let metrics = snapshot["metrics"].as_array().unwrap();
    let names: Vec<_> = metrics.iter().map(|metric| metric["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        ["visits", "open", "most", "own", "requests", "busy", "load", "absent"],
        "the refused series is absent"
    );
    let of = |index: usize| &metrics[index]["series"][0];
    assert_eq!((&of(0)["lifetime"], &of(1)["level"]), (&json!(5), &json!(-3)));
    assert_eq!((&of(2)["value"], &of(3)["events"]["Pass"]["count"]), (&json!(9), &json!(2)));
    assert_eq!((&metrics[5]["form"], &of(5)["level"]), (&json!("gauge"), &json!(4)));
    assert_eq!((&metrics[6]["form"], &of(6)["level"]), (&json!("gauge"), &json!(0.75)));
    assert_eq!(of(7)["level"], json!(null));
    let shown = text(get(server.address(), "/text").await).await;
    let of_functions = ["\nload  0.75\n", "\nabsent  none\n"];
    for line in of_functions {
        assert!(shown.contains(line), "{line:?} in {shown}");
    }
    for line in ["\nbusy  4\n", "\nvisits  5\n", "\nopen  -3\n", "\nmost  9\n", "\nown  Pass 2 ("] {
        assert!(shown.contains(line), "{line:?} in {shown}");
    }
    assert!(shown.contains("requests{method=\"GET\",route=\"/x\"}  "), "{shown}");
}

#[tokio::test]
async fn what_limits_let_through_and_block_is_shown_by_key() {
    static HOURLY: Limits<Path> = Limits::new(1, |_| {
        let hour = Gate::builder(2).interval(Duration::from_secs(3_600));
        hour.buckets(60).build().expect("an hour in sixty buckets")
    });
    for route in ["/x", "/x", "/x", "/strange"] {
        let _ = HOURLY.admit(Path { method: Verb::Get, route }, 1, Duration::ZERO);
    }
    let mut console = Console::new("limits");
    console.show("passed", "Let through", field_count_fn(HOURLY.family(), Limit::passed)).unwrap();
    console.show("blocked", "Refused", field_count_fn(HOURLY.family(), Limit::blocked)).unwrap();
    let server = served(&console.build());
    let shown = text(get(server.address(), "/metrics").await).await;
    for line in [
        "\npassed_total{method=\"GET\",route=\"/x\"} 2\n",
        "\nblocked_total{method=\"GET\",route=\"/x\"} 1\n",
        "\npassed_total{overflow=\"true\"} 1\n",
    ] {
        assert!(shown.contains(line), "{line:?} in {shown}");
    }
}

#[tokio::test]
async fn mounted_it_answers_no_name_that_it_was_not_given() {
    let mut console = Console::new("shop");
    console.show("visits", "Visits", counter()).unwrap();
    console.host("shop.example");
    let app = Router::new().nest_service("/console", console.build());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(async move { axum::serve(listener, app).await });
    for (host, status) in [
        ("localhost:8080", StatusCode::OK),
        ("10.1.2.3", StatusCode::OK),
        ("shop.example", StatusCode::OK),
        ("evil.example", StatusCode::MISDIRECTED_REQUEST),
        ("localhost.evil.example", StatusCode::MISDIRECTED_REQUEST),
    ] {
        for path in ["/", "/text", "/snapshot.json", "/events"] {
            let mut asked = request(Method::GET, &format!("/console{path}"));
            asked.headers_mut().insert("host", host.parse().unwrap());
            assert_eq!(send(address, asked).await.status(), status, "{host} {path}");
        }
        // A scraper has a name of its own for it.
        let mut asked = request(Method::GET, "/console/metrics");
        asked.headers_mut().insert("host", host.parse().unwrap());
        assert_eq!(send(address, asked).await.status(), StatusCode::OK, "{host}");
    }
    serving.abort();
}

#[tokio::test]
async fn a_stream_is_not_kept_back_by_a_proxy() {
    let server = served(&console_of(routes()));
    let response = get(server.address(), "/events").await;
    assert_eq!(response.headers()["x-accel-buffering"], "no");
}

#[tokio::test]
async fn a_service_mounts_it_where_it_likes() {
    let routes = routes();
    routes.with(Route { route: "/a", status: 200 }).add(Http::Pass, 1);
    let app = Router::new().nest_service("/deep/console", console_of(routes));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(async move { axum::serve(listener, app).await });
    for path in ["", "/", "/text", "/metrics", "/snapshot.json"] {
        let path = format!("/deep/console{path}");
        assert_eq!(get(address, &path).await.status(), StatusCode::OK, "{path}");
    }
    assert_eq!(get(address, "/deep/console/none").await.status(), StatusCode::NOT_FOUND);
    assert_eq!(get(address, "/text").await.status(), StatusCode::NOT_FOUND);
    serving.abort();
    let _ = tokio::time::timeout(Duration::from_secs(5), serving).await;
}
