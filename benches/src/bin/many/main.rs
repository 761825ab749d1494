//! The cost of being many: `cargo run --release -p windrow-benches --features limits --bin many`;
//! `--most N` stops at that decade, `--only PART` prints one part.

mod keys;
mod series;
mod windows;

use cpu_time::ThreadTime;

use lexopt::Arg::Long;
use lexopt::{Parser, ValueExt};
use windrow_benches::heap::Counting;
use windrow_benches::terminal::print_caption;

#[global_allocator]
static HEAP: Counting = Counting::new();

/// Prints the table of these decades.
type Print = fn(&[usize]);

/// The parts, by their names.
const PARTS: [(&str, Print); 3] =
    [("series", series::print), ("windows", windows::print), ("keys", keys::print)];

/// Returns the greatest decade, and the name of the only part.
fn options() -> Result<(usize, Option<String>), lexopt::Error> {
    let (mut most, mut only) = (1_000_000, None);
    let mut arguments = Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("most") => most = arguments.value()?.parse()?,
            Long("only") => only = Some(arguments.value()?.string()?),
            other => return Err(other.unexpected()),
        }
    }
    if most < 1_000 {
        return Err("--most must be at least 1000".into());
    }
    let names = PARTS.map(|(name, _)| name);
    if only.as_ref().is_some_and(|only| !names.contains(&only.as_str())) {
        return Err(format!("the parts are {names:?}").into());
    }
    Ok((most, only))
}

/// Returns the processor time of `work`, divided by the number of `times` that it does something,
/// in nanoseconds.
fn nanos(times: usize, work: impl FnOnce()) -> f64 {
    let begun = ThreadTime::now();
    work();
    begun.elapsed().as_nanos() as f64 / times as f64
}

fn main() {
    let (most, only) = match options() {
        Ok(options) => options,
        Err(wrong) => {
            eprintln!("many: {wrong}");
            std::process::exit(2);
        }
    };
    HEAP.stop(true);
    print_caption("many");
    let decades: Vec<_> =
        [1_000, 10_000, 100_000, 1_000_000].into_iter().filter(|count| *count <= most).collect();
    let chosen = |name: &str| only.as_ref().is_none_or(|only| only == name);
    PARTS.iter().filter(|(name, _)| chosen(name)).for_each(|(_, print)| print(&decades));
}
