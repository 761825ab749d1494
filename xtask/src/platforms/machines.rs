//! The machines: kernels, processors, and the programs that run in each.

use super::programs::{LIBRARY, Program, all, part};
use super::targets::{self, Target};

/// A machine, and what runs in it.
pub(super) struct Machine {
    pub(super) name: &'static str,
    pub(super) target: &'static Target,
    pub(super) architecture: &'static Architecture,
    pub(super) kernel: Kernel,
    pub(super) processors: u32,
    /// True if processors go and come while the programs run.
    pub(super) hotplug: bool,
    pub(super) programs: &'static [Program],
}

/// An architecture of Debian's.
pub(super) struct Architecture {
    /// The name in packages.
    pub(super) debian: &'static str,
    /// The folder of its libraries.
    pub(super) libraries: &'static str,
    /// The program that loads its libraries, below the root.
    pub(super) loader: &'static str,
    /// The emulator's program, and the package that has it.
    pub(super) emulator: [&'static str; 2],
    /// The emulator's board and processor.
    pub(super) board: [&'static str; 2],
    /// The kernel's words for them.
    pub(super) words: &'static str,
}

const AMD64: Architecture = Architecture {
    debian: "amd64",
    libraries: "x86_64-linux-gnu",
    loader: "lib64/ld-linux-x86-64.so.2",
    emulator: ["/usr/bin/qemu-system-x86_64", "qemu-system-x86"],
    board: ["q35", "max,la57=off"],
    words: "console=ttyS0 no5lvl",
};

const OF_ARM64: Architecture = Architecture {
    debian: "arm64",
    libraries: "aarch64-linux-gnu",
    loader: "lib/ld-linux-aarch64.so.1",
    emulator: ["/usr/bin/qemu-system-aarch64", "qemu-system-arm"],
    board: ["virt,gic-version=3", "max,pauth-impdef=on"],
    words: "console=ttyAMA0",
};

/// A kernel: the beginning of its version, and its suite, which has a package of it.
#[derive(Clone, Copy)]
pub(super) struct Kernel {
    pub(super) version: &'static str,
    pub(super) suite: &'static str,
}

const TRIXIE: Kernel = Kernel { version: "6.12", suite: "trixie" };

const BOOKWORM: Kernel = Kernel { version: "6.1", suite: "bookworm" };

const BULLSEYE: Kernel = Kernel { version: "5.10", suite: "bullseye" };

/// A torture of counters for a moment, in each strategy.
const TORTURE: Program = Program {
    test: "torture",
    arguments: "counters::with --nocapture",
    variables: "TORTURE_SECONDS=1",
};

/// The programs that show the most in a short time.
const FIRST: [Program; 4] =
    [all("contract"), part("storm", "counters::"), part("survival", "leases::"), TORTURE];

/// All torture.
pub(super) const TORTURED: Program =
    Program { test: "torture", arguments: "", variables: "TORTURE_SECONDS=2" };

/// With the two lists below, everything but what fills memory, compiles or needs another program.
///
/// The tests of `exact` run one by one: many have threads that never rest, and four such tests at
/// once, on emulated processors, end none for a quarter of an hour.
const EXACT: [Program; 3] = [all(LIBRARY), all("contract"), part("exact", "--test-threads 1")];

const STORMS: [Program; 3] = [all("storm"), part("survival", "leases::"), TORTURED];

const WINDOWS: [Program; 5] =
    [all("oracle"), all("gate"), all("histograms"), all("in_flight"), all("families")];

/// The programs that depend on the kernel and on the number of processors.
const BY_ROWS: [Program; 3] = [all(LIBRARY), all("contract"), TORTURE];

/// arm64, with what shows most.
pub(super) const ARM64: Machine = Machine {
    name: "arm64",
    target: &targets::ARM64,
    architecture: &OF_ARM64,
    kernel: TRIXIE,
    processors: 4,
    hotplug: false,
    programs: &FIRST,
};

/// Processors that go and come.
pub(super) const HOTPLUG: Machine =
    Machine { name: "arm64 hotplug", hotplug: true, programs: &[TORTURED], ..ARM64 };

const X86_64: Machine = Machine {
    name: "x86-64 16",
    target: &targets::X86_64,
    architecture: &AMD64,
    kernel: TRIXIE,
    processors: 16,
    hotplug: false,
    programs: &BY_ROWS,
};

/// All machines.
pub(super) const MACHINES: [Machine; 12] = [
    ARM64,
    Machine { name: "arm64 exact", programs: &EXACT, ..ARM64 },
    Machine { name: "arm64 storms", programs: &STORMS, ..ARM64 },
    Machine { name: "arm64 windows", programs: &WINDOWS, ..ARM64 },
    HOTPLUG,
    Machine { name: "arm64 6.1", kernel: BOOKWORM, programs: &BY_ROWS, ..ARM64 },
    Machine { name: "arm64 5.10", kernel: BULLSEYE, programs: &BY_ROWS, ..ARM64 },
    X86_64,
    Machine { name: "x86-64 64", processors: 64, ..X86_64 },
    Machine {
        name: "x86-64 hotplug",
        hotplug: true,
        processors: 4,
        programs: &[TORTURED],
        ..X86_64
    },
    Machine { name: "x86-64 6.1", kernel: BOOKWORM, processors: 4, ..X86_64 },
    Machine { name: "x86-64 5.10", kernel: BULLSEYE, processors: 4, ..X86_64 },
];
