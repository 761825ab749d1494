//! Small programs, one for each type. Each file is whole, to be copied.
//!
//! ```text
//! cargo run --example first -- static_window
//! ```

use std::error::Error;

mod addresses;
mod durations;
mod run_time_labels;
mod static_window;
mod tasks;
mod two_sets;

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("addresses") => addresses::main(),
        Some("durations") => durations::main()?,
        Some("run_time_labels") => run_time_labels::main()?,
        Some("static_window") => static_window::main(),
        Some("tasks") => tasks::main(),
        Some("two_sets") => two_sets::main()?,
        _ => println!("a name is missing: that of a file in `examples/first`"),
    }
    Ok(())
}
