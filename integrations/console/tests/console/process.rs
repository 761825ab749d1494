//! The numbers of the process itself: with their units for people, and exact for programs.

use serde_json::{Value, json};
use windrow::export::{Catalog, from_fn, total_fn};
use windrow_console::Console;

use super::{get, json, served, text};

/// A catalog like that of windrow-process, and a gauge with a unit that its name does not say.
fn catalog() -> Catalog {
    let mut all = Catalog::new();
    let cpu = total_fn(|| 12.34);
    all.add("process_cpu_seconds", "CPU time", cpu).unwrap().unit = "s".into();
    for (name, unit, number) in [
        ("process_resident_memory_bytes", "By", 59_768_832.0),
        ("process_open_fds", "", 31.0),
        ("process_max_fds", "", 1_024.0),
        ("process_start_time_seconds", "s", 1_795_843_617.0),
        ("buffers", "By", 2_048.0),
    ] {
        all.add(name, "", from_fn(move || number)).unwrap().unit = unit.into();
    }
    all
}

#[tokio::test]
async fn units_are_for_people_and_numbers_stay_exact() {
    let mut console = Console::new("shop");
    console.show_all(&catalog()).unwrap();
    let server = served(&console.build());
    let shown = text(get(server.address(), "/text").await).await.replace('\u{202f}', " ");
    for line in [
        "process_cpu_seconds  12.3 s",
        "process_resident_memory_bytes  57 MiB",
        "process_open_fds  31",
        "process_start_time_seconds  2026-11-28 05:26:57 UTC",
        "buffers  2 KiB",
    ] {
        assert!(shown.contains(&format!("\n{line}\n")), "{line:?} in {shown}");
    }
    let snapshot = json(server.address(), "/snapshot.json").await;
    let of = |index: usize| {
        let metric = &snapshot["metrics"][index];
        let series = &metric["series"][0];
        (metric["unit"].clone(), series["level"].clone(), series["says"].clone())
    };
    assert_eq!(of(1), (json!("By"), json!(59_768_832.0), json!("57\u{202f}MiB")));
    assert_eq!(of(2), (Value::Null, json!(31.0), Value::Null));
    let start = (json!("time"), json!(1_795_843_617.0), json!("2026-11-28 05:26:57 UTC"));
    assert_eq!(of(4), start);
    let one = json(server.address(), "/snapshot.json?series=process_start_time_seconds").await;
    assert_eq!(one["series"]["says"], start.2);
}
