//! The targets, and what is done for each.

/// A target that the library is compiled for.
pub(super) struct Target {
    pub(super) triple: &'static str,
    pub(super) std: Std,
    /// The names of Debian's cross compiler, its architecture, and the processor in an emulator's.
    pub(super) cross: Option<[&'static str; 3]>,
    /// The program that links, if that is no cross compiler; none if nothing is linked.
    linker: Option<&'static str>,
    /// The programs that it needs, and the packages that have them.
    needs: &'static [(&'static str, &'static str)],
    pub(super) tested: Tested,
}

/// The source of a target's std.
#[derive(Clone, Copy)]
pub(super) enum Std {
    /// The compiler's own.
    Host,
    /// A package for the architecture of the cross compiler.
    Package,
    /// Its source, compiled beside the library.
    Source,
}

/// The way in which a target's tests run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tested {
    /// In virtual machines with kernels of their own; with a cross compiler, emulated too.
    Machine,
    /// Under an emulator of the processor, on the kernel of this machine.
    Emulated,
    /// On this machine.
    Here,
    /// Under wine.
    Wine,
    /// Not at all: types are checked.
    No,
}

impl Target {
    /// Returns the program that links.
    pub(super) fn linker(&self) -> Option<String> {
        self.cross.map(|[gnu, ..]| format!("{gnu}-gcc")).or(self.linker.map(str::to_owned))
    }

    /// Returns the emulator of the target's programs and the folder with their C library, if there
    /// is one.
    pub(super) fn emulator(&self) -> Option<[String; 2]> {
        self.cross
            .map(|[gnu, _, processor]| [format!("qemu-{processor}-static"), format!("/usr/{gnu}")])
    }

    /// Returns the files that it needs, each with the package that has it.
    pub(super) fn needs(&self) -> Vec<[String; 2]> {
        let mut needs = COMPILER.to_vec();
        needs.extend(self.needs);
        if let Std::Source = self.std {
            needs.push(SOURCE);
        }
        let mut needs: Vec<_> =
            needs.iter().map(|(file, of)| [file, of].map(ToString::to_string)).collect();
        if let Some([gnu, debian, processor]) = self.cross {
            needs.extend([
                [format!("/usr/bin/{gnu}-gcc"), format!("gcc-{gnu}")],
                [format!("/usr/{gnu}/lib/libc.so.6"), format!("libc6-dev-{debian}-cross")],
                [format!("/usr/bin/qemu-{processor}-static"), "qemu-user-static".to_owned()],
            ]);
        }
        needs
    }
}

/// The compiler for the host, and its cargo.
const COMPILER: [(&str, &str); 2] =
    [("/usr/bin/rustc", "rustc-web"), ("/usr/bin/cargo", "cargo-web")];

/// The source of std.
const SOURCE: (&str, &str) = ("/usr/lib/rustlib/src/rust/library", "rust-web-src");

/// A target of Linux that Debian has a cross compiler for, and an emulator of its processor.
const fn cross(triple: &'static str, names: [&'static str; 3]) -> Target {
    let cross = Some(names);
    Target { triple, std: Std::Package, cross, linker: None, needs: &[], tested: Tested::Emulated }
}

/// A target of which nothing but the types is checked.
const fn checked(triple: &'static str) -> Target {
    Target { triple, std: Std::Source, cross: None, linker: None, needs: &[], tested: Tested::No }
}

pub(super) const ARM64: Target = Target {
    tested: Tested::Machine,
    ..cross("aarch64-unknown-linux-gnu", ["aarch64-linux-gnu", "arm64", "aarch64"])
};

pub(super) const X86_64: Target = Target {
    std: Std::Host,
    linker: Some("gcc"),
    needs: &[("/usr/bin/gcc", "gcc")],
    tested: Tested::Machine,
    ..checked("x86_64-unknown-linux-gnu")
};

pub(super) const TARGETS: [Target; 17] = [
    X86_64,
    ARM64,
    cross("armv7-unknown-linux-gnueabihf", ["arm-linux-gnueabihf", "armhf", "arm"]),
    cross("i686-unknown-linux-gnu", ["i686-linux-gnu", "i386", "i386"]),
    cross("powerpc64le-unknown-linux-gnu", ["powerpc64le-linux-gnu", "ppc64el", "ppc64le"]),
    cross("riscv64gc-unknown-linux-gnu", ["riscv64-linux-gnu", "riscv64", "riscv64"]),
    cross("s390x-unknown-linux-gnu", ["s390x-linux-gnu", "s390x", "s390x"]),
    // Big-endian, and without atomics of 64 bits.
    Target {
        std: Std::Source,
        ..cross("powerpc-unknown-linux-gnu", ["powerpc-linux-gnu", "powerpc", "ppc"])
    },
    Target {
        linker: Some("musl-gcc"),
        needs: &[
            ("/usr/bin/musl-gcc", "musl-tools"),
            ("/usr/lib/llvm-14/lib/libunwind.a", "libunwind-14-dev"),
        ],
        tested: Tested::Here,
        ..checked("x86_64-unknown-linux-musl")
    },
    Target {
        linker: Some("x86_64-w64-mingw32-gcc-posix"),
        needs: &[
            ("/usr/bin/x86_64-w64-mingw32-gcc-posix", "gcc-mingw-w64-x86-64-posix"),
            ("/usr/bin/wine", "wine"),
            ("/usr/lib/wine/wine64", "wine64"),
        ],
        tested: Tested::Wine,
        ..checked("x86_64-pc-windows-gnu")
    },
    checked("aarch64-apple-darwin"),
    checked("aarch64-linux-android"),
    checked("aarch64-pc-windows-msvc"),
    checked("wasm32-wasip1"),
    checked("x86_64-unknown-freebsd"),
    checked("x86_64-unknown-illumos"),
    checked("x86_64-unknown-netbsd"),
];
