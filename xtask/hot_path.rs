//! What `cargo xtask assembly` compiles and reads: a caller of the hottest function.

/// A caller's add, as it is inlined there.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn add_one(counter: &windrow::Counter) {
    counter.add(1);
}

fn main() {
    add_one(&windrow::Counter::new());
}
