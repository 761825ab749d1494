//! The metrics of the service: each is a static, and stands in one line of the list below.

use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use windrow::export::{Catalog, field};
use windrow::{Counter, Events, Family, Gauge, InFlight, SlidingWindow};
use windrow_console::{Console, ConsoleService, RegisterError};
use windrow_tower::{Endpoint, Routes};

windrow::labels! {
    /// The outcome of an order.
    pub(crate) enum Outcome {
        Accepted = "accepted",
        /// The body is not an amount: 400.
        Invalid = "invalid",
        /// All places were taken: 429.
        Refused = "refused",
        /// It could not be paid: 503.
        Failed = "failed"
    }

    /// The label of orders.
    pub(crate) struct Order { outcome: Outcome }

    /// The label of coupons.
    pub(crate) struct Coupon { code: str }

    /// The label of the build.
    struct Build { version: str }
}

/// All of them.
pub(crate) const OUTCOMES: [Outcome; 4] =
    [Outcome::Accepted, Outcome::Invalid, Outcome::Refused, Outcome::Failed];

windrow::events! {
    /// The events of payments.
    pub(crate) enum Payment {
        /// The amount paid for an order, in cents.
        Amount: Value,
    }
}

/// Requests, by method and matched route. The layer counts them.
pub(crate) static ROUTES: Routes = Routes::with_constructor(1_000, || Endpoint::new(window()));

/// Orders by outcome.
pub(crate) static ORDERS: Family<Order, Counter> = Family::new();

/// Coupons that were redeemed, by code, until their campaign ends.
pub(crate) static COUPONS: Family<Coupon, Counter> = Family::new();

/// Orders that are worked on.
pub(crate) static BARN: InFlight = InFlight::new();

/// Payments.
pub(crate) static PAYMENTS: LazyLock<SlidingWindow<Payment>> = LazyLock::new(window);

/// The start of the process, in seconds since 1970: when it changes, the counters begin at zero.
static STARTED: Gauge = Gauge::new();

/// 1, by the version of the program: numbers of two versions may differ in kind.
static BUILD: Family<Build, Gauge> = Family::new();

/// Returns the last minute by the second, the last hour by the minute, the last day by the hour.
fn window<E: Events>() -> SlidingWindow<E> {
    let minute = SlidingWindow::builder().interval(Duration::from_mins(1)).buckets(60);
    let hour_and_day = minute.tier(Duration::from_mins(1), 60).tier(Duration::from_hours(1), 24);
    hour_and_day.build().expect("each tier is a multiple of the finer")
}

/// Returns all of it: on a page, as text, as JSON, and as Prometheus scrapes it.
pub(crate) fn console() -> Result<ConsoleService, RegisterError> {
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    STARTED.add(now.as_secs().cast_signed());
    BUILD.with(Build { version: env!("CARGO_PKG_VERSION") }).add(1);
    let mut all = Console::new("shop");
    let requests = field(ROUTES.family(), Endpoint::window);
    all.show("shop_requests", "Requests by method and route", requests)?;
    let in_flight = field(ROUTES.family(), Endpoint::in_flight);
    all.show("shop_in_flight", "Requests in flight by method and route", in_flight)?;
    all.show("shop_orders", "Orders by outcome", &ORDERS)?;
    all.show("shop_coupons", "Coupons redeemed in campaigns that go on", &COUPONS)?;
    all.show("shop_orders_in_work", "Orders that are worked on", &BARN)?;
    all.show("shop_payments", "Payments, in cents", &*PAYMENTS)?;
    all.show("shop_start_time_seconds", "When the process began, since 1970", &STARTED)?;
    all.show("shop_build_info", "1, by the version of the program", &BUILD)?;
    let mut process = Catalog::new();
    windrow_process::add_to(&mut process).expect("the catalog is empty");
    all.show_all(&process)?;
    Ok(all.build())
}
