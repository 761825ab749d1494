//! Asks each exporter of metrics what it can do, for the tables in `integrations/exporters.md`.
//! `--write` writes them, otherwise they are compared.
//!
//! An exporter is used through its public interface, with its own metric types, and its answers are
//! bytes. The judge of a feature is the same for all exporters of a table ([`scrape`], [`send`]),
//! and reads the bytes with readers of its own ([`read`]). A feature that an exporter has no call
//! for is looked for in the sources of its packages, too ([`sources`]).

mod facade;
mod http;
mod read;
mod scrape;
mod scraped;
mod send;
mod sent;
mod sources;
mod table;

use std::path::Path;
use std::process::ExitCode;
use std::sync::OnceLock;

use tokio::runtime::Runtime;

fn main() -> ExitCode {
    let is_to_write = std::env::args().nth(1).is_some_and(|argument| argument == "--write");
    let page = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../integrations/exporters.md"));
    let written = match std::fs::read_to_string(page) {
        Ok(written) => written,
        Err(error) => {
            eprintln!("{}: {error}", page.display());
            return ExitCode::FAILURE;
        }
    };
    let tables = [
        ("scrapes", table::of(&scraped::all(), scrape::FEATURES)),
        ("the facade", table::of(&facade::all(), scrape::FEATURES)),
        ("OTLP", table::of(&sent::all(), send::FEATURES)),
    ];
    let mut wanted = written.clone();
    for (name, table) in &tables {
        wanted = table::replaced(&wanted, name, table);
    }
    if wanted == written {
        println!("the tables of integrations/exporters.md are as the probes find them");
    } else if is_to_write {
        std::fs::write(page, wanted).expect("the page can be written");
    } else {
        for line in wanted.lines().filter(|line| !written.lines().any(|other| other == *line)) {
            println!("{line}");
        }
        eprintln!("integrations/exporters.md differs from these rows that the probes found");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Returns the runtime of servers and exporters that need one. They go on to the end.
fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| Runtime::new().expect("a runtime"))
}
