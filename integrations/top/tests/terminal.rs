//! The program on a terminal that fails it.

#![cfg(target_os = "linux")]

use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::Command;
use std::ptr;

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
    let mut command = Command::new(env!("CARGO_BIN_EXE_windrow-top"));
    let end = || File::from(programs.try_clone().unwrap());
    let output = command.arg("127.0.0.1:1").stdin(end()).stdout(end()).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(4), "{error}");
    assert!(error.starts_with("windrow-top: the terminal cannot be used: "), "{error}");
    assert_eq!(modes(&programs), before);
}
