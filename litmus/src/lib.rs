//! Races on real threads, in two manners.
//!
//! *Litmus programs* (binary `litmus`) race a few calls of the library's millions of times, and
//! count the outcomes. The *soak* (binary `soak`) does everything at once for minutes, and watches
//! the memory, threads and descriptors of the process. Both use the library as its users do, only
//! by its public interface, and so see the kernel, the processor and the allocator as they are. The
//! README beside this crate lists the findings of each in a library broken on purpose.

pub mod race;
pub mod races;
#[cfg(target_os = "linux")]
pub mod soak;
pub mod stage;
pub mod terminal;

/// Has a panic end the process, whichever thread it comes from: others would wait for that thread.
pub fn end_on_panic() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        report(panic);
        std::process::exit(101);
    }));
}
