//! A service within a layer.

/// A service within one of the layers.
#[derive(Clone, Copy, Debug)]
pub struct Layered<S, Y> {
    pub(crate) inner: S,
    pub(crate) layer: Y,
}
