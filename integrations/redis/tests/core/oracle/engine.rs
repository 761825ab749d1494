//! A redis-server of this test's own, and the part of its protocol that a script needs.

use std::fmt::Display;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// A redis-server on loopback, which ends with this value.
pub(super) struct Engine {
    process: Child,
    connection: BufReader<TcpStream>,
}

/// An engine's answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reply {
    Number(i64),
    Text(Option<String>),
    Error(String),
    List(Vec<Reply>),
}

impl Engine {
    /// Starts an engine; `None` if the program is not there.
    pub(super) fn start() -> Option<Engine> {
        loop {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let mut command = Command::new("redis-server");
            command.args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]);
            command.args(["--port", &port.to_string()]).stdout(Stdio::null());
            let mut process = match command.spawn() {
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    println!("skipped: redis-server is not on the path");
                    return None;
                }
                process => process.expect("redis-server starts"),
            };
            while process.try_wait().unwrap().is_none() {
                if let Ok(connection) = TcpStream::connect(("127.0.0.1", port)) {
                    return Some(Engine { process, connection: BufReader::new(connection) });
                }
                thread::sleep(Duration::from_millis(5));
            }
            // Another program was faster to take the port.
        }
    }

    /// Runs a command.
    pub(super) fn run(&mut self, words: &[&dyn Display]) -> Reply {
        let mut text = format!("*{}\r\n", words.len());
        for word in words {
            let word = word.to_string();
            text.push_str(&format!("${}\r\n{word}\r\n", word.len()));
        }
        self.connection.get_mut().write_all(text.as_bytes()).unwrap();
        self.reply()
    }

    fn reply(&mut self) -> Reply {
        let mut line = String::new();
        self.connection.read_line(&mut line).unwrap();
        let (kind, rest) = line.trim_end().split_at(1);
        let number = || rest.parse::<i64>().unwrap();
        match kind {
            ":" => Reply::Number(number()),
            "+" => Reply::Text(Some(rest.to_owned())),
            "-" => Reply::Error(rest.to_owned()),
            "*" => Reply::List((0..number()).map(|_| self.reply()).collect()),
            "$" if number() < 0 => Reply::Text(None),
            "$" => {
                let mut bytes = vec![0; number() as usize + 2];
                self.connection.read_exact(&mut bytes).unwrap();
                bytes.truncate(bytes.len() - 2);
                Reply::Text(Some(String::from_utf8_lossy(&bytes).into_owned()))
            }
            kind => panic!("a reply of the kind {kind}"),
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
