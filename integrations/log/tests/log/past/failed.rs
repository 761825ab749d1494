//! Files that cannot be read: the numbers are those of the others, and the error is said.

use std::io::ErrorKind;

use testkit::held::Held;

use super::*;

/// Writes files of a hundred seconds each, and returns their lines.
fn write_files(directory: &Path, rng: &mut Rng, files: u64, begin: u64) -> Vec<Vec<Line>> {
    (0..files)
        .map(|number| {
            let end = |second| begin + (100 * number + second) * SECOND;
            let lines: Vec<Line> =
                (1..=100).map(|second| bucket(rng, end(second), SECOND)).collect();
            let text: String = lines.iter().map(Line::text).collect();
            fs::write(file(directory, number + 1), head("a", begin, 60) + &text).unwrap();
            lines
        })
        .collect()
}

/// Compares the sums of all resources with those of these lines, in bins of seconds and of minutes.
fn check_all(past: &Past, lines: &[Line], begin: u64, failed: &[PathBuf], unread: u64) {
    for resource in RESOURCES {
        for (seconds, bins) in [(300, 1_000), (300, 10), (86_400, 400)] {
            let range = (at(begin), at(begin + seconds * SECOND));
            let span = past.span(resource, range.0, range.1, bins);
            assert_eq!(sums(&span), book(lines, resource, &span), "{seconds} s, {bins} bins");
            let said = span.failed.iter().map(|failed| (&failed.path, failed.error.kind()));
            let expected = failed.iter().map(|path| (path, ErrorKind::WouldBlock));
            assert_eq!(said.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
            assert_eq!(span.unread, unread);
        }
    }
}

#[test]
fn a_file_that_cannot_be_read_costs_its_own_numbers_only() {
    let mut rng = Rng::with_seed(41);
    let begin = 20_000 * 86_400 * SECOND;
    let directory = tempfile::tempdir().unwrap();
    let files = write_files(directory.path(), &mut rng, 3, begin);
    let others = [&files[0][..], &files[2]].concat();
    let second = file(directory.path(), 2);
    let length = fs::metadata(&second).unwrap().len();
    let mut past = Past::new(directory.path());
    let held = Held::of(&second);
    // It does not keep one from reading the others, in any steps, and it does not go on for ever.
    catch_up(&mut past, 1_000);
    check_all(&past, &others, begin, std::slice::from_ref(&second), length);
    drop(held);
    catch_up(&mut past, 1_000);
    check_all(&past, &files.concat(), begin, &[], 0);
}

/// A file whose order is unknown: all of its lines are read for a span, without a search.
#[test]
fn a_file_without_a_first_line_that_can_no_longer_be_read_is_said() {
    let begin = 20_000 * 86_400 * SECOND;
    let (directory, mut rng) = (tempfile::tempdir().unwrap(), Rng::with_seed(43));
    let line = bucket(&mut rng, begin + SECOND, SECOND);
    let path = file(directory.path(), 1);
    fs::write(&path, line.text()).unwrap();
    let mut past = Past::new(directory.path());
    catch_up(&mut past, u64::MAX);
    let range = (begin, begin + 10 * SECOND);
    let whole = check(&past, std::slice::from_ref(&line), &line.resource, range, 100);
    assert_eq!((whole.bin, whole.unread), (Duration::from_secs(1), 0));
    let _held = Held::of(&path);
    let span = past.span(&line.resource, at(range.0), at(range.1), 100);
    let [failed] = &span.failed[..] else { panic!("{:?}", span.failed) };
    assert_eq!((&failed.path, span.unread), (&path, line.text().len() as u64));
    assert!(sums(&span).is_empty());
}

/// The sums of a file that was read are there, and lines that are read for a span are missing.
#[test]
fn a_file_that_was_read_and_can_no_longer_be_read_is_said() {
    let mut rng = Rng::with_seed(42);
    let begin = 20_000 * 86_400 * SECOND;
    let directory = tempfile::tempdir().unwrap();
    let files = write_files(directory.path(), &mut rng, 3, begin);
    let second = file(directory.path(), 2);
    let length = fs::metadata(&second).unwrap().len();
    let mut past = Past::new(directory.path());
    catch_up(&mut past, u64::MAX);
    let held = Held::of(&second);
    for caught_up in [false, true] {
        if caught_up {
            catch_up(&mut past, u64::MAX);
        }
        // By minutes, from the sums: nothing is missing.
        let range = (begin, begin + 86_400 * SECOND);
        for resource in RESOURCES {
            check(&past, &files.concat(), resource, range, 400);
        }
        // By seconds, from the lines.
        let others = [&files[0][..], &files[2]].concat();
        for resource in RESOURCES {
            let span = past.span(resource, at(begin), at(begin + 300 * SECOND), 1_000);
            assert_eq!(span.bin, Duration::from_secs(1));
            assert_eq!(sums(&span), book(&others, resource, &span));
            let [failed] = &span.failed[..] else { panic!("{:?}", span.failed) };
            assert_eq!((&failed.path, span.unread), (&second, length));
        }
    }
    drop(held);
    check_all(&past, &files.concat(), begin, &[], 0);
    // It has grown: neither its new lines nor its old ones can be read. That is one error.
    let last = bucket(&mut rng, begin + 300 * SECOND, SECOND);
    let mut open = OpenOptions::new().append(true).open(&second).unwrap();
    open.write_all(last.text().as_bytes()).unwrap();
    drop(open);
    let held = Held::of(&second);
    catch_up(&mut past, u64::MAX);
    let span = past.span(&last.resource, at(begin), at(begin + 300 * SECOND), 1_000);
    let [failed] = &span.failed[..] else { panic!("{:?}", span.failed) };
    assert_eq!((&failed.path, span.unread), (&second, length + last.text().len() as u64));
    drop(held);
    catch_up(&mut past, u64::MAX);
    check_all(&past, &[&files.concat()[..], &[last]].concat(), begin, &[], 0);
}
