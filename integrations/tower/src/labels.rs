//! The labels of requests.

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
