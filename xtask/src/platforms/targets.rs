//! The targets, and what is done for each.

use Std::Package;

/// A target that the library is compiled for.
pub(super) struct Target {
    pub(super) triple: &'static str,
    pub(super) std: Std,
    /// The program that links; none if nothing is linked.
    pub(super) linker: Option<&'static str>,
    /// The programs that it needs, and the packages that have them.
    pub(super) needs: &'static [(&'static str, &'static str)],
    pub(super) tested: Tested,
}

/// The source of a target's std.
#[derive(Clone, Copy)]
pub(super) enum Std {
    /// The compiler's own.
    Host,
    /// A package for an architecture, by Debian's name of that.
    Package(&'static str),
    /// Its source, compiled beside the library.
    Source,
}

/// The way in which a target's tests run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tested {
    /// In virtual machines with kernels of their own, and, with an emulator's name, under that too.
    Machine { emulator: Option<&'static str>, library: &'static str },
    /// Under an emulator of the processor, on the kernel of this machine.
    Emulated { emulator: &'static str, library: &'static str },
    /// On this machine.
    Here,
    /// Under wine.
    Wine,
    /// Not at all: types are checked.
    No,
}

/// The compiler for the host, and its cargo.
pub(super) const COMPILER: [(&str, &str); 2] =
    [("/usr/bin/rustc", "rustc-web"), ("/usr/bin/cargo", "cargo-web")];

/// The source of std.
pub(super) const SOURCE: (&str, &str) = ("/usr/lib/rustlib/src/rust/library", "rust-web-src");

pub(super) const ARM64: Target = Target {
    triple: "aarch64-unknown-linux-gnu",
    std: Package("arm64"),
    linker: Some("aarch64-linux-gnu-gcc"),
    needs: &[
        ("/usr/bin/aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"),
        ("/usr/aarch64-linux-gnu/lib/libc.so.6", "libc6-dev-arm64-cross"),
    ],
    tested: Tested::Machine {
        emulator: Some("qemu-aarch64-static"),
        library: "/usr/aarch64-linux-gnu",
    },
};

pub(super) const X86_64: Target = Target {
    triple: "x86_64-unknown-linux-gnu",
    std: Std::Host,
    linker: Some("gcc"),
    needs: &[("/usr/bin/gcc", "gcc")],
    tested: Tested::Machine { emulator: None, library: "/" },
};

/// A target of Linux that Debian has a cross compiler for, and an emulator of its processor.
macro_rules! cross {
    ($triple:literal, $std:expr, $gnu:literal, $debian:literal, $emulator:literal) => {
        Target {
            triple: $triple,
            std: $std,
            linker: Some(concat!($gnu, "-gcc")),
            needs: &[
                (concat!("/usr/bin/", $gnu, "-gcc"), concat!("gcc-", $gnu)),
                (
                    concat!("/usr/", $gnu, "/lib/libc.so.6"),
                    concat!("libc6-dev-", $debian, "-cross"),
                ),
            ],
            tested: Tested::Emulated {
                emulator: concat!("qemu-", $emulator, "-static"),
                library: concat!("/usr/", $gnu),
            },
        }
    };
}

/// A target of which nothing but the types is checked.
const fn checked(triple: &'static str) -> Target {
    Target { triple, std: Std::Source, linker: None, needs: &[], tested: Tested::No }
}

pub(super) const TARGETS: [Target; 17] = [
    X86_64,
    ARM64,
    cross!(
        "armv7-unknown-linux-gnueabihf",
        Package("armhf"),
        "arm-linux-gnueabihf",
        "armhf",
        "arm"
    ),
    cross!("i686-unknown-linux-gnu", Package("i386"), "i686-linux-gnu", "i386", "i386"),
    cross!(
        "powerpc64le-unknown-linux-gnu",
        Package("ppc64el"),
        "powerpc64le-linux-gnu",
        "ppc64el",
        "ppc64le"
    ),
    cross!(
        "riscv64gc-unknown-linux-gnu",
        Package("riscv64"),
        "riscv64-linux-gnu",
        "riscv64",
        "riscv64"
    ),
    cross!("s390x-unknown-linux-gnu", Package("s390x"), "s390x-linux-gnu", "s390x", "s390x"),
    // Big-endian, and without atomics of 64 bits.
    cross!("powerpc-unknown-linux-gnu", Std::Source, "powerpc-linux-gnu", "powerpc", "ppc"),
    Target {
        triple: "x86_64-unknown-linux-musl",
        std: Std::Source,
        linker: Some("musl-gcc"),
        needs: &[
            ("/usr/bin/musl-gcc", "musl-tools"),
            ("/usr/lib/llvm-14/lib/libunwind.a", "libunwind-14-dev"),
        ],
        tested: Tested::Here,
    },
    Target {
        triple: "x86_64-pc-windows-gnu",
        std: Std::Source,
        linker: Some("x86_64-w64-mingw32-gcc-posix"),
        needs: &[
            ("/usr/bin/x86_64-w64-mingw32-gcc-posix", "gcc-mingw-w64-x86-64-posix"),
            ("/usr/bin/wine", "wine"),
            ("/usr/lib/wine/wine64", "wine64"),
        ],
        tested: Tested::Wine,
    },
    checked("aarch64-apple-darwin"),
    checked("aarch64-linux-android"),
    checked("aarch64-pc-windows-msvc"),
    checked("wasm32-wasip1"),
    checked("x86_64-unknown-freebsd"),
    checked("x86_64-unknown-illumos"),
    checked("x86_64-unknown-netbsd"),
];
