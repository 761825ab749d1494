//! An axum service whose limits are by labels that are known only when it starts: the first
//! argument names the labels, and the header of each.
//!
//! `cargo run -p windrow-tower --example tenants [LABELS]`, and then
//!
//! ```text
//! curl -i localhost:3000/ -H 'x-tenant: acme' -H 'x-region: eu'   two a second: the third is a 429
//! curl -i localhost:3000/ -H 'x-tenant: acme' -H 'x-region: us'   another two
//! ```

use std::env;
use std::sync::LazyLock;

use axum::Router;
use axum::routing::get;
use tokio::net::TcpListener;
use windrow::Gate;
use windrow::labels::RuntimeLabels;
use windrow_tower::{LimitLayer, Limits};

/// The labels and their headers. In a real service, they are a part of its settings.
static LABELS: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let given = env::args().nth(1).filter(|given| given.contains('='));
    let given = given.unwrap_or_else(|| "tenant=x-tenant,region=x-region".into());
    let pairs = given.split(',').filter_map(|pair| pair.split_once('='));
    pairs.map(|(label, header)| (label.to_owned(), header.to_owned())).collect()
});

/// Two a second for each set of values.
static LIMITS: LazyLock<Limits<RuntimeLabels>> = LazyLock::new(|| {
    let names = LABELS.iter().map(|(label, _)| label);
    let limits = Limits::with_names(names, 10_000, |_| {
        Gate::builder(2).buckets(10).build().expect("a second in ten buckets")
    });
    limits.expect("names that differ")
});

fn service() -> Router {
    let limit = LimitLayer::with_values(&LIMITS, |parts, key| {
        for (_, header) in LABELS.iter() {
            let value = parts.headers.get(header).and_then(|value| value.to_str().ok());
            key.push(value.unwrap_or_default()); // empty if the header is missing
        }
        Some(())
    });
    Router::new().route("/", get(|| async { "well\n" })).layer(limit)
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    println!("limits by {:?}", LIMITS.family().names());
    axum::serve(TcpListener::bind("127.0.0.1:3000").await?, service()).await
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::body::Body;
    use axum::http::Request;
    use tower::ServiceExt;
    use windrow_tower::{Rate, Rules};

    use super::*;

    async fn ask(tenant: &str, region: &str) -> u16 {
        let request = Request::get("/").header("x-tenant", tenant).header("x-region", region);
        let request = request.body(Body::empty()).expect("a request");
        service().oneshot(request).await.expect("a response").status().as_u16()
    }

    #[tokio::test]
    async fn each_tenant_has_its_limit_in_each_region() {
        let rate = Rate::new(2).interval(Duration::from_secs(3_600)); // longer than the test
        LIMITS.replace(Rules::builder(rate).build().expect("two an hour")).expect("its clock");
        let of_europe = [ask("acme", "eu").await, ask("acme", "eu").await, ask("acme", "eu").await];
        assert_eq!(of_europe, [200, 200, 429]);
        assert_eq!(ask("acme", "us").await, 200);
        assert_eq!(LIMITS.family().names(), ["tenant", "region"]);
    }
}
