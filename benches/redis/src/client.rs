//! One process of a load: it asks at a rate of its own, whatever the answers, and prints its book
//! and the times of its calls at the end.

use std::cell::{Cell, RefCell};
use std::error::Error;
use std::rc::Rc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use redis::Script;
use tokio::task::LocalSet;
use windrow::gate::Admission;
use windrow::histogram::Scale;
use windrow::{AtMost, Histogram};
use windrow_redis::SharedGate;

use super::book::{Book, Wall};

/// The cells of a call's time in nanoseconds: from 16 on, 4 % wide, up to 17 seconds.
pub(super) const TIMES: Scale = Scale::fixed::<4, 16, { 1 << 34 }>();

/// The callers of a process that share a connection.
const CALLERS: usize = 64;

/// The longest wait of a caller at a shared gate.
const PATIENCE: Duration = Duration::from_millis(5);

/// The pause of a process that has asked for all that was due.
const PAUSE: Duration = Duration::from_micros(500);

/// redis-cell's algorithm, with a burst of one interval's limit.
const GCRA: &str = "local t = redis.call('TIME'); local now = t[1] * 1e6 + t[2]
local each = 1e6 / ARGV[1]
local due = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now)
if due - now > 1e6 - each then return 0 end
redis.call('SET', KEYS[1], string.format('%.3f', due + each), 'PX', 2000)
return 1";

/// Two counts by second: of this one, and of the last one by the part that is still in the window.
const WINDOW: &str = "local t = redis.call('TIME'); local s = tonumber(t[1])
local key = KEYS[1] .. ':' .. s
local now = tonumber(redis.call('GET', key) or 0)
local before = tonumber(redis.call('GET', KEYS[1] .. ':' .. (s - 1)) or 0)
if before * (1 - t[2] / 1e6) + now + 1 > tonumber(ARGV[1]) then return 0 end
redis.call('INCR', key); redis.call('EXPIRE', key, 3)
return 1";

/// Calls that are due by now at a rate, at most a tenth of a second of them.
struct Due {
    rate: f64,
    credit: f64,
    last: Instant,
}

#[allow(clippy::cast_sign_loss)] // no rate is negative
impl Due {
    fn most(&self) -> u64 {
        self.rate as u64 / 10 + 1
    }

    fn take(&mut self) -> u64 {
        let now = Instant::now();
        let earned = self.rate * (now - self.last).as_secs_f64();
        self.credit = (self.credit + earned).min(self.rate / 10.0 + 1.0);
        self.last = now;
        let due = self.credit as u64;
        self.credit -= due as f64;
        due
    }
}

/// The notes of a process: a call's time counts from the bucket `from` on.
struct Notes {
    wall: Wall,
    book: Book,
    nanoseconds: Histogram,
    from: u64,
    to: u64,
}

impl Notes {
    fn note(&mut self, before: Instant, is_admitted: bool) {
        let after = Instant::now();
        let first = self.wall.bucket(before);
        if is_admitted {
            self.book.add(first, self.wall.bucket(after));
        }
        if (self.from..self.to).contains(&first) {
            self.nanoseconds.record((after - before).as_nanos() as u64);
        }
    }

    fn is_over(&self) -> bool {
        self.wall.until(self.to).is_zero()
    }
}

/// Does a task of the form `URL ALGORITHM NAME LIMIT RATE FROM TO`.
pub(super) fn run(task: &str) -> Result<(), Box<dyn Error>> {
    let words: Vec<&str> = task.split(' ').collect();
    let &[url, algorithm, name, limit, rate, from, to] = &words[..] else {
        return Err("a client's task has seven words".into());
    };
    let (limit, from, to) = (limit.parse()?, from.parse()?, to.parse()?);
    let (wall, book) = (Wall::new(), Book::default());
    let mut notes = Notes { wall, book, nanoseconds: Histogram::with_scale(TIMES), from, to };
    let due = Due { rate: rate.parse()?, credit: 0.0, last: Instant::now() };
    let text = if algorithm.starts_with("gcra") { GCRA } else { WINDOW };
    match algorithm {
        "rations" => {
            let gate = SharedGate::builder(AtMost(limit)).name(name).connect(url)?;
            let admit = || Ok(gate.admit_blocking(1, PATIENCE) == Admission::Now);
            one_caller(&mut notes, due, admit)?;
        }
        "clock" => one_caller(&mut notes, due, || Ok(false))?,
        "gcra" | "window" => {
            let mut connection = redis::Client::open(url)?.get_connection()?;
            let script = Script::new(text);
            let admit = || script.key(name).arg(limit).invoke(&mut connection);
            one_caller(&mut notes, due, admit)?;
        }
        _ => notes = many_callers(notes, due, url, text, name, limit)?,
    }
    for (bucket, [own, either, far]) in notes.book.lines() {
        println!("book {bucket} {own} {either} {far}");
    }
    for (values, count) in notes.nanoseconds.distribution().cells().filter(|(_, count)| *count > 0)
    {
        println!("time {} {count} 0 0", values.end());
    }
    Ok(())
}

fn one_caller(
    notes: &mut Notes,
    mut due: Due,
    mut admit: impl FnMut() -> redis::RedisResult<bool>,
) -> Result<(), Box<dyn Error>> {
    while !notes.is_over() {
        for _ in 0..due.take() {
            let before = Instant::now();
            let is_admitted = admit()?;
            notes.note(before, is_admitted);
        }
        sleep(PAUSE);
    }
    Ok(())
}

/// Asks by many callers on one connection, all on this thread.
fn many_callers(
    notes: Notes,
    mut due: Due,
    url: &str,
    text: &str,
    name: &str,
    limit: u64,
) -> Result<Notes, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (notes, left) = (Rc::new(RefCell::new(notes)), Rc::new(Cell::new(0_u64)));
    let script = Rc::new(Script::new(text));
    let work = async {
        let client = redis::Client::open(url)?;
        let connection = client.get_multiplexed_async_connection().await?;
        let mut callers = Vec::new();
        for _ in 0..CALLERS {
            let (notes, left, script) = (notes.clone(), left.clone(), script.clone());
            let (mut connection, name) = (connection.clone(), name.to_owned());
            callers.push(tokio::task::spawn_local(async move {
                while !notes.borrow().is_over() {
                    let Some(rest) = left.get().checked_sub(1) else {
                        tokio::time::sleep(PAUSE).await;
                        continue;
                    };
                    left.set(rest);
                    let before = Instant::now();
                    let mut call = script.key(&name);
                    let is_admitted: bool = call.arg(limit).invoke_async(&mut connection).await?;
                    notes.borrow_mut().note(before, is_admitted);
                }
                Ok::<(), redis::RedisError>(())
            }));
        }
        while !notes.borrow().is_over() {
            let most = due.most();
            left.set((left.get() + due.take()).min(most));
            tokio::time::sleep(PAUSE).await;
        }
        for caller in callers {
            caller.await??;
        }
        Ok::<(), Box<dyn Error>>(())
    };
    runtime.block_on(LocalSet::new().run_until(work))?;
    Ok(Rc::into_inner(notes).ok_or("a caller is left")?.into_inner())
}
