//! Files with flipped bits, other bytes, and cut off: each is read, or refused with an error.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use windrow_mapped::{File, MappedError, Pace, Reader, Scale};

/// The header, the table, the states of the owners, their slots, and the first paces.
const HEAD: usize = 5 * 4096;

/// The scale of the file's histograms: of 8 places.
const SCALE: Scale = Scale::fixed::<1, 1, 4>();

/// Pseudo-random numbers, the same in each run: xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

/// Returns a whole file.
fn made(path: &Path) -> Vec<u8> {
    let file = File::builder().columns(512).names_bytes(4096).owners(8).open(path).unwrap();
    for number in 0..20 {
        let value = number.to_string();
        let name = if number % 3 == 0 { "many".to_owned() } else { format!("name_{number}") };
        file.counter(&name, &[("label", &value)]).unwrap().add(number);
    }
    for (label, scale) in [("one", SCALE), ("two", SCALE)] {
        file.histogram("values", scale, &[("label", label)]).unwrap().record(5);
        file.gauge("open", &[("label", label)]).unwrap().add(5);
    }
    std::mem::forget(file.in_flight("calls", &[]).unwrap().enter());
    file.maximum("max", &[]).unwrap().record(5);
    assert!(pace(file).unwrap().try_admit(1));
    fs::read(path).unwrap()
}

fn pace(file: File) -> Result<Pace, MappedError> {
    file.pace("limit", &[("client", "a")], Duration::from_secs(3_600), 10)
}

/// Reads all there is, and adds to it; returns whether the file was believed.
fn is_used(path: &Path) -> bool {
    let read = Reader::open(path).and_then(|reader| reader.read());
    if let Ok(reading) = &read {
        let count = reading.metrics().count();
        for metric in reading.metrics() {
            assert!(!metric.name().is_empty() && metric.labels().count() <= count * 1024);
            let values = metric.distribution();
            assert!(
                values.is_none_or(|values| values.cells().count() <= values.scale().cells() + 2)
            );
            assert!(metric.parts().count() <= 4_096);
        }
        assert!(format!("{reading:?}").len() > count);
    }
    let opened = File::open(path);
    if let Ok(file) = &opened {
        let before = file.metrics().unwrap();
        match file.counter("one more", &[]) {
            Ok(counter) => {
                let sum = counter.sum();
                counter.add(7);
                assert_eq!(counter.sum(), sum.wrapping_add(7));
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        match file.histogram("values", SCALE, &[("label", "one")]) {
            Ok(histogram) => (0..9).for_each(|value| histogram.record(value)),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        match file.gauge("open", &[("label", "two")]) {
            Ok(gauge) => {
                let part = gauge.own();
                gauge.add(7);
                assert_eq!(gauge.own(), part.wrapping_add(7));
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        match pace(*file) {
            Ok(pace) => assert!(pace.left() <= 10 && (!pace.try_admit(1) || pace.left() < 10)),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        assert!(file.metrics().unwrap() <= before + 4);
    }
    assert_eq!(read.is_ok(), opened.is_ok(), "{:?}, {:?}", read.err(), opened.err());
    read.is_ok()
}

#[test]
fn no_damage_leads_outside_of_the_file() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    let whole = made(&path);
    let length = whole.len() as u64;
    let head = &whole[..HEAD];
    let files: u32 =
        std::env::var("TEST_PERCENT").ok().and_then(|percent| percent.parse().ok()).unwrap_or(100)
            * 600;
    let damaged = folder.path().join("damaged");
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut used = 0;
    for number in 0..files {
        let mut head = head.to_vec();
        for _ in 0..=random.below(6) {
            let at = match random.below(4) {
                0 => random.below(80),
                1 => 4096 + random.below(900),
                2 => 64 + random.below(8),
                _ => 2 * 4096 + random.below(4) * 8 + random.below(3) * 4096,
            };
            head[at] = match random.below(2) {
                0 => random.below(256) as u8,
                _ => head[at] ^ 1 << random.below(8),
            };
        }
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(true).open(&damaged).unwrap();
        file.write_all_at(&head, 0).unwrap();
        file.set_len(if number % 7 == 0 { random.below(whole.len()) as u64 } else { length })
            .unwrap();
        private(&file);
        if is_used(&damaged) {
            used += 1;
            // It stays mapped, so it must not be cut off.
            fs::remove_file(&damaged).unwrap();
        }
    }
    assert!(used > files / 50 && used < files / 2, "{used} of {files} were believed");
}

/// Takes the rights of other users from a file.
fn private(file: &fs::File) {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(0o600)).unwrap();
}

#[test]
fn each_kind_of_damage_has_its_error() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    let whole = made(&path);
    let refused = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = whole.clone();
        change(&mut bytes);
        let path = folder.path().join("changed");
        fs::write(&path, bytes).unwrap();
        private(&OpenOptions::new().write(true).open(&path).unwrap());
        let [reader, file] =
            [Reader::open(&path).map(drop).unwrap_err(), File::open(&path).map(drop).unwrap_err()];
        assert_eq!(reader.to_string(), file.to_string());
        fs::remove_file(&path).unwrap();
        file
    };
    assert!(matches!(refused(&|bytes| bytes[0] = 0), MappedError::Foreign { .. }));
    let other = refused(&|bytes| *bytes = b"#!/bin/sh\nexit\n".to_vec());
    assert!(matches!(other, MappedError::Foreign { .. }));
    assert!(matches!(refused(&|bytes| bytes[8] = 0), MappedError::OtherVersion { found: 0, .. }));
    assert!(matches!(refused(&|bytes| bytes[8] = 7), MappedError::OtherVersion { found: 7, .. }));
    let cut = refused(&|bytes| bytes.truncate(9_000));
    assert!(matches!(cut, MappedError::CutOff { length: 9_000, .. }));
    assert!(matches!(refused(&Vec::clear), MappedError::CutOff { length: 0, .. }));
    let end = refused(&|bytes| bytes[66] = 1);
    assert!(matches!(end, MappedError::Damaged { offset: 64, .. }), "{end}");
    let entry = refused(&|bytes| bytes[4096 + 4] = 9);
    assert!(matches!(entry, MappedError::Damaged { offset: 4096, value: 9, .. }), "{entry}");
    let longer = refused(&|bytes| bytes.push(0));
    assert!(matches!(longer, MappedError::Damaged { offset: 32, .. }), "{longer}");
}

#[test]
fn a_file_that_is_cut_off_under_a_reader_is_an_error() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    made(&path);
    let reader = Reader::open(&path).unwrap();
    assert_eq!(
        reader.read().unwrap().named("many").filter_map(|metric| metric.sum()).sum::<u64>(),
        63
    );
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    for length in [9_000, 4_096, 66, 0] {
        file.set_len(length).unwrap();
        let error = reader.read().unwrap_err();
        assert!(matches!(error, MappedError::CutOff { .. }), "{error}");
    }
}
