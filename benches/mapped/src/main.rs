//! Measures counters in a mapped file that processes share: adds of one process and of two, opening
//! and reading a file.
//!
//! `cargo run --release -p windrow-mapped-lab`, for Linux. `--only adds` or `--only files` runs one
//! part. All contenders run in turn, round by round; a figure is the median of the rounds, with the
//! least and the greatest.

#[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
mod adds;
#[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
mod files;

#[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, second, folder] = &arguments[..]
        && second == "--second"
    {
        return adds::second(folder.as_ref());
    }
    let parts = ["adds", "files"];
    let options = windrow_benches::terminal::options("windrow-mapped-lab", [], &parts);
    for (part, run) in parts.into_iter().zip([adds::run, files::run]) {
        if options.wants(part) {
            run()?;
        }
    }
    Ok(())
}

#[cfg(not(all(target_os = "linux", target_pointer_width = "64", target_endian = "little")))]
fn main() {
    println!("mapped files are those of Linux with pointers of 64 bits");
}
