#!/bin/sh
# hdrhistogram 7.6.0 (crates.io), counts in a u8 to save memory
#
# Guess: a count that is full is an error, or it stays at 255 and quantiles are a little off.
# What happens: it stays at 255 and no error is returned, but the length goes on. A quantile whose
# rank is beyond the sum of the cells finds no cell, and is 0.
# Seen: 300 times 5 and once 9: a length of 301, 255 values of 5, a maximum of 9, a median of 5,
# and 0 at each quantile from 0.9 on.
# What it means: the busier a service, the better its p99 looks: in the end 0. Take counts that
# cannot be filled between two resets: u32 or u64.
set -eu
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"

mkdir src
cat > Cargo.toml <<'END'
[package]
name = "narrow"
version = "0.0.0"
edition = "2021"

[dependencies]
hdrhistogram = { version = "=7.6.0", default-features = false }

[workspace]
END
cat > src/main.rs <<'END'
use hdrhistogram::Histogram;

fn main() {
    let mut took = Histogram::<u8>::new(3).unwrap();
    for _ in 0..300 {
        took.record(5).unwrap();
    }
    took.record(9).unwrap();
    println!("length {}, of 5 {}, maximum {}", took.len(), took.count_at(5), took.max());
    for q in [0.5, 0.8, 0.9, 0.99, 1.0] {
        println!("{q}: {}", took.value_at_quantile(q));
    }
}
END
CARGO_TARGET_DIR=target cargo run --quiet | tee found

cat > expected <<'END'
length 301, of 5 255, maximum 9
0.5: 5
0.8: 5
0.9: 0
0.99: 0
1: 0
END
diff expected found
