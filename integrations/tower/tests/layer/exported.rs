//! Routes as a scrape shows them.

use std::time::Duration;

use windrow::export::field;
use windrow_prometheus::Exposition;
use windrow_tower::{Endpoint, Http, Method, Route, Routes};

#[test]
fn times_of_routes_are_in_seconds_and_requests_in_flight_are_not() {
    static ROUTES: Routes = Routes::with_constructor(10, Endpoint::default);
    let mut metrics = Exposition::new();
    metrics.register("http", "Requests", field(ROUTES.family(), Endpoint::window)).unwrap();
    {
        let cart = ROUTES.with(Route { method: Method::Get, route: "/cart" });
        cart.window().add(Http::Request, 1);
        cart.window().record(Http::Rt, Duration::from_micros(37_281));
    }
    let text = metrics.to_string();
    let of = |name: &str, event: &str| {
        let series = format!("{name}{{method=\"GET\",route=\"/cart\",event=\"{event}\"}} ");
        text.lines().find_map(|line| line.strip_prefix(&*series)).map(str::to_owned)
    };
    assert_eq!(of("http_values_seconds_sum", "Rt").as_deref(), Some("0.037281"), "{text}");
    assert_eq!(of("http_values_seconds_count", "Rt").as_deref(), Some("1"));
    assert_eq!(of("http_total", "Request").as_deref(), Some("1"));
    assert_eq!(of("http_total", "Rt"), None, "it is counted as a request");
}
