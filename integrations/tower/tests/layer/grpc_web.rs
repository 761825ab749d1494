//! gRPC-Web, by tonic-web's own layer: the status is in the last frame of the body.

use std::time::Duration;

use base64::engine::{Engine, general_purpose::STANDARD};
use bytes::Bytes;
use http::{HeaderValue, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use tonic::service::Routes as Services;
use tonic_web::GrpcWebLayer;
use tower::{Layer, ServiceExt};
use windrow::Breaker;
use windrow::breaker::Settings;
use windrow_tower::{BreakerLayer, LimitLayer, MetricsLayer};

use crate::grpc::{Codes, MANY, ONE};
use crate::limited::{client, limits};
use crate::{Counts, all, routes};

const KINDS: [&str; 3] =
    ["application/grpc-web", "application/grpc-web+proto", "application/grpc-web-text"];

/// A message of one byte: a flag, its length, and itself.
fn message(code: u8, is_text: bool) -> Bytes {
    let body = [0, 0, 0, 0, 1, code];
    if is_text { STANDARD.encode(body).into() } else { Bytes::copy_from_slice(&body) }
}

fn request(path: &str, kind: &'static str, code: u8) -> Request<Full<Bytes>> {
    Request::post(path)
        .header("content-type", kind)
        .header("accept", kind)
        .header("client", kind)
        .body(Full::new(message(code, kind.ends_with("text"))))
        .expect("a request")
}

#[tokio::test]
async fn a_status_that_is_the_servers_fault_is_an_exception() {
    for kind in KINDS {
        for (path, code) in
            [ONE, MANY].into_iter().flat_map(|path| (0..=16).map(move |it| (path, it)))
        {
            let routes = routes();
            let layer = MetricsLayer::new(routes, |parts| Some(parts.uri.path()));
            let service = layer.layer(GrpcWebLayer::new().layer(Services::new(Codes)));
            let response = service.oneshot(request(path, kind, code)).await.expect("a response");
            assert_eq!(response.status(), 200);
            let at_head = all(routes)[&format!("POST {path}")].in_flight;
            let body = response.into_body().collect().await.expect("a body").to_bytes();
            let is_fault = [2, 4, 12, 13, 14, 15].contains(&code);
            let counts = Counts { exception: is_fault.into(), ..Counts::successes(1) };
            assert_eq!(at_head, u64::from(!body.is_empty()), "{kind} {path} {code}");
            assert_eq!(all(routes)[&format!("POST {path}")], counts, "{kind} {path} {code}");
        }
    }
}

#[tokio::test]
async fn a_breaker_is_told_by_the_last_frame() {
    for kind in KINDS {
        let breaker: &Breaker = Box::leak(Box::new(Breaker::of(Settings::last_calls(4))));
        let layer = BreakerLayer::new(move |_| Some(breaker));
        let service = layer.layer(GrpcWebLayer::new().layer(Services::new(Codes)));
        for _ in 0..10 {
            for code in [0, 5, 8] {
                let response = service.clone().oneshot(request(MANY, kind, code)).await.unwrap();
                assert!(response.into_body().collect().await.is_ok());
            }
        }
        assert!(breaker.try_call().is_ok(), "{kind}");
        for _ in 0..4 {
            let response = service.clone().oneshot(request(MANY, kind, 14)).await.unwrap();
            assert!(response.into_body().collect().await.is_ok());
        }
        assert!(breaker.try_call().is_err(), "{kind}");
        let refused = service.clone().oneshot(request(MANY, kind, 0)).await.unwrap();
        assert_eq!(refused.headers()["content-type"], kind);
        assert_eq!(refused.headers()["grpc-status"], "14");
    }
}

#[tokio::test]
async fn a_refusal_has_the_clients_own_content_type() {
    for kind in KINDS {
        limits!(CLIENTS, CLOCK: 10, |_| 1);
        let layer = LimitLayer::new(&CLIENTS, client);
        let service = layer.layer(GrpcWebLayer::new().layer(Services::new(Codes)));
        let admitted = service.clone().oneshot(request(ONE, kind, 0)).await.expect("a response");
        assert!(!admitted.into_body().collect().await.expect("a body").to_bytes().is_empty());
        CLOCK.advance(Duration::from_millis(500));
        let refused = service.oneshot(request(ONE, kind, 0)).await.expect("a response");
        assert_eq!(
            (refused.status(), &refused.headers()["content-type"]),
            (StatusCode::OK, &HeaderValue::from_static(kind))
        );
        assert_eq!(refused.headers()["grpc-status"], "8");
        assert_eq!(refused.headers()["grpc-retry-pushback-ms"], "500");
        assert!(refused.into_body().collect().await.expect("a body").to_bytes().is_empty());
    }
}
