//! A real engine in a folder of its own, which ends with the test, also when that panics or is
//! killed.

use std::env;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use redis::{Connection, FromRedisValue};
use tempfile::TempDir;

/// A long time, for what will come at once.
pub(crate) const LONG: Duration = Duration::from_secs(20);

/// The engines that are here: `redis-server`, and `valkey-server` or what `VALKEY_SERVER` names.
///
/// Without an engine the test says so, and is over.
pub(crate) fn engines() -> Vec<String> {
    let valkey = env::var("VALKEY_SERVER").unwrap_or_else(|_| "valkey-server".into());
    let is_there = |program: &String| {
        let mut command = Command::new(program);
        command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let found: Vec<String> = ["redis-server".into(), valkey].into_iter().filter(is_there).collect();
    if found.is_empty() {
        eprintln!("NOT RUN: there is no `redis-server` here, and no `valkey-server`");
    }
    found
}

/// Runs a test on each engine that is here, at the same time: most tests wait.
pub(crate) fn on_each(test: impl Fn(&str) + Sync) {
    thread::scope(|scope| {
        for program in engines() {
            let test = &test;
            scope.spawn(move || test(&program));
        }
    });
}

/// One engine, the first that is here.
pub(crate) fn engine() -> Option<Server> {
    engines().first().map(|program| Server::start(program, &[]))
}

/// A running engine.
pub(crate) struct Server {
    process: Child,
    port: u16,
    program: String,
    options: Vec<String>,
    folder: TempDir,
}

impl Server {
    /// Starts an engine that keeps nothing on disk, and waits until it answers.
    pub(crate) fn start(program: &str, options: &[&str]) -> Server {
        let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
        let folder = tempfile::tempdir().expect("there is room");
        let port = free_port();
        let process = spawn(program, port, &options, folder.path());
        let server = Server { process, port, program: program.to_owned(), options, folder };
        server.wait();
        server
    }

    /// Kills the engine, and starts an empty one on the same port.
    pub(crate) fn restart(&mut self) {
        self.kill();
        self.revive();
    }

    /// Starts an empty engine where one was killed.
    pub(crate) fn revive(&mut self) {
        self.process = spawn(&self.program, self.port, &self.options, self.folder.path());
        self.wait();
    }

    /// Kills the engine.
    pub(crate) fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// Stops the engine (`SIGSTOP`), or lets it go on.
    pub(crate) fn stop(&self, is_stopped: bool) {
        let signal = if is_stopped { libc::SIGSTOP } else { libc::SIGCONT };
        // SAFETY: it sends a signal to a child that was not waited for.
        assert_eq!(unsafe { libc::kill(self.process.id().cast_signed(), signal) }, 0);
    }

    pub(crate) fn program(&self) -> &str {
        &self.program
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn url(&self) -> String {
        url(self.port)
    }

    /// Returns a connection of the test's own.
    pub(crate) fn connection(&self) -> Connection {
        let client = redis::Client::open(self.url()).expect("the address is in order");
        client.get_connection_with_timeout(LONG).expect("the engine is up")
    }

    /// Has the engine do a command, of words between spaces.
    pub(crate) fn command<T: FromRedisValue>(&self, words: &str) -> T {
        let mut words = words.split(' ');
        let mut command = redis::cmd(words.next().expect("a word"));
        command.arg(words.collect::<Vec<_>>());
        command.query(&mut self.connection()).expect("the command is in order")
    }

    /// Waits until the engine answers.
    fn wait(&self) {
        let client = redis::Client::open(self.url()).expect("the address is in order");
        until("the engine answers", || {
            let connection = client.get_connection_with_timeout(Duration::from_secs(1));
            let said = connection.and_then(|mut it| redis::cmd("PING").query::<String>(&mut it));
            said.is_ok() || said.is_err_and(|error| error.code() == Some("NOAUTH"))
        });
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Returns the address of a port of the loopback.
pub(crate) fn url(port: u16) -> String {
    format!("redis://127.0.0.1:{port}/")
}

/// Returns a port at which no program listens. (Never 6379, where a system's own engine may run:
/// the system gives ports from far above.)
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
    listener.local_addr().expect("it has an address").port()
}

/// Waits until something holds.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < LONG, "{what}: not within {LONG:?}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Lets a child end when its parent does, however that ends.
pub(crate) fn bound(command: &mut Command) -> &mut Command {
    // SAFETY: the closure makes one system call, which a child may make.
    #[cfg(target_os = "linux")]
    unsafe {
        command.pre_exec(|| match libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        })
    };
    command
}

fn spawn(program: &str, port: u16, options: &[String], folder: &Path) -> Child {
    let mut command = Command::new(program);
    command
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""])
        .args(["--appendonly", "no", "--repl-diskless-sync-delay", "0"])
        .arg("--dir")
        .arg(folder)
        .args(options)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    bound(&mut command).spawn().expect("the engine was found before")
}
