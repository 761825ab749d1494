//! Places of processes: name spaces of their own, and a part of the processors.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::sync::OnceLock;
use std::time::Duration;
use std::{fs, io, thread};

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

/// A control group with the highest processor of this process alone.
pub(super) struct ProcessorSet(PathBuf);

impl ProcessorSet {
    /// Makes one. `None` where the system does not allow that, or has no such groups.
    pub(super) fn new() -> Option<ProcessorSet> {
        let name = format!("windrow-{}-{:?}", process::id(), thread::current().id());
        let set = ProcessorSet(Path::new("/sys/fs/cgroup/cpuset").join(name));
        let made = fs::create_dir(&set.0).and_then(|()| set.fill());
        if let Err(error) = &made {
            println!("without a control group: {error}");
        }
        made.ok().map(|()| set)
    }

    fn fill(&self) -> io::Result<()> {
        let parent = Path::new("/sys/fs/cgroup/cpuset");
        let all = fs::read_to_string(parent.join("cpuset.cpus"))?;
        let highest = all.trim().rsplit([',', '-']).next().unwrap_or_default();
        fs::write(self.0.join("cpuset.cpus"), highest)?;
        fs::write(self.0.join("cpuset.mems"), fs::read_to_string(parent.join("cpuset.mems"))?)
    }

    /// Lets a process begin in the group. Its threads stay on the group's processor.
    pub(super) fn hold(&self, command: &mut Command) {
        let tasks = self.0.join("cgroup.procs");
        // SAFETY: between fork and exec it makes system calls alone: the path is made already.
        unsafe {
            command.pre_exec(move || fs::write(&tasks, "0"));
        }
    }
}

impl Drop for ProcessorSet {
    fn drop(&mut self) {
        // A process that was killed may take a moment to leave it.
        for _ in 0..1_000 {
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }
}
