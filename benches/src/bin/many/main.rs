//! The cost of being many: `cargo run --release -p windrow-benches --features limits --bin many`;
//! `--most N` stops at that decade.

mod keys;

use lexopt::Arg::Long;
use lexopt::{Parser, ValueExt};
use windrow_benches::heap::Counting;
use windrow_benches::terminal::print_caption;

#[global_allocator]
static HEAP: Counting = Counting::new();

/// Returns the greatest decade.
fn options() -> Result<usize, lexopt::Error> {
    let mut most = 1_000_000;
    let mut arguments = Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("most") => most = arguments.value()?.parse()?,
            other => return Err(other.unexpected()),
        }
    }
    if most < 1_000 { Err("--most must be at least 1000".into()) } else { Ok(most) }
}

fn main() {
    let most = match options() {
        Ok(most) => most,
        Err(wrong) => {
            eprintln!("many: {wrong}");
            std::process::exit(2);
        }
    };
    print_caption("many");
    let decades: Vec<_> =
        [1_000, 10_000, 100_000, 1_000_000].into_iter().filter(|count| *count <= most).collect();
    keys::print(&decades);
}
