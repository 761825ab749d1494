//! Measures counters in a mapped file that processes share: adds of one process and of two, opening
//! and reading a file, and a scrape beside Python's multiprocess mode.
//!
//! `cargo run --release -p windrow-mapped-lab`, for Linux. `--only adds`, `--only files` or `--only
//! python` runs one part. All contenders run in turn, round by round; a figure is the median of the
//! rounds' ratios, with the least and the greatest.
//!
//! The last part needs a `python3` that has `prometheus_client`, or the one that `--python PATH`
//! names; without it the part is left out.

#[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
mod adds;
#[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
mod files;
#[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
mod python;

#[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use lexopt::Arg::Long;
    use lexopt::{Parser, ValueExt};

    let (mut only, mut second, mut python) = (None, None, "python3".to_owned());
    let mut arguments = Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("only") => only = Some(arguments.value()?.string()?),
            Long("python") => python = arguments.value()?.string()?,
            Long("second") => second = Some(arguments.value()?),
            other => return Err(other.unexpected().into()),
        }
    }
    if let Some(folder) = second {
        return adds::second(folder.as_ref());
    }
    windrow_benches::terminal::print_caption_of("cargo run --release -p windrow-mapped-lab");
    let is_wanted = |part: &str| only.as_deref().is_none_or(|only| only == part);
    if is_wanted("adds") {
        adds::run()?;
    }
    if is_wanted("files") {
        files::run()?;
    }
    if is_wanted("python") {
        python::run(&python)?;
    }
    Ok(())
}

#[cfg(not(all(target_os = "linux", target_pointer_width = "64", target_endian = "little")))]
fn main() {
    println!("mapped files are those of Linux with pointers of 64 bits");
}
