//! The service's own counts, one exact atomic each, to be compared at the end.
//!
//! A service of yours needs none of this.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use windrow_tower::Http;

use crate::counts::{ORDERS, OUTCOMES, Order, Outcome, PAYMENTS, Payment, ROUTES};
use crate::verdict::Row;

/// The book.
#[derive(Default)]
pub(crate) struct Book {
    requests: AtomicU64,
    failures: AtomicU64,
    orders: [AtomicU64; OUTCOMES.len()],
    payments: AtomicU64,
    cents: AtomicU64,
}

impl Book {
    pub(crate) fn order(&self, outcome: Outcome) {
        self.orders[outcome as usize].fetch_add(1, Relaxed);
    }

    pub(crate) fn payment(&self, cents: u64) {
        self.payments.fetch_add(1, Relaxed);
        self.cents.fetch_add(cents, Relaxed);
    }

    /// Returns this book beside what windrow counted. Call it when no request is running.
    pub(crate) fn compare(&self) -> Vec<Row> {
        let row = |name: &str, own: &AtomicU64, counted| Row {
            name: name.to_owned(),
            expected: own.load(Relaxed),
            counted,
            is_adds: true,
        };
        let routes = |event| {
            ROUTES.family().iter().map(|series| series.window().lifetime(event).count).sum()
        };
        let mut rows = vec![
            row("requests", &self.requests, routes(Http::Request)),
            row("failures", &self.failures, routes(Http::Exception)),
        ];
        for (outcome, own) in OUTCOMES.into_iter().zip(&self.orders) {
            let name = format!("orders {outcome:?}").to_lowercase();
            rows.push(row(&name, own, ORDERS.with(Order { outcome }).sum()));
        }
        let paid = PAYMENTS.lifetime(Payment::Amount);
        rows.push(row("payments", &self.payments, paid.count));
        rows.push(Row { is_adds: false, ..row("payments, in cents", &self.cents, paid.sum) });
        rows
    }
}

/// Returns a middleware around the routes that keeps the book: of all requests, and of answers from
/// 500.
pub(crate) async fn keep(State(book): State<Arc<Book>>, request: Request, next: Next) -> Response {
    book.requests.fetch_add(1, Relaxed);
    let response = next.run(request).await;
    if response.status().is_server_error() {
        book.failures.fetch_add(1, Relaxed);
    }
    response
}
