//! A reader in another language, which has no code in common with the library.

use std::fmt::Write;
use std::process::Command;

use windrow_mapped::File;

const READER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/reader.py");

#[test]
fn a_reader_in_python_reads_the_same() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    let file = File::builder().columns(10_000).open(&path).unwrap();
    let mut expected = String::new();
    for number in 0..9_000 {
        let name = format!("name_{number}");
        let labels = [("route", "größe"), ("code", "200")];
        let labels = if number % 2 == 0 { &labels[..] } else { &[] };
        file.counter(&name, labels).unwrap().add(number);
        let labels = if number % 2 == 0 { " code=200 route=größe" } else { "" };
        writeln!(expected, "{name}{labels} {number}").unwrap();
    }
    let output = match Command::new("python3").arg(READER).arg(&path).output() {
        Ok(output) => output,
        Err(error) => return println!("not run, without python3: {error}"),
    };
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
}
