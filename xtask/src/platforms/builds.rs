//! Compiles for a target, by a compiler of Debian's.

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::apt::{self, Suite};
use super::programs::{Built, Program};
use super::targets::{Std, Target};
use super::{libraries, programs};
use crate::assembly::{AS_TEXT, CODE, compile};
use crate::integrations;
use crate::tools::succeeds;

/// The suite that has std for all of Debian's architectures.
const SUITE: &str = "trixie";

/// The package of std for another architecture.
const PACKAGE: &str = "libstd-rust-web-dev";

/// The target of build scripts.
const HOST: &str = "x86_64-unknown-linux-gnu";

impl Target {
    /// Installs the tools that are absent, and unpacks std for the target.
    pub(super) fn prepare(&self, folder: &Path) -> Result<(), String> {
        apt::install(&self.needs())?;
        libraries::make(self, folder)?;
        let Some((architecture, sysroot)) = self.unpacked(folder) else { return Ok(()) };
        let rustlib = sysroot.join("lib/rustlib");
        if !rustlib.join(self.triple).exists() {
            let suite = Suite::open(folder, SUITE, architecture)?;
            suite.unpack(PACKAGE, &folder.join(architecture))?;
        }
        // Build scripts run here, with the compiler's own std.
        if rustlib.join(HOST).exists() {
            return Ok(());
        }
        let of_host = Path::new("/usr/lib/rustlib").join(HOST);
        symlink(of_host, rustlib.join(HOST)).map_err(|error| format!("a link to std: {error}"))
    }

    /// Returns the architecture of the package that has std, and the folder in which the compiler
    /// finds that.
    fn unpacked(&self, folder: &Path) -> Option<(&'static str, PathBuf)> {
        let [_, debian, _] = self.cross.filter(|_| matches!(self.std, Std::Package))?;
        Some((debian, folder.join(debian).join("usr")))
    }

    /// Compiles the library, its tests, and the packages beside it, as far as their types.
    pub(super) fn check(&self, root: &Path, folder: &Path) -> Result<(), String> {
        let mut command = self.cargo(root, folder, "check");
        command.args(["--package=windrow", "--all-features", "--lib"]);
        if self.tests_compile() {
            command.arg("--tests");
        }
        succeeds(&mut command)?;
        let beside = integrations::arguments(root)
            .filter(|package| !self.lacks().contains(&package.trim_start_matches("--package=")));
        succeeds(self.cargo(root, folder, "check").arg("--lib").args(beside))
    }

    /// Returns the packages beside the library whose dependencies are not for the target.
    pub(super) fn lacks(&self) -> &'static [&'static str] {
        match self.triple {
            // They use the network, a terminal, or files by the calls of a system.
            "wasm32-wasip1" => &["windrow-console", "windrow-tower", "windrow-log", "windrow-top"],
            // They count in std's atomics of 64 bits.
            "powerpc-unknown-linux-gnu" => &["windrow-console", "windrow-tower", "windrow-metrics"],
            // It asks for a process by a crate whose build runs on a Mac alone.
            "aarch64-apple-darwin" => &["windrow-process"],
            _ => &[],
        }
    }

    /// Returns whether all tests, and what they depend on, are for the target.
    pub(super) fn tests_compile(&self) -> bool {
        !matches!(self.triple, "wasm32-wasip1" | "powerpc-unknown-linux-gnu")
    }

    /// Compiles the test programs of these runs, of the sources in `source`, in the folder `built`;
    /// returns their files.
    pub(super) fn build(
        &self,
        source: &Path,
        folder: &Path,
        built: &Path,
        runs: &[Program],
    ) -> Result<Built, String> {
        let names: BTreeSet<_> = runs.iter().map(|run| run.test).collect();
        println!("    compiling {names:?} for {}", self.triple);
        let mut command = self.cargo(source, folder, "test");
        command.env("CARGO_TARGET_DIR", built);
        command.args(["--no-run", "--package=windrow"]);
        for name in &names {
            match *name {
                programs::LIBRARY => command.arg("--lib"),
                test => command.args(["--test", test]),
            };
        }
        let output = command.output().map_err(|error| format!("cannot run cargo: {error}"))?;
        let said = String::from_utf8_lossy(&output.stderr);
        let file = |name| {
            let file = executable(&said, name).map(|file| (name, source.join(file)));
            file.ok_or_else(|| format!("{name} was not built:\n{said}"))
        };
        names.into_iter().map(file).collect()
    }

    /// Returns the assembly text of callers of the hottest functions.
    pub(super) fn assembly(&self, root: &Path, folder: &Path) -> Result<String, String> {
        let (_, sysroot) = self.unpacked(folder).ok_or("there is no std of its own")?;
        let built = folder.join("built");
        let library = ["--release", "--lib", "--package=windrow"];
        succeeds(self.cargo(root, folder, "build").args(library))?;
        let folders = [self.triple, ""].map(|target| built.join(target).join("release"));
        let text = folder.join("hot_path.s");
        let mut compiler = Command::new("/usr/bin/rustc");
        compiler.args(AS_TEXT).args(["--target", self.triple, "--sysroot"]);
        compiler.arg(sysroot);
        compile(&mut compiler, &folders, &root.join(CODE), &text)?;
        crate::sources::read(&text)
    }

    /// Returns Debian's cargo with a command, set up for the target.
    fn cargo(&self, source: &Path, folder: &Path, name: &str) -> Command {
        let variable = self.triple.to_uppercase().replace('-', "_");
        let set = |what: &str| format!("CARGO_TARGET_{variable}_{what}");
        let mut command = Command::new("/usr/bin/cargo");
        // A toolchain that runs this program must not choose the compiler.
        for variable in ["CARGO", "RUSTUP_TOOLCHAIN", "RUSTFLAGS", "RUSTC_WRAPPER"] {
            command.env_remove(variable);
        }
        command
            .current_dir(source)
            .env("RUSTC", "/usr/bin/rustc")
            .env("CARGO_TARGET_DIR", folder.join("built"))
            .args([name, "--target", self.triple]);
        if let Some((_, sysroot)) = self.unpacked(folder) {
            command.env(set("RUSTFLAGS"), format!("--sysroot {}", sysroot.display()));
        }
        if let Std::Source = self.std {
            command.arg("-Zbuild-std=std,panic_unwind,test").env("RUSTC_BOOTSTRAP", "1");
            command.env(set("RUSTFLAGS"), libraries::flags(self, folder));
        }
        command.envs(self.linker().map(|linker| (set("LINKER"), linker)));
        command
    }
}

/// Finds the file of a test program in what cargo says.
fn executable(built: &str, name: &str) -> Option<PathBuf> {
    let line = built.lines().find(|line| line.contains(&format!("/deps/{name}-")))?;
    let (_, file) = line.rsplit_once('(')?;
    Some(PathBuf::from(file.trim_end_matches(')')))
}

/// Removes the debugging information of a program, into `to`.
pub(super) fn strip(target: &Target, program: &Path, to: &Path) -> Result<(), String> {
    let linker = target.linker().ok_or("nothing links it")?;
    succeeds(Command::new(linker.replace("gcc", "strip")).arg("-o").arg(to).arg(program))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_in_what_cargo_says() {
        let built = "   Compiling windrow v0.1.0\n  Executable unittests src/lib.rs (a/deps/windrow-1f)\n  \
                     Executable tests/contract.rs (a/deps/contract-2e)\n";
        assert_eq!(executable(built, "windrow"), Some(PathBuf::from("a/deps/windrow-1f")));
        assert_eq!(executable(built, "contract"), Some(PathBuf::from("a/deps/contract-2e")));
        assert_eq!(executable(built, "torture"), None);
    }
}
