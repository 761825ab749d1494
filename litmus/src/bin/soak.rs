//! Everything at once, for minutes: exact at every rest, and no more held in the end than after the
//! warm-up. The exit status is 1 if not.

use std::env;
use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn soak(minutes: f64) -> Result<(), String> {
    windrow_litmus::soak::run(std::time::Duration::from_secs_f64(minutes * 60.0))
}

#[cfg(not(target_os = "linux"))]
fn soak(_: f64) -> Result<(), String> {
    Err("what a process holds is read from /proc, which Linux alone has".to_owned())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let minutes = match arguments[..] {
        [] => Some(1.0),
        ["--minutes", minutes] => minutes.parse().ok(),
        _ => None,
    };
    windrow_litmus::end_on_panic();
    let outcome = match minutes {
        Some(minutes) if (0.1..1e6).contains(&minutes) => soak(minutes),
        _ => {
            eprintln!("usage: soak [--minutes N], N at least 0.1; 1 unless said");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(wrong) => {
            eprintln!("soak: {wrong}");
            ExitCode::FAILURE
        }
    }
}
