//! Measures one limit of many processes, on an engine that this program starts on the loopback.
//!
//! `cargo run --release -p windrow-redis-lab`, for Linux with a `redis-server`. `--seconds N` is
//! the length of each cell, five unless told otherwise; `--only load` or `--only permit` runs one
//! part.

#[cfg(target_os = "linux")]
mod book;
#[cfg(target_os = "linux")]
mod client;
#[cfg(target_os = "linux")]
mod engine;
#[cfg(target_os = "linux")]
mod load;
#[cfg(target_os = "linux")]
mod permit;

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, client, task] = &arguments[..]
        && client == "--client"
    {
        return client::run(task);
    }
    let parts = ["load", "permit"];
    let options = windrow_benches::terminal::options("windrow-redis-lab", [("seconds", 5)], &parts);
    if options.wants("load") {
        load::run(options.numbers[0] as u64)?;
    }
    if options.wants("permit") {
        permit::run()?;
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("this program is for Linux: its engine ends with it there");
}
