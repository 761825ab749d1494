//! The settings of a rate-limiting layer about its responses.

use std::time::Duration;

use windrow::labels::Labels;

use crate::cap::Cap;
use crate::limit::fields::LimitFields;
use crate::limit::layer::LimitLayer;

/// About responses.
impl<L: Labels + 'static, K, W, T, G: Send + Sync> LimitLayer<L, K, W, T, G> {
    /// Returns the layer with the header fields `RateLimit-Policy` and `RateLimit`: see
    /// [`LimitFields`]. By default, no fields but `Retry-After` are written.
    ///
    /// ```
    /// # use windrow::{Gate, labels};
    /// # use windrow_tower::{LimitFields, LimitLayer, Limits};
    /// # labels! { pub struct Client { client: u32 } }
    /// # static CLIENTS: Limits<Client> =
    /// #     Limits::new(1_000, |_| Gate::builder(100).build().expect("100"));
    /// let layer = LimitLayer::new(&CLIENTS, |_| Some(Client { client: 7 }));
    /// let layer = layer.fields(LimitFields::new("client"));
    /// # let _ = tower_layer::Layer::layer(&layer, ());
    /// ```
    pub fn fields(mut self, fields: LimitFields) -> LimitLayer<L, K, W, T, G> {
        self.fields = Some(fields);
        self
    }

    /// Returns the layer with another bound on the bytes that it reads of a refused request's body,
    /// and discards; 65 536 by default, and none with 0.
    ///
    /// A client of HTTP/1.1 that is still sending would otherwise find its connection broken, and
    /// not see the answer. Reading lasts as long as the client takes to send, so give the server a
    /// timeout of requests. Of a longer body no more is read, and nothing of one in HTTP/2, nor of
    /// one whose client waits for `100 Continue`. Around a client that sends streams, give it 0.
    ///
    /// ```
    /// # use windrow::{Gate, labels};
    /// # use windrow_tower::{LimitLayer, Limits};
    /// # labels! { pub struct Client { client: u32 } }
    /// # static CLIENTS: Limits<Client> =
    /// #     Limits::new(1_000, |_| Gate::builder(100).build().expect("100"));
    /// let layer = LimitLayer::new(&CLIENTS, |_| Some(Client { client: 7 }));
    /// let layer = layer.discard(1_000_000); // for uploads
    /// # let _ = tower_layer::Layer::layer(&layer, ());
    /// ```
    pub fn discard(mut self, bytes: u64) -> LimitLayer<L, K, W, T, G> {
        self.discarded = bytes;
        self
    }

    /// Returns the layer with a cap: refused clients are told to come back within `longest`,
    /// rounded up to whole seconds for HTTP. By default there is no cap.
    ///
    /// Some clients give up when they are told a long time, or come back before it. A time beyond
    /// the cap is moved into its upper half, so that clients that would have come back apart still
    /// do. They are too early: as a rule each is refused again, once in every half to whole cap,
    /// and stands behind those that were refused meanwhile. Then it is chance, and not the line,
    /// which of them is admitted. So the cap should be above the waits that a limit has in ordinary
    /// times; where the order counts, let requests [wait](Self::wait) here.
    ///
    /// # Panics
    ///
    /// If `longest` is zero.
    ///
    /// ```
    /// use std::time::Duration;
    /// # use windrow::{Gate, labels};
    /// # use windrow_tower::{LimitLayer, Limits};
    /// # labels! { pub struct Client { client: u32 } }
    /// # static CLIENTS: Limits<Client> =
    /// #     Limits::new(1_000, |_| Gate::builder(100).build().expect("100"));
    /// let layer = LimitLayer::new(&CLIENTS, |_| Some(Client { client: 7 }));
    /// let layer = layer.max_retry_after(Duration::from_secs(60));
    /// # let _ = tower_layer::Layer::layer(&layer, ());
    /// ```
    pub fn max_retry_after(mut self, longest: Duration) -> LimitLayer<L, K, W, T, G> {
        self.cap = Cap::of(longest);
        self
    }
}
