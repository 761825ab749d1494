//! A fleet of three processes, by real sockets: its totals are those of the senders' books, also
//! when one is killed and started anew, and beside members that are none.

mod bad;
#[cfg(target_os = "linux")]
mod cost;
mod member;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use serde_json::Value;

use member::{Book, Member};

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(120);

/// The program `windrow-console`, until it is dropped.
struct Console {
    process: Child,
    address: SocketAddr,
    targets: PathBuf,
}

impl Console {
    fn start(test: &str) -> Console {
        let name = format!("windrow-fleet-{test}-{}", std::process::id());
        let targets = std::env::temp_dir().join(name);
        fs::write(&targets, "").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_windrow-console"));
        command.args(["--name", "shop", "--listen", "127.0.0.1:0", "--file"]).arg(&targets);
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let line = member::line(process.stdout.as_mut().unwrap());
        let address = line.strip_prefix("http://").and_then(|rest| rest.strip_suffix('/'));
        Console { process, address: address.unwrap().parse().unwrap(), targets }
    }

    /// Writes the file of targets: all at once, as an editor does.
    fn set_targets(&self, targets: &[impl ToString]) {
        let next = self.targets.with_extension("next");
        let lines: Vec<String> = targets.iter().map(ToString::to_string).collect();
        fs::write(&next, format!("# members\n\n{}", lines.join("\n"))).unwrap();
        fs::rename(&next, &self.targets).unwrap();
    }

    fn json(&self, path: &str) -> Value {
        serde_json::from_str(&get(self.address, path)).unwrap()
    }

    /// Waits until the fleet is such.
    fn until(&self, what: &str, is_such: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let seen = self.json("/snapshot.json");
            if is_such(&seen) {
                return seen;
            }
            assert!(begun.elapsed() < LONG, "not {what}: {seen:#}");
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// Waits until the all-time sums are those of the books, and checks all cells.
    fn until_equal(&self, books: &[&Book]) -> Value {
        let book = Book::sum(books);
        let counts = |seen: &Value| {
            let all = &seen["metrics"][0]["rows"][0]["all"];
            [&all["Pass"]["count"], &all["Exception"]["count"], &all["Rt"]["count"]]
                .map(Value::as_u64)
        };
        let expected = [book.pass, book.failed, book.values.count()].map(Some);
        let seen = self.until(&format!("{expected:?}"), |seen| counts(seen) == expected);
        let one = self.json("/snapshot.json?series=requests%7Broute%3D%22/cart%22%7D");
        let cells: Vec<[u64; 3]> =
            serde_json::from_value(one["series"]["cells"]["all"]["Rt"].clone()).unwrap();
        let expected = book.values.cells();
        let expected: Vec<[u64; 3]> =
            expected.map(|(cell, count)| [*cell.start(), *cell.end(), count]).collect();
        assert_eq!(cells, expected);
        let values = &one["series"]["all"]["Rt"];
        assert_eq!(values["p99"].as_u64(), book.values.quantile(0.99));
        assert_eq!(
            (values["sum"].as_u64(), values["max"].as_u64()),
            (Some(book.values.sum()), book.values.max())
        );
        seen
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_file(&self.targets);
    }
}

fn get(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    let head = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    body.to_owned()
}

fn processes(seen: &Value) -> usize {
    seen["processes"].as_array().unwrap().len()
}

#[test]
fn the_totals_of_three_processes_are_those_of_the_senders_books() {
    let console = Console::start("totals");
    let mut members: Vec<Member> = (0..3).map(|seed| Member::start(seed, None)).collect();
    let addresses: Vec<SocketAddr> = members.iter().map(|member| member.address).collect();

    console.set_targets(&addresses[..2]);
    let two: Vec<Book> = members[..2].iter_mut().map(|member| member.send(5_000)).collect();
    let seen = console.until_equal(&two.iter().collect::<Vec<_>>());

    // The points after a round have each operation once that comes after it.
    let counted = |seen: &Value, after: Option<u64>| {
        let points = seen["courses"]["rows"]["requests{route=\"/cart\"}"].as_array().unwrap();
        let ends = seen["courses"]["ends_ms"].as_array().unwrap().iter().map(Value::as_u64);
        let later = ends.zip(points).filter(|(end, _)| *end > after);
        later.filter_map(|(_, point)| point[0].as_u64()).sum::<u64>()
    };
    let equal = seen["time_ms"].as_u64();
    let ended = |seen: &Value| seen["courses"]["ends_ms"].as_array().unwrap().last()?.as_u64();
    let before = ended(&console.until("a later point", |seen| ended(seen) > equal));
    members[..2].iter_mut().for_each(|member| _ = member.send(2_001));
    console.until("points of 4002", |seen| counted(seen, before) == 4_002);

    // The file changes: a third one, by its name.
    let third = format!("localhost:{}", addresses[2].port());
    console.set_targets(&[addresses[0].to_string(), addresses[1].to_string(), third]);
    let mut books: Vec<Book> = members.iter_mut().map(|member| member.send(3_000)).collect();
    let seen = console.until_equal(&books.iter().collect::<Vec<_>>());
    assert_eq!(processes(&seen), 3);

    // The second is killed, and started anew at its address: what it had counted stays.
    let killed = members.remove(1);
    let address = killed.kill();
    console.until("one without an answer", |seen| seen["failing"].as_array().unwrap().len() == 1);
    let mut again = Member::start(7, Some(address));
    books.push(again.send(2_000));
    books[0] = members[0].send(1_000);
    books[2] = members[1].send(1_000);
    let seen = console.until_equal(&books.iter().collect::<Vec<_>>());
    let seen = if processes(&seen) == 3 {
        seen
    } else {
        console.until("three processes", |seen| processes(seen) == 3)
    };
    assert_eq!(seen["gone"], 1);
    assert_eq!(seen["failing"], serde_json::json!([]));

    // The same for a terminal.
    let text = get(console.address, "/text");
    assert!(text.starts_with("shop: 3 processes answer at 3 addresses; 1 gone\n"), "{text}");
    let pass = Book::sum(&books.iter().collect::<Vec<_>>()).pass;
    assert!(text.contains(&format!("requests{{route=\"/cart\"}}  Pass {pass}  ")), "{text}");
}

#[test]
fn wrong_arguments_are_told() {
    let run = |arguments: &[&str]| {
        let program = env!("CARGO_BIN_EXE_windrow-console");
        let output = Command::new(program).args(arguments).output().unwrap();
        let [told, wrong] =
            [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        (output.status.code(), told, wrong)
    };
    let (code, told, _) = run(&["--help"]);
    assert_eq!(code, Some(0));
    assert!(told.contains("windrow-console [OPTION]... [HOST:PORT[/PATH]]..."), "{told}");
    let fails = |arguments: &[&str], expected: &str| {
        let (code, told, wrong) = run(arguments);
        assert_eq!((code, told.as_str()), (Some(1), ""), "{arguments:?}");
        assert_eq!(wrong.trim_end(), format!("windrow-console: {expected}"));
    };
    fails(&[], "there are no consoles to read: see --help");
    fails(&["--files", "x"], "there is no option --files: see --help");
    fails(&["--file"], "--file needs a value");
    fails(&["shop"], "`shop` is no target: it has no port, as `host:9090` has");
    let beyond = "0.0.0.0:0 can be reached from other machines: --beyond-loopback allows that";
    fails(&["--listen", "0.0.0.0:0", "shop:80"], beyond);
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        let program = env!("CARGO_BIN_EXE_windrow-console");
        let argument = std::ffi::OsStr::from_bytes(b"--name=\xff");
        let output = Command::new(program).arg(argument).output().unwrap();
        let wrong = String::from_utf8(output.stderr).unwrap();
        let expected = "windrow-console: an argument is not Unicode: --name=\u{fffd}\n";
        assert_eq!((output.status.code(), wrong.as_str()), (Some(1), expected));
    }
}
