#![doc = include_str!("../README.md")]

// The program.
mod app;
mod arguments;
mod error;
mod live;
mod once;
mod signals;

// Frames, from a console or a file.
mod address;
mod cells;
mod client;
mod events;
#[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
mod files;
#[cfg(not(all(target_os = "linux", target_pointer_width = "64", target_endian = "little")))]
#[path = "files/absent.rs"]
mod files;
mod follow;
mod frame;
mod source;

// The screen.
#[allow(clippy::cast_sign_loss, reason = "of times and levels, which are not negative")]
mod format;
mod legible;
mod model;
mod screen;
mod view;

use arguments::Task;
pub use error::Error;

/// Runs the program with the arguments that follow its name: until the user quits, or with `--once`
/// until one frame has been written to the standard output.
///
/// # Errors
///
/// Returns [`Error`] if the arguments are invalid, the terminal cannot be used, or, with `--once`,
/// no frame comes. Without `--once`, a console that does not answer, or a file that cannot be read,
/// is no error: the program shows that, and tries again.
///
/// ```
/// let error = windrow_top::run(["--once".to_owned()]).unwrap_err();
/// assert_eq!(error.to_string(), "an address is missing: windrow-top HOST:PORT, or FILE");
/// assert_eq!(error.status(), 2);
/// ```
pub fn run(arguments: impl IntoIterator<Item = String>) -> Result<(), Error> {
    match arguments::parse(arguments)? {
        Task::Help => once::print(arguments::HELP),
        Task::Version => once::print(concat!("windrow-top ", env!("CARGO_PKG_VERSION"), "\n")),
        Task::Once(source) => once::run(&source),
        Task::Live(source) => live::run(&source),
    }
}
