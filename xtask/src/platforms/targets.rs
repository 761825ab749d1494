//! The targets, and what is done for each.

use super::architectures::{self, Architecture};

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
    /// A package for an architecture of Debian's.
    Package(&'static Architecture),
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
    std: Std::Package(&architectures::ARM64),
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

const fn emulated(emulator: &'static str, library: &'static str) -> Tested {
    Tested::Emulated { emulator, library }
}

/// A target of which nothing but the types is checked.
const fn checked(triple: &'static str) -> Target {
    Target { triple, std: Std::Source, linker: None, needs: &[], tested: Tested::No }
}

pub(super) const TARGETS: [Target; 17] = [
    X86_64,
    ARM64,
    Target {
        triple: "armv7-unknown-linux-gnueabihf",
        std: Std::Package(&architectures::ARMHF),
        linker: Some("arm-linux-gnueabihf-gcc"),
        needs: &[
            ("/usr/bin/arm-linux-gnueabihf-gcc", "gcc-arm-linux-gnueabihf"),
            ("/usr/arm-linux-gnueabihf/lib/libc.so.6", "libc6-dev-armhf-cross"),
        ],
        tested: emulated("qemu-arm-static", "/usr/arm-linux-gnueabihf"),
    },
    Target {
        triple: "i686-unknown-linux-gnu",
        std: Std::Package(&architectures::I386),
        linker: Some("i686-linux-gnu-gcc"),
        needs: &[
            ("/usr/bin/i686-linux-gnu-gcc", "gcc-i686-linux-gnu"),
            ("/usr/i686-linux-gnu/lib/libc.so.6", "libc6-dev-i386-cross"),
        ],
        tested: emulated("qemu-i386-static", "/usr/i686-linux-gnu"),
    },
    Target {
        triple: "powerpc64le-unknown-linux-gnu",
        std: Std::Package(&architectures::PPC64EL),
        linker: Some("powerpc64le-linux-gnu-gcc"),
        needs: &[
            ("/usr/bin/powerpc64le-linux-gnu-gcc", "gcc-powerpc64le-linux-gnu"),
            ("/usr/powerpc64le-linux-gnu/lib/libc.so.6", "libc6-dev-ppc64el-cross"),
        ],
        tested: emulated("qemu-ppc64le-static", "/usr/powerpc64le-linux-gnu"),
    },
    Target {
        triple: "riscv64gc-unknown-linux-gnu",
        std: Std::Package(&architectures::RISCV64),
        linker: Some("riscv64-linux-gnu-gcc"),
        needs: &[
            ("/usr/bin/riscv64-linux-gnu-gcc", "gcc-riscv64-linux-gnu"),
            ("/usr/riscv64-linux-gnu/lib/libc.so.6", "libc6-dev-riscv64-cross"),
        ],
        tested: emulated("qemu-riscv64-static", "/usr/riscv64-linux-gnu"),
    },
    Target {
        triple: "s390x-unknown-linux-gnu",
        std: Std::Package(&architectures::S390X),
        linker: Some("s390x-linux-gnu-gcc"),
        needs: &[
            ("/usr/bin/s390x-linux-gnu-gcc", "gcc-s390x-linux-gnu"),
            ("/usr/s390x-linux-gnu/lib/libc.so.6", "libc6-dev-s390x-cross"),
        ],
        tested: emulated("qemu-s390x-static", "/usr/s390x-linux-gnu"),
    },
    // Big-endian, and without atomics of 64 bits.
    Target {
        triple: "powerpc-unknown-linux-gnu",
        std: Std::Source,
        linker: Some("powerpc-linux-gnu-gcc"),
        needs: &[
            ("/usr/bin/powerpc-linux-gnu-gcc", "gcc-powerpc-linux-gnu"),
            ("/usr/powerpc-linux-gnu/lib/libc.so.6", "libc6-dev-powerpc-cross"),
        ],
        tested: emulated("qemu-ppc-static", "/usr/powerpc-linux-gnu"),
    },
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
