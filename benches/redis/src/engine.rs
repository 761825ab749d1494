//! An engine in a folder of its own, which ends with this program, also when that is killed.

use std::error::Error;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use redis::Connection;
use tempfile::TempDir;

/// A running `redis-server`.
pub(super) struct Engine {
    process: Child,
    port: u16,
    _folder: TempDir,
}

impl Engine {
    /// Starts an engine that keeps nothing on disk, and waits until it answers.
    pub(super) fn start() -> Result<Engine, Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let mut command = Command::new("redis-server");
        command
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""])
            .args(["--appendonly", "no", "--dir"])
            .arg(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        // SAFETY: the closure makes one system call, which a child may make.
        unsafe {
            command.pre_exec(|| match libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            });
        }
        let process = command.spawn().map_err(|error| format!("redis-server: {error}"))?;
        let engine = Engine { process, port, _folder: folder };
        for _ in 0..1_000 {
            if engine.connection().is_ok() {
                return Ok(engine);
            }
            sleep(Duration::from_millis(10));
        }
        Err("redis-server does not answer within ten seconds".into())
    }

    pub(super) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    /// Returns the number of scripts that the engine has run.
    pub(super) fn calls(&self) -> Result<u64, Box<dyn Error>> {
        let info: String = redis::cmd("INFO").arg("commandstats").query(&mut self.connection()?)?;
        let calls = |line: &str| {
            let rest = line.strip_prefix("cmdstat_eval")?;
            rest.split_once("calls=")?.1.split(',').next()?.parse::<u64>().ok()
        };
        Ok(info.lines().filter_map(calls).sum())
    }

    fn connection(&self) -> redis::RedisResult<Connection> {
        redis::Client::open(self.url())?.get_connection_with_timeout(Duration::from_secs(1))
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.process.kill(); // it may have ended
        let _ = self.process.wait();
    }
}
