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
    use lexopt::Arg::Long;
    use lexopt::{Parser, ValueExt};

    let (mut only, mut client, mut seconds) = (None, None, 5);
    let mut arguments = Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("only") => only = Some(arguments.value()?.string()?),
            Long("client") => client = Some(arguments.value()?.string()?),
            Long("seconds") => seconds = arguments.value()?.parse()?,
            other => return Err(other.unexpected().into()),
        }
    }
    if let Some(task) = client {
        return client::run(&task);
    }
    windrow_benches::terminal::print_caption_of("cargo run --release -p windrow-redis-lab");
    let is_wanted = |part: &str| only.as_deref().is_none_or(|only| only == part);
    if is_wanted("load") {
        load::run(seconds)?;
    }
    if is_wanted("permit") {
        permit::run()?;
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("this program is for Linux: its engine ends with it there");
}
