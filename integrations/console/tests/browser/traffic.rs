//! The traffic of a shop's routes: more by day than by night, with a bad quarter of an hour at the
//! till.

use fastrand::Rng;
use windrow::family::Handle;

use crate::shop::{Http, Method, Request, Shop, Window};

/// The traffic of one method of one route.
struct Traffic {
    method: Method,
    route: &'static str,
    /// Requests a second, at noon.
    rate: f64,
    /// Milliseconds that most take.
    time: f64,
    /// The shares that fail and that are turned away, in percent.
    fails: f64,
    blocked: f64,
}

const fn traffic(
    method: Method,
    route: &'static str,
    rate: f64,
    time: f64,
    fails: f64,
    blocked: f64,
) -> Traffic {
    Traffic { method, route, rate, time, fails, blocked }
}

use Method::{Delete, Get, Post, Put};

const TRAFFIC: [Traffic; 40] = [
    traffic(Get, "/", 61.0, 1.1, 0.0, 0.0),
    traffic(Get, "/account", 4.2, 4.8, 0.02, 0.0),
    traffic(Put, "/account/address", 0.31, 9.2, 0.1, 0.0),
    traffic(Delete, "/account/devices/{id}", 0.04, 7.4, 0.0, 0.0),
    traffic(Get, "/account/invoices", 0.62, 31.0, 0.3, 0.0),
    traffic(Get, "/account/orders", 2.9, 12.0, 0.05, 0.0),
    traffic(Put, "/account/password", 0.05, 88.0, 0.0, 1.0),
    traffic(Get, "/account/wishlist", 1.4, 5.6, 0.0, 0.0),
    traffic(Get, "/api/feed", 7.5, 2.6, 0.0, 3.5),
    traffic(Get, "/api/stock/{sku}", 24.0, 0.7, 0.01, 1.8),
    traffic(Post, "/api/webhooks/bank", 0.9, 16.0, 2.4, 0.0),
    traffic(Get, "/cart", 18.0, 3.3, 0.01, 0.0),
    traffic(Delete, "/cart/items/{id}", 1.1, 3.9, 0.0, 0.0),
    traffic(Post, "/cart/items", 6.7, 4.1, 0.04, 0.0),
    traffic(Put, "/cart/items/{id}", 2.2, 4.0, 0.0, 0.0),
    traffic(Post, "/cart/voucher", 0.7, 8.8, 0.2, 6.0),
    traffic(Get, "/category/{name}", 33.0, 5.1, 0.02, 0.0),
    traffic(Post, "/checkout", 1.9, 140.0, 4.0, 0.4),
    traffic(Get, "/checkout/delivery", 2.3, 22.0, 0.1, 0.0),
    traffic(Post, "/checkout/payment", 1.7, 260.0, 11.0, 0.0),
    traffic(Get, "/checkout/thanks", 1.5, 3.0, 0.0, 0.0),
    traffic(Post, "/contact", 0.08, 45.0, 0.0, 12.0),
    traffic(Get, "/export/orders.csv", 0.06, 1900.0, 1.5, 0.0),
    traffic(Get, "/health", 2.0, 0.2, 0.0, 0.0),
    traffic(Get, "/help/{page}", 1.2, 2.2, 0.0, 0.0),
    traffic(Get, "/images/{name}", 92.0, 0.5, 0.0, 0.0),
    traffic(Post, "/login", 2.6, 71.0, 0.1, 9.0),
    traffic(Post, "/logout", 0.8, 1.9, 0.0, 0.0),
    traffic(Post, "/newsletter", 0.12, 11.0, 0.0, 2.0),
    traffic(Get, "/offers", 9.4, 4.4, 0.0, 0.0),
    traffic(Get, "/product/{id}", 47.0, 6.2, 0.03, 0.0),
    traffic(Get, "/product/{id}/reviews", 12.0, 9.9, 0.05, 0.0),
    traffic(Post, "/product/{id}/reviews", 0.09, 15.0, 0.0, 5.0),
    traffic(Get, "/recommended", 21.0, 18.0, 0.6, 0.0),
    traffic(Post, "/register", 0.22, 96.0, 0.0, 3.0),
    traffic(Post, "/returns", 0.14, 34.0, 0.0, 0.0),
    traffic(Get, "/search", 28.0, 42.0, 0.8, 0.2),
    traffic(Get, "/search/suggest", 55.0, 3.6, 0.0, 1.1),
    traffic(Get, "/shops/nearby", 1.0, 14.0, 0.1, 0.0),
    traffic(Get, "/sitemap.xml", 0.02, 320.0, 0.0, 0.0),
];

/// Serves one route.
pub(crate) struct Door {
    traffic: &'static Traffic,
    window: Handle<Request<'static>, Window>,
    random: Rng,
    /// The part of a request that is still to come.
    rest: f64,
}

impl Door {
    /// One for each route.
    pub(crate) fn all(shop: &Shop) -> Vec<Door> {
        let door = |(traffic, seed): (&'static Traffic, u64)| Door {
            traffic,
            window: shop.route(traffic.method, traffic.route),
            random: Rng::with_seed(seed),
            rest: 0.5,
        };
        TRAFFIC.iter().zip(1..).map(door).collect()
    }

    /// Serves for `seconds` seconds, `before` seconds before noon.
    pub(crate) fn serve(&mut self, before: f64, seconds: f64) {
        // The time of the day as an angle, 0 at noon.
        let hour = before / 86_400.0 * std::f64::consts::TAU;
        let crowd = (0.55 + 0.45 * hour.cos()) * (1.0 + 0.15 * (hour * 9.0).sin());
        let trouble =
            (1_500.0..2_400.0).contains(&before) && self.traffic.route.contains("/checkout");
        let random = &mut self.random;
        let expected = self.traffic.rate * crowd * seconds;
        let spread = expected.sqrt() * (random.f64() + random.f64() - 1.0) * 2.0;
        self.rest += expected + spread;
        while self.rest >= 1.0 {
            self.rest -= 1.0;
            let luck = random.f64() * 100.0;
            let fails = if trouble { 34.0 } else { self.traffic.fails };
            if luck < self.traffic.blocked {
                self.window.add(Http::Block, 1);
            } else {
                self.window.add(Http::Pass, 1);
                if luck < self.traffic.blocked + fails {
                    self.window.add(Http::Exception, 1);
                }
                // Most take about as long as usual, a few much longer.
                let bell = random.f64() + random.f64() + random.f64() - 1.5;
                let slow = if trouble { 5.0 } else { 1.0 };
                let tail = if random.f64() < 0.01 { 3.0 + 5.0 * random.f64() } else { 1.0 };
                let time = self.traffic.time * (bell * 0.9).exp() * slow * tail;
                self.window.record(Http::Rt, (time * 1e6) as u64);
            }
        }
    }
}
