//! The program on a terminal: it leaves the terminal as it was.

#![cfg(target_os = "linux")]

use std::fs::File;
use std::io::Read;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{ptr, thread};

/// Returns the two ends of a terminal: that of its window, and that of its programs.
fn terminal() -> [OwnedFd; 2] {
    let (mut window, mut programs) = (-1, -1);
    // SAFETY: both places are for a descriptor, and the null pointers mean defaults.
    let opened = unsafe {
        libc::openpty(&raw mut window, &raw mut programs, ptr::null_mut(), ptr::null(), ptr::null())
    };
    assert_eq!(opened, 0);
    // SAFETY: the descriptors are open, and nothing else has them.
    [window, programs].map(|descriptor| unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Returns the modes of a terminal: of input, output, the line, and local ones.
fn modes(terminal: &OwnedFd) -> [libc::tcflag_t; 4] {
    let mut modes = MaybeUninit::uninit();
    // SAFETY: the place is for the modes.
    assert_eq!(unsafe { libc::tcgetattr(terminal.as_raw_fd(), modes.as_mut_ptr()) }, 0);
    // SAFETY: the call has succeeded, so the modes are written.
    let modes: libc::termios = unsafe { modes.assume_init() };
    [modes.c_iflag, modes.c_oflag, modes.c_cflag, modes.c_lflag]
}

/// Starts the program on a terminal. No server is at its address.
fn start(programs: &OwnedFd) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_windrow-top"));
    let end = || File::from(programs.try_clone().unwrap());
    command.arg("127.0.0.1:1").stdin(end()).stdout(end()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until the program has changed the modes of the terminal: by then, it takes the signals.
fn wait_for_start(program: &mut Child, programs: &OwnedFd, before: [libc::tcflag_t; 4]) {
    while modes(programs) == before {
        assert!(program.try_wait().unwrap().is_none(), "it has ended");
        thread::yield_now();
    }
}

fn send(program: &Child, signal: libc::c_int) {
    let number = program.id().try_into().unwrap();
    // SAFETY: the process is the test's own, and was not waited for.
    assert_eq!(unsafe { libc::kill(number, signal) }, 0);
}

#[test]
fn a_start_that_fails_leaves_the_terminal_as_it_was() {
    let [_window, programs] = terminal();
    // Writes fail: the output is stopped, and the terminal does not wait.
    // SAFETY: the descriptor is open.
    assert_eq!(unsafe { libc::tcflow(programs.as_raw_fd(), libc::TCOOFF) }, 0);
    // SAFETY: the descriptor is open.
    let set = unsafe { libc::fcntl(programs.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
    assert_eq!(set, 0);
    let before = modes(&programs);
    let output = start(&programs).wait_with_output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(4), "{error}");
    assert!(error.starts_with("windrow-top: the terminal cannot be used: "), "{error}");
    assert_eq!(modes(&programs), before);
}

#[test]
fn a_signal_that_ends_the_program_leaves_the_terminal_as_it_was() {
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
        let [window, programs] = terminal();
        let before = modes(&programs);
        let mut program = start(&programs);
        // Reads until all of the programs' ends are closed.
        let written = thread::spawn(move || {
            let (mut written, mut part) = (Vec::new(), [0; 4096]);
            let mut window = File::from(window);
            while let Ok(read @ 1..) = window.read(&mut part) {
                written.extend_from_slice(&part[..read]);
            }
            String::from_utf8_lossy(&written).into_owned()
        });
        wait_for_start(&mut program, &programs, before);
        send(&program, signal);
        let status = program.wait().unwrap();
        assert_eq!((status.signal(), modes(&programs)), (Some(signal), before));
        drop(programs);
        let written = written.join().unwrap();
        assert!(written.contains("\u{1b}[?1049l"), "{written:?}");
    }
}

/// A terminal that takes no output, as after `Ctrl-S`, or behind a connection that hangs: restoring
/// it does not end.
#[test]
fn a_second_signal_ends_a_program_that_the_first_one_does_not() {
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
        let [window, programs] = terminal();
        let before = modes(&programs);
        let mut program = start(&programs);
        wait_for_start(&mut program, &programs, before);
        // SAFETY: the descriptor is open.
        assert_eq!(unsafe { libc::tcflow(programs.as_raw_fd(), libc::TCOOFF) }, 0);
        let begun = Instant::now();
        let mut sent = 0;
        let status = loop {
            if let Some(status) = program.try_wait().unwrap() {
                break status;
            }
            if begun.elapsed() > Duration::from_secs(20) {
                program.kill().unwrap();
                panic!("it goes on after {sent} signals");
            }
            send(&program, signal);
            sent += 1;
            thread::sleep(Duration::from_millis(100));
        };
        assert_eq!(status.signal(), Some(signal));
        assert!(sent > 1, "the first one has ended it");
        drop(window);
    }
}
