
// The code that `cargo xtask orderings` appends to `src/sync.rs` in its copy of the sources: each
// order of the library comes through here, and one of them may be weakened from outside.

/// The order of a site; weaker, if `WINDROW_WEAKENED` says so: `site:order`. Says when a site is
/// first reached.
pub(crate) fn weakened(site: usize, order: Ordering) -> Ordering {
    use std::sync::OnceLock;
    use std::sync::atomic::AtomicBool;

    static REACHED: [AtomicBool; 256] = [const { AtomicBool::new(false) }; 256];
    static CHOSEN: OnceLock<Option<(usize, Ordering)>> = OnceLock::new();

    if !REACHED[site].swap(true, Ordering::Relaxed) {
        println!("reached {site}");
    }
    let chosen = CHOSEN.get_or_init(|| {
        let chosen = std::env::var("WINDROW_WEAKENED").ok()?;
        let (site, order) = chosen.split_once(':').expect("site:order");
        let order = match order {
            "Relaxed" => Ordering::Relaxed,
            "Acquire" => Ordering::Acquire,
            "Release" => Ordering::Release,
            "AcqRel" => Ordering::AcqRel,
            _ => panic!("`{order}` is not weaker than anything"),
        };
        Some((site.parse().expect("a number"), order))
    });
    match *chosen {
        Some((chosen, weaker)) if chosen == site => weaker,
        _ => order,
    }
}

/// A fence; none, if its order is Relaxed.
pub(crate) fn weakened_fence(order: Ordering) {
    if order != Ordering::Relaxed {
        fence(order);
    }
}
