//! A page for the consoles of several processes: see `windrow-console --help`.

use std::error::Error;
use std::ffi::OsString;
use std::process::ExitCode;
use std::thread;

use windrow_console::{Fleet, ServeError, Server};

const HELP: &str = "\
Shows the windrow consoles of several processes as one page.

  windrow-console [OPTION]... [HOST:PORT[/PATH]]...

A HOST is an address, or a name that stands for all its addresses.

  --file FILE         further consoles, one a line; read every second
  --name NAME         the name on the page (default: fleet)
  --listen ADDRESS    where the page is served (default: 127.0.0.1:9000)
  --beyond-loopback   lets other machines reach it; there is no password
  --help              prints this
";

/// The order that the arguments give.
struct Asked {
    fleet: Fleet,
    listen: String,
    beyond_loopback: bool,
}

/// Reads the arguments; `None` if they ask for help.
fn asked(arguments: impl Iterator<Item = OsString>) -> Result<Option<Asked>, Box<dyn Error>> {
    let (mut name, mut listen, mut file) = ("fleet".to_owned(), "127.0.0.1:9000".to_owned(), None);
    let (mut targets, mut beyond_loopback) = (Vec::new(), false);
    let arguments: Result<Vec<String>, OsString> = arguments.map(OsString::into_string).collect();
    let mut arguments = arguments
        .map_err(|argument| format!("an argument is not Unicode: {}", argument.display()))?
        .into_iter();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--file" => file = Some(value()?),
            "--name" => name = value()?,
            "--listen" => listen = value()?,
            "--beyond-loopback" => beyond_loopback = true,
            "--help" | "-h" => return Ok(None),
            option if option.starts_with('-') => {
                return Err(format!("there is no option {option}: see --help").into());
            }
            _ => targets.push(argument),
        }
    }
    if targets.is_empty() && file.is_none() {
        return Err("there are no consoles to read: see --help".into());
    }
    let mut fleet = Fleet::new(name);
    for target in targets {
        fleet.target(&target)?;
    }
    if let Some(file) = file {
        fleet.targets_file(file);
    }
    Ok(Some(Asked { fleet, listen, beyond_loopback }))
}

fn serve(asked: &Asked) -> Result<Server, Box<dyn Error>> {
    let Asked { fleet, listen, beyond_loopback } = asked;
    let server =
        if *beyond_loopback { fleet.serve_beyond_loopback(listen) } else { fleet.serve(listen) };
    match server {
        Err(ServeError::BeyondLoopback { address }) => {
            let rule = "can be reached from other machines: --beyond-loopback allows that";
            Err(format!("{address} {rule}").into())
        }
        server => Ok(server?),
    }
}

fn main() -> ExitCode {
    let started = match asked(std::env::args_os().skip(1)) {
        Ok(Some(asked)) => serve(&asked),
        Ok(None) => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(error) => Err(error),
    };
    match started {
        Ok(server) => {
            println!("http://{}/", server.address());
            loop {
                thread::park(); // until a signal ends the process
            }
        }
        Err(error) => {
            eprintln!("windrow-console: {error}");
            ExitCode::FAILURE
        }
    }
}
