//! The labels of requests.

use windrow::Family;

use crate::endpoint::Endpoint;

/// The route of requests that matched no route.
pub const UNMATCHED: &str = "unmatched";

windrow::labels! {
    /// A request's method: one of those that HTTP defines, or `Other`, since clients may make up
    /// any number of them.
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

    /// The labels of requests. The route is the matched one, such as `/carts/{id}`, or
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

/// A family with an [`Endpoint`] for each method of each route, for use in a static.
///
/// Read it as any [`Family`]: by iteration, by labels, or by its total.
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
/// With windows of another geometry, and a limit of 200 series:
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
