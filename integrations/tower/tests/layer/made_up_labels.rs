//! Labels that clients make up do not fill the memory.

use std::future::ready;

use axum::Router;
use axum::body::Body;
use axum::routing::get;
use http::{Request, Response};
use http_body_util::Empty;
use tower::{Layer, ServiceExt, service_fn};
use windrow_tower::{Endpoint, Http, MetricsLayer, Routes};

use crate::{Nothing, all, matched, routes};

#[tokio::test]
async fn hostile_paths_and_methods_make_no_series() {
    let routes = routes();
    let app = Router::new()
        .route("/carts/{id}", get(|| async { "a cart" }))
        .layer(MetricsLayer::new(routes, matched));
    for number in 0..2_000 {
        let paths = [
            format!("/carts/{number}"),
            format!("/carts/{number}/x"),
            format!("/%00{number}?{number}"),
        ];
        for path in paths {
            let request = Request::builder().method(format!("M{number}").as_str()).uri(path);
            let request = request.body(Body::empty()).expect("a request");
            app.clone().oneshot(request).await.expect("a response");
        }
    }
    let series: Vec<_> =
        all(routes).into_iter().map(|(labels, counts)| (labels, counts.pass)).collect();
    assert_eq!(
        series,
        [("OTHER /carts/{id}".to_owned(), 2_000), ("OTHER unmatched".to_owned(), 4_000)]
    );
    assert_eq!(routes.family().refused(), 0);
}

#[tokio::test]
async fn raw_paths_fill_the_family_and_no_more() {
    let routes: &'static Routes =
        Box::leak(Box::new(Routes::with_constructor(10, Endpoint::default)));
    let layer = MetricsLayer::new(routes, |parts| Some(parts.uri.path()));
    let inner = service_fn(|_| ready(Ok::<_, ()>(Response::new(Empty::<&[u8]>::new()))));
    for number in 0..1_000 {
        let request =
            Request::builder().uri(format!("/{number}")).body(Nothing::new()).expect("a request");
        layer.layer(inner).oneshot(request).await.expect("a response");
    }
    assert_eq!((routes.family().len(), routes.family().refused()), (10, 990));
    let all = all(routes);
    assert_eq!((all.len(), all["true"].pass), (11, 990));
    assert_eq!(
        (routes.family().lifetime().0.stats(Http::Request).count, routes.family().lifetime().1),
        (1_000, 0)
    );
}
