//! Other processors, from Debian's packages alone: compiles the library for each, and runs its
//! tests under emulation; those of arm64 in a machine with a kernel of its own, too, because only a
//! kernel has restartable sequences and barriers.
//!
//! A compiler of Debian's (`rustc-web`) compiles. Its std for other processors comes from the suite
//! `trixie`, which is unpacked in `target/elsewhere`: nothing but the tools is installed.

mod machine;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::sanitizers::succeeds;
use crate::steps::{Failed, Steps, seconds};

/// A processor on which Debian runs.
struct Target {
    triple: &'static str,
    /// The architecture, as Debian calls it.
    debian: &'static str,
    /// The prefix of its compiler and its C library's folder.
    gnu: &'static str,
    /// The emulator of its programs.
    emulator: &'static str,
}

const TARGETS: [Target; 6] = [
    Target {
        triple: "aarch64-unknown-linux-gnu",
        debian: "arm64",
        gnu: "aarch64-linux-gnu",
        emulator: "qemu-aarch64-static",
    },
    Target {
        triple: "armv7-unknown-linux-gnueabihf",
        debian: "armhf",
        gnu: "arm-linux-gnueabihf",
        emulator: "qemu-arm-static",
    },
    Target {
        triple: "i686-unknown-linux-gnu",
        debian: "i386",
        gnu: "i686-linux-gnu",
        emulator: "qemu-i386-static",
    },
    Target {
        triple: "powerpc64le-unknown-linux-gnu",
        debian: "ppc64el",
        gnu: "powerpc64le-linux-gnu",
        emulator: "qemu-ppc64le-static",
    },
    Target {
        triple: "riscv64gc-unknown-linux-gnu",
        debian: "riscv64",
        gnu: "riscv64-linux-gnu",
        emulator: "qemu-riscv64-static",
    },
    Target {
        triple: "s390x-unknown-linux-gnu",
        debian: "s390x",
        gnu: "s390x-linux-gnu",
        emulator: "qemu-s390x-static",
    },
];

/// The tests that run everywhere. (Those that start themselves again cannot under an emulator.)
const TESTS: [&str; 5] = ["--package", "windrow", "--lib", "--test", "contract"];

/// The folder of everything of other systems.
const FOLDER: &str = "target/elsewhere";

/// Compiles and tests for each target whose triple contains `name`, and prints a table of it.
pub(crate) fn run(steps: &mut Steps, name: &str) -> Result<(), Failed> {
    let root = steps.root().to_owned();
    let chosen: Vec<&Target> =
        TARGETS.iter().filter(|target| target.triple.contains(name)).collect();
    if chosen.is_empty() {
        let known = TARGETS.map(|target| target.triple).join(", ");
        return Err(Failed::new("targets", format!("none contains `{name}`; there are {known}")));
    }
    let mut rows = Vec::new();
    for target in chosen {
        let begin = Instant::now();
        if let Err(why) = target.prepare(&root.join(FOLDER)) {
            steps.leave_out(target.triple, &why);
            rows.push((target.triple, "-", "-", why));
            continue;
        }
        let shown = format!("cargo test --target {} {}", target.triple, TESTS.join(" "));
        steps.step(&format!("{}, emulated", target.triple), &shown, || {
            succeeds(target.cargo(&root).arg("test").args(TESTS).arg("--").arg("--quiet"))
        })?;
        let own = if target.debian == "arm64" {
            machine::run(steps, target)?;
            "yes"
        } else {
            "-"
        };
        rows.push((target.triple, "yes", own, seconds(begin.elapsed())));
    }
    println!("\n| target | emulated | with a kernel of its own | took |\n|---|---|---|---|");
    for (triple, emulated, own, took) in rows {
        println!("| {triple} | {emulated} | {own} | {took} |");
    }
    Ok(())
}

impl Target {
    /// Installs the tools that are absent, and unpacks std for the target.
    fn prepare(&self, folder: &Path) -> Result<(), String> {
        install(&[
            ("/usr/bin/rustc", "rustc-web"),
            ("/usr/bin/cargo", "cargo-web"),
            (&format!("/usr/bin/{}", self.emulator), "qemu-user-static"),
            (&format!("/usr/bin/{}-gcc", self.gnu), &format!("gcc-{}", self.gnu)),
            (&format!("/usr/{}/lib", self.gnu), &format!("libc6-dev-{}-cross", self.debian)),
        ])?;
        let rustlib = self.sysroot(folder).join("lib/rustlib");
        if !rustlib.join(self.triple).exists() {
            let package = download(folder, self.debian, "libstd-rust-web-dev")?;
            succeeds(Command::new("dpkg").arg("-x").arg(package).arg(folder.join(self.debian)))?;
        }
        // Build scripts run here, with the compiler's own std.
        let host = "x86_64-unknown-linux-gnu";
        if rustlib.join(host).exists() {
            return Ok(());
        }
        let of_host = Path::new("/usr/lib/rustlib").join(host);
        symlink(of_host, rustlib.join(host)).map_err(|error| format!("a link to std: {error}"))
    }

    /// Returns the folder in which the compiler finds std.
    fn sysroot(&self, folder: &Path) -> PathBuf {
        folder.join(self.debian).join("usr")
    }

    /// Returns Debian's cargo, set up for the target.
    fn cargo(&self, root: &Path) -> Command {
        let folder = root.join(FOLDER);
        let name = self.triple.to_uppercase().replace('-', "_");
        let set = |what: &str| format!("CARGO_TARGET_{name}_{what}");
        let flags = format!("--sysroot {}", self.sysroot(&folder).display());
        let mut command = Command::new("/usr/bin/cargo");
        command
            .current_dir(root)
            .env("RUSTC", "/usr/bin/rustc")
            .env("CARGO_BUILD_TARGET", self.triple)
            .env("CARGO_TARGET_DIR", folder.join("built"))
            .env(set("LINKER"), format!("{}-gcc", self.gnu))
            .env(set("RUSTFLAGS"), flags)
            .env(set("RUNNER"), format!("{} -L /usr/{}", self.emulator, self.gnu));
        // A toolchain that runs this program must not choose the compiler.
        for variable in ["CARGO", "RUSTUP_TOOLCHAIN", "RUSTFLAGS", "RUSTC_WRAPPER"] {
            command.env_remove(variable);
        }
        command
    }
}

/// Installs each package whose file is absent, and says so.
fn install(wanted: &[(&str, &str)]) -> Result<(), String> {
    let absent = wanted.iter().filter(|(file, _)| !Path::new(file).exists());
    let packages: Vec<&str> = absent.map(|(_, package)| *package).collect();
    if packages.is_empty() {
        return Ok(());
    }
    println!("    installing by apt-get: {}", packages.join(" "));
    let mut command = Command::new("apt-get");
    command.args(["install", "--quiet=2", "--yes", "--no-install-recommends"]).args(packages);
    succeeds(command.env("DEBIAN_FRONTEND", "noninteractive"))
}

/// Downloads a package of another architecture, by lists of packages of its own: those of the
/// system stay as they are. Returns its file.
fn download(folder: &Path, architecture: &str, package: &str) -> Result<PathBuf, String> {
    let apt = folder.join(format!("apt-{architecture}"));
    let failed = |error: std::io::Error| format!("{}: {error}", apt.display());
    for part in ["etc/apt/apt.conf.d", "etc/apt/preferences.d", "var/lib/dpkg"] {
        fs::create_dir_all(apt.join(part)).map_err(failed)?;
    }
    for part in ["var/lib/apt/lists/partial", "var/cache/apt/archives/partial", "packages"] {
        fs::create_dir_all(apt.join(part)).map_err(failed)?;
    }
    fs::write(apt.join("var/lib/dpkg/status"), "").map_err(failed)?;
    fs::write(apt.join("etc/apt/sources.list"), SOURCE).map_err(failed)?;
    let settings = format!(
        "Dir \"{0}\";\nDir::State::status \"{0}/var/lib/dpkg/status\";\n\
         APT::Architecture \"{architecture}\";\nAPT::Architectures {{ \"{architecture}\"; }};\n\
         Acquire::Languages \"none\";\nAPT::Sandbox::User \"root\";\n",
        apt.display()
    );
    fs::write(apt.join("apt.conf"), settings).map_err(failed)?;
    let by_apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command.arg("--quiet=2").args(arguments).current_dir(apt.join("packages"));
        succeeds(command.env("APT_CONFIG", apt.join("apt.conf")))
    };
    if !apt.join("updated").exists() {
        by_apt(&["update"])
            .map_err(|why| format!("the mirror has no sound list of {architecture}: {why}"))?;
        fs::write(apt.join("updated"), "").map_err(failed)?;
    }
    by_apt(&["download", package])?;
    let begins = format!("{package}_");
    let files = fs::read_dir(apt.join("packages")).map_err(failed)?;
    let mut files = files.filter_map(Result::ok).map(|entry| entry.path());
    let is_it = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&begins))
    };
    files.find(is_it).ok_or(format!("apt-get has downloaded no {package}"))
}

/// The suite that has std for all of Debian's architectures.
const SOURCE: &str = "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] \
                      http://deb.debian.org/debian trixie main\n";
