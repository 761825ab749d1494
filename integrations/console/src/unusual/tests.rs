//! Tests of all parts together: over a real window, and over simulated and recorded days.

mod real;
mod replay;
