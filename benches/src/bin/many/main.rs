//! The cost of being many: `many DIRECTORY [--most N] [--only PART]` writes a page with a table for
//! each part, and a picture of each column, into the directory.
//!
//! `cargo run --release -p windrow-benches --features limits --bin many -- DIRECTORY`. Each decade
//! from 1 to a million, or to `--most N`, is measured once. Where things are few, a thousand are
//! made in several sets. Bytes are counted apart from times, since a count makes an allocation
//! longer.

mod asked;
mod keys;
mod page;
mod part;
mod series;
mod windows;

use std::error::Error;

use lexopt::Parser;

fn main() -> Result<(), Box<dyn Error>> {
    let asked = asked::asked(Parser::from_env())?;
    part::HEAP.stop(true);
    page::write(&asked)
}
