//! Reads a mapped file in which the input changes bytes, and which it cuts off: each file is read,
//! or refused with an error, and never read outside of itself.

#![no_main]

use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::sync::LazyLock;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use windrow_mapped::{File, Reader, Scale};

/// The part of a file that has the header, the names, the owners of slots with their gauges, and
/// the first paces.
const HEAD: usize = 5 * 4096;

/// The head of a whole file, and its length.
static WHOLE: LazyLock<(Vec<u8>, u64)> = LazyLock::new(|| {
    let settings = File::builder().columns(512).names_bytes(4096).owners(4);
    let file = settings.sealed().expect("a file in memory");
    for number in 0..20 {
        let value = number.to_string();
        let name = if number % 3 == 0 { "many" } else { value.as_str() };
        file.counter(name, &[("label", &value)]).expect("room for it").add(number);
    }
    let scale = Scale::fixed::<1, 1, 4>();
    file.histogram("values", scale, &[]).expect("room for it").record(3);
    file.gauge("open", &[]).expect("room for it").add(5);
    file.pace("limit", &[], Duration::from_secs(1), 5).expect("room for it");
    let mut file = std::fs::File::from(file.as_fd().try_clone_to_owned().expect("a descriptor"));
    let mut head = vec![0; HEAD];
    file.read_exact(&mut head).expect("a whole file");
    (head, file.seek(SeekFrom::End(0)).expect("a length"))
});

fuzz_target!(|input: &[u8]| {
    let (head, length) = &*WHOLE;
    let (mut head, mut length) = (head.clone(), *length);
    // Each three bytes are a place in the head, and its new byte; behind the head they are a cut.
    for change in input.chunks_exact(3) {
        let place = usize::from(u16::from_le_bytes([change[0], change[1]]));
        match head.get_mut(place) {
            Some(byte) => *byte = change[2],
            None => length = length.min(place as u64 * 8),
        }
    }
    let mut file = tempfile::tempfile_in("/dev/shm").expect("a file in memory");
    file.write_all(&head).expect("memory");
    file.set_len(length).expect("memory");
    if let Ok(reading) = Reader::from_file(file).and_then(|reader| reader.read()) {
        let names: usize = reading.metrics().map(|metric| metric.name().len()).sum();
        assert!(names <= HEAD);
        for metric in reading.metrics() {
            let places = metric.distribution().map_or(0, |values| values.cells().count());
            assert!(places <= 512 && metric.parts().count() <= 4096);
        }
    }
});
