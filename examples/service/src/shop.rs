//! The shop: its answers, and the time that they take.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use tokio::time::sleep;

use crate::book::Book;
use crate::counts::{BARN, COUPONS, Coupon, ORDERS, Order, Outcome, PAYMENTS, Payment};

type Answer = (StatusCode, &'static str);

/// The number of orders that are worked on at once; the others are refused.
const PLACES: u64 = 2;

/// The least amount in cents that is refused as invalid.
const MOST_CENTS: u64 = 100_000_000;

/// The longest that `/slow` takes, in milliseconds.
const SLOWEST: u64 = 5_000;

/// The shop's state.
pub(crate) struct Shop {
    requests: AtomicU64,
    pub(crate) book: Arc<Book>,
}

impl Shop {
    pub(crate) fn open() -> Arc<Shop> {
        Arc::new(Shop { requests: AtomicU64::new(0), book: Arc::default() })
    }

    /// Returns the routes.
    pub(crate) fn routes(self: &Arc<Shop>) -> Router {
        Router::new()
            .route("/carts/{id}", get(cart))
            .route("/orders", post(order))
            .route("/coupons/{code}", post(redeem).delete(end_campaign))
            .route("/slow/{milliseconds}", get(slow))
            .fallback(nothing)
            .with_state(Arc::clone(self))
    }

    /// Works for some milliseconds, seldom for ten times as long. Says which piece of work it was.
    async fn work(&self) -> u64 {
        let nth = self.requests.fetch_add(1, Relaxed);
        let scattered = nth.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let times = if scattered.is_multiple_of(97) { 10 } else { 1 };
        sleep(Duration::from_millis(times * (1 + scattered % 8))).await;
        nth
    }
}

/// `GET /carts/{id}`: one in forty fails.
async fn cart(State(shop): State<Arc<Shop>>) -> Answer {
    if shop.work().await % 40 == 39 {
        (StatusCode::INTERNAL_SERVER_ERROR, "the cart lost a wheel\n")
    } else {
        (StatusCode::OK, "a cart full of hay\n")
    }
}

/// `POST /orders`, with an amount of cents: one in thirty cannot be paid.
async fn order(State(shop): State<Arc<Shop>>, cents: String) -> Answer {
    let (outcome, answer) = decide(&shop, &cents).await;
    ORDERS.with(Order { outcome }).increment();
    shop.book.order(outcome);
    answer
}

async fn decide(shop: &Shop, cents: &str) -> (Outcome, Answer) {
    let cents = cents.trim().parse().ok().filter(|cents| *cents < MOST_CENTS);
    let Some(cents) = cents else {
        return (Outcome::Invalid, (StatusCode::BAD_REQUEST, "that is no amount of cents\n"));
    };
    let Some(_place) = BARN.try_enter(1, windrow::AtMost(PLACES)) else {
        return (Outcome::Refused, (StatusCode::TOO_MANY_REQUESTS, "the barn is full\n"));
    };
    if shop.work().await % 30 == 29 {
        // It is counted; at a higher level, a bank that is closed would fill the log.
        tracing::debug!(cents, "a payment failed: the bank is closed");
        return (Outcome::Failed, (StatusCode::SERVICE_UNAVAILABLE, "the bank is closed\n"));
    }
    PAYMENTS.record(Payment::Amount, cents);
    shop.book.payment(cents);
    (Outcome::Accepted, (StatusCode::OK, "the hay is yours\n"))
}

/// `POST /coupons/{code}`: redeems one.
///
/// Any code is a campaign here. In a service of yours, look it up first: a thousand made-up codes
/// fill the family, and later campaigns count together in its overflow series.
async fn redeem(Path(code): Path<String>) -> &'static str {
    COUPONS.with(Coupon { code: &code }).increment();
    "a bale for free\n"
}

/// `DELETE /coupons/{code}`: its counts leave the scrape. A later campaign begins at zero.
async fn end_campaign(Path(code): Path<String>) -> Answer {
    if COUPONS.remove(Coupon { code: &code }) {
        (StatusCode::OK, "no more bales for free\n")
    } else {
        (StatusCode::NOT_FOUND, "no such campaign\n")
    }
}

/// `GET /slow/{milliseconds}`: takes that time, at most 5 s.
async fn slow(Path(milliseconds): Path<u64>) -> &'static str {
    sleep(Duration::from_millis(milliseconds.min(SLOWEST))).await;
    "good hay takes its time\n"
}

/// Answers any other path.
async fn nothing() -> Answer {
    (StatusCode::NOT_FOUND, "no hay here\n")
}
