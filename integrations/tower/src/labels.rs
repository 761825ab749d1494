//! What requests are told apart by.

use windrow::Family;

use crate::endpoint::Endpoint;

/// The route of requests that were not matched.
pub const UNMATCHED: &str = "unmatched";

windrow::labels! {
    /// A request's method: one of those that HTTP defines, or `Other`. Clients may make up any
    /// number of them.
    pub enum Method {
        Get = "GET",
        Head = "HEAD",
        Post = "POST",
        Put = "PUT",
        Delete = "DELETE",
        Connect = "CONNECT",
        Options = "OPTIONS",
        Trace = "TRACE",
        Patch = "PATCH",
        Other = "OTHER"
    }

    /// What requests are told apart by. The route is the one that was matched, `/carts/{id}`; or
    /// [`UNMATCHED`].
    pub struct Route { method: Method, route: str }
}

impl From<&http::Method> for Method {
    fn from(method: &http::Method) -> Method {
        match *method {
            http::Method::GET => Method::Get,
            http::Method::HEAD => Method::Head,
            http::Method::POST => Method::Post,
            http::Method::PUT => Method::Put,
            http::Method::DELETE => Method::Delete,
            http::Method::CONNECT => Method::Connect,
            http::Method::OPTIONS => Method::Options,
            http::Method::TRACE => Method::Trace,
            http::Method::PATCH => Method::Patch,
            _ => Method::Other,
        }
    }
}

/// An [`Endpoint`] for each method of each route. It is made to be a static.
///
/// Read it as any [`Family`]: by a walk, by labels, or all in all.
///
/// ```
/// use windrow_tower::{Http, Method, Route, Routes};
///
/// static ROUTES: Routes = Routes::new();
///
/// for series in &ROUTES {
///     let (window, in_flight) = (series.window(), series.in_flight());
///     println!("{:?}: {}/s, {in_flight} now", series.labels(), window.rate(Http::Pass));
/// }
/// let carts = ROUTES.with(Route { method: Method::Get, route: "/carts/{id}" });
/// assert_eq!(carts.window().sum(Http::Exception), 0);
/// ```
///
/// With windows of another geometry, and room for 200 series:
///
/// ```
/// use std::time::Duration;
/// use windrow::SlidingWindow;
/// use windrow_tower::{Endpoint, Routes};
///
/// static ROUTES: Routes = Routes::with_constructor(|| {
///     let builder = SlidingWindow::builder().interval(Duration::from_secs(10)).buckets(10);
///     Endpoint::new(builder.build().expect("ten seconds, ten buckets"))
/// })
/// .limit(200);
/// assert!(ROUTES.is_empty());
/// ```
pub type Routes = Family<Route<'static>, Endpoint>;
