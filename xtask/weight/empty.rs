//! A program without a library: what the others add is the difference to it.

fn main() {
    println!("{}", std::env::args().count());
}
