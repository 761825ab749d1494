//! Where a process runs: in name spaces of its own, and on a part of the processors.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::OnceLock;

/// The program that runs another one in name spaces, with its arguments.
const UNSHARE: [&str; 8] =
    ["unshare", "--pid", "--fork", "--kill-child", "--mount", "--net", "--ipc", "--uts"];

/// Returns a command that runs another one in name spaces of its own, as in a container: its
/// process has number 1. Where the system does not allow that, it is the other one.
pub(super) fn in_name_spaces(inner: Command) -> Command {
    static IS_ALLOWED: OnceLock<bool> = OnceLock::new();
    let is_allowed = IS_ALLOWED.get_or_init(|| {
        let tried = Command::new(UNSHARE[0]).args(&UNSHARE[1..]).arg("true").output();
        let is_allowed = tried.is_ok_and(|output| output.status.success());
        if !is_allowed {
            println!("without name spaces, which this system does not allow");
        }
        is_allowed
    });
    if !is_allowed {
        return inner;
    }
    let mut command = Command::new(UNSHARE[0]);
    command.args(&UNSHARE[1..]).arg(inner.get_program()).args(inner.get_args());
    command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

/// Lets a command's process begin on its highest processor alone. (Its threads move later, and a
/// control group's set has the same means: `sched_setaffinity` of all threads by the kernel.)
pub(super) fn with_a_processor_set(command: &mut Command) {
    // SAFETY: between fork and exec it makes system calls alone.
    unsafe {
        command.pre_exec(|| {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            let size = size_of::<libc::cpu_set_t>();
            if libc::sched_getaffinity(0, size, &raw mut set) != 0 {
                return Err(io::Error::last_os_error());
            }
            let highest = (0..libc::CPU_SETSIZE as usize).rfind(|n| libc::CPU_ISSET(*n, &set));
            libc::CPU_ZERO(&mut set);
            libc::CPU_SET(highest.unwrap_or(0), &mut set);
            match libc::sched_setaffinity(0, size, &raw const set) {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            }
        });
    }
}
