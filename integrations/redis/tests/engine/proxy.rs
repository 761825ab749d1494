//! A proxy between clients and an engine, which does what networks do: it cuts, delays, loses
//! answers after the request went through, and sends requests twice, late. It can also leave
//! everything unanswered, answer nonsense, or answer a byte at a time.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU16, Ordering};
use std::thread;
use std::time::Duration;

/// The fate of bytes that pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Mode {
    /// Passes it on.
    Clean,
    /// Cuts, delays, loses and repeats, at random.
    Faults,
    /// Takes requests, and passes nothing on.
    Silent,
    /// Passes requests on, and loses their answers.
    Lost,
    /// Passes requests on, and answers with something else.
    Nonsense,
    /// Passes on a byte of an answer at a time.
    Slow,
}

const MODES: [Mode; 6] =
    [Mode::Clean, Mode::Faults, Mode::Silent, Mode::Lost, Mode::Nonsense, Mode::Slow];

/// Bytes that answer no request, each in one of the protocol's forms or in none.
const NONSENSE: [&[u8]; 8] = [
    b"$5\r\nhello\r\n",
    b"*2\r\n:1\r\n:2\r\n",
    b":7\r\n",
    b"*10\r\n:0\r\n:-5\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n",
    b"*10\r\n:9\r\n:1\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n",
    b"HTTP/1.1 200 OK\r\n\r\n",
    b"-\r\n",
    b"\xff\x00\xfe\r\n",
];

/// A proxy, which takes no more connections when this is gone.
pub(crate) struct Proxy {
    port: u16,
    state: Arc<State>,
}

struct State {
    target: AtomicU16,
    mode: AtomicU8,
    is_over: AtomicBool,
}

impl Proxy {
    /// Starts a proxy to a port.
    pub(crate) fn to(target: u16) -> Proxy {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let port = listener.local_addr().expect("it has an address").port();
        let (target, mode) = (AtomicU16::new(target), AtomicU8::new(Mode::Clean as u8));
        let state = Arc::new(State { target, mode, is_over: AtomicBool::new(false) });
        let shared = state.clone();
        thread::spawn(move || {
            for client in listener.incoming() {
                if shared.is_over.load(Ordering::Relaxed) {
                    return;
                }
                if let Ok(client) = client {
                    connect(client, &shared);
                }
            }
        });
        Proxy { port, state }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Sends further connections to another port.
    pub(crate) fn turn_to(&self, target: u16) {
        self.state.target.store(target, Ordering::Relaxed);
    }

    /// Changes what is done with what passes, also on connections that are open.
    pub(crate) fn set(&self, mode: Mode) {
        self.state.mode.store(mode as u8, Ordering::Relaxed);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.state.is_over.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
    }
}

impl State {
    fn mode(&self) -> Mode {
        MODES[usize::from(self.mode.load(Ordering::Relaxed))]
    }

    fn connect(&self) -> std::io::Result<TcpStream> {
        let stream =
            TcpStream::connect((Ipv4Addr::LOCALHOST, self.target.load(Ordering::Relaxed)))?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

fn connect(client: TcpStream, state: &Arc<State>) {
    let Ok(engine) = state.connect() else { return };
    let _ = client.set_nodelay(true);
    let (Ok(client_too), Ok(engine_too)) = (client.try_clone(), engine.try_clone()) else { return };
    let (up, down) = (state.clone(), state.clone());
    thread::spawn(move || pump(client, engine, |bytes, to| requests(&up, bytes, to)));
    thread::spawn(move || pump(engine_too, client_too, |bytes, to| answers(&down, bytes, to)));
}

/// Passes on what comes, until `pass` has enough of it, or an end is closed.
fn pump(
    mut from: TcpStream,
    mut to: TcpStream,
    mut pass: impl FnMut(&[u8], &mut TcpStream) -> std::io::Result<bool>,
) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if !matches!(pass(&bytes[..count], &mut to), Ok(true)) {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

/// Passes on requests; returns whether the connection goes on.
fn requests(state: &Arc<State>, bytes: &[u8], to: &mut TcpStream) -> std::io::Result<bool> {
    match state.mode() {
        Mode::Silent => return Ok(true),
        Mode::Faults => {
            delay();
            match fastrand::u32(..100) {
                0..4 => {
                    to.write_all(bytes)?; // it goes through, and the answer is lost
                    thread::sleep(Duration::from_millis(10));
                    return Ok(false);
                }
                4..8 => return Ok(false),
                50..55 => {
                    let (state, bytes) = (state.clone(), bytes.to_vec());
                    thread::spawn(move || send_late(&state, &bytes));
                }
                _ => {}
            }
        }
        _ => {}
    }
    to.write_all(bytes)?;
    Ok(true)
}

/// Passes on answers; returns whether the connection goes on.
fn answers(state: &State, bytes: &[u8], to: &mut TcpStream) -> std::io::Result<bool> {
    match state.mode() {
        Mode::Silent | Mode::Lost => return Ok(true),
        Mode::Nonsense => {
            to.write_all(NONSENSE[fastrand::usize(..NONSENSE.len())])?;
            return Ok(true);
        }
        Mode::Slow => {
            for byte in bytes {
                to.write_all(&[*byte])?;
                thread::sleep(Duration::from_millis(5));
            }
            return Ok(true);
        }
        Mode::Faults => {
            delay();
            if fastrand::u32(..100) < 4 {
                return Ok(false);
            }
        }
        Mode::Clean => {}
    }
    to.write_all(bytes)?;
    Ok(true)
}

/// Delays three in ten by 30 ms on average.
fn delay() {
    if fastrand::u32(..10) < 3 {
        thread::sleep(Duration::from_secs_f64(-fastrand::f64().max(1e-6).ln() * 0.03));
    }
}

/// Sends a copy of requests on a connection of its own, 150 ms later on average.
fn send_late(state: &State, bytes: &[u8]) {
    thread::sleep(Duration::from_secs_f64(-fastrand::f64().max(1e-6).ln() * 0.15));
    if let Ok(mut stream) = state.connect() {
        let _ = stream.write_all(bytes);
        let _ = stream.set_read_timeout(Some(Duration::from_secs(1)));
        let _ = stream.read(&mut [0; 1024]);
    }
}
