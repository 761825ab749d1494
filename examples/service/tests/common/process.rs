//! The service as a process of its own, which ends with this.

use std::io::{self, BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The longest time of a step of a test, on any machine.
pub(crate) const LONG: Duration = Duration::from_mins(1);

/// A service at work.
pub(crate) struct Process {
    child: Child,
    address: SocketAddr,
    /// The threads that read its output and its errors, so that it never waits for a reader.
    said: Option<[JoinHandle<String>; 2]>,
}

/// The end of a process.
#[derive(Debug)]
pub(crate) struct End {
    /// The exit code; `None` if a signal killed it.
    pub(crate) code: Option<i32>,
    pub(crate) said: String,
    pub(crate) complained: String,
}

impl Process {
    /// Starts it without load, and waits until it listens.
    pub(crate) fn start(arguments: &[&str]) -> Process {
        Process::of(command(), arguments)
    }

    /// Starts a command of it without load, and waits until it listens.
    pub(crate) fn of(command: Command, arguments: &[&str]) -> Process {
        Process::with_log(command, arguments, Stdio::piped())
    }

    /// Starts a command of it with its log there, and waits until it listens.
    pub(crate) fn with_log(mut command: Command, arguments: &[&str], log: Stdio) -> Process {
        command.args(["--no-load", "--lines"]).args(arguments);
        command.stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn().expect("the service starts");
        drop(command); // it has an end of the log too
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped"));
        let address = address(&mut lines);
        let errors = child.stderr.take().map_or_else(|| whole(io::empty()), whole);
        Process { child, address, said: Some([whole(lines), errors]) }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sends a signal: `TERM`, say.
    pub(crate) fn signal(&self, name: &str) {
        let process = self.child.id().to_string();
        let status = Command::new("kill").args(["-s", name, &process]).status();
        assert!(status.is_ok_and(|status| status.success()), "kill -s {name} {process}");
    }

    /// Waits for its end.
    pub(crate) fn end(mut self) -> End {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("it is a child of ours") {
                break status;
            }
            assert!(begun.elapsed() < LONG, "the service does not end");
            thread::sleep(Duration::from_millis(5));
        };
        let said = self.said.take().expect("it ends once");
        let [said, complained] = said.map(|text| text.join().expect("reading does not panic"));
        End { code: status.code(), said, complained }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the service's program. On Linux it is killed when the thread ends that starts it.
pub(crate) fn command() -> Command {
    bound(Command::new(env!("CARGO_BIN_EXE_windrow-service")))
}

/// Returns a program that does not outlive the thread that starts it, however that ends.
pub(crate) fn bound(mut command: Command) -> Command {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::process::CommandExt;
        let die_with_us = || {
            // SAFETY: this call takes two numbers, and touches no memory.
            match unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) } {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        };
        // SAFETY: between fork and exec, the closure makes one system call, and allocates nothing.
        unsafe { command.pre_exec(die_with_us) };
    }
    command
}

/// Reads all there is, on a thread of its own.
fn whole(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut all = String::new();
        from.read_to_string(&mut all).expect("it speaks in UTF-8");
        all
    })
}

/// Returns a file for a test, which is not there yet.
pub(crate) fn file(name: &str) -> PathBuf {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_file(&file);
    file
}

/// Returns where it says that it listens.
fn address(lines: &mut BufReader<ChildStdout>) -> SocketAddr {
    let mut line = String::new();
    while lines.read_line(&mut line).expect("it speaks in UTF-8") > 0 {
        if let Some((_, behind)) = line.split_once("http://") {
            let address = behind.split(['/', '\n']).next().and_then(|address| address.parse().ok());
            return address.unwrap_or_else(|| panic!("no address: {line}"));
        }
        line.clear();
    }
    panic!("the service ended before it listened");
}
