//! The pictures of the page that the documentation shows.

use std::collections::HashMap;
use std::env;
use std::fs;
use std::io::Cursor;
use std::time::{Duration, Instant, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use windrow::export::{from_fn, total_fn};
use windrow_console::Console;

use crate::page::Page;
use crate::shop::{Served, Shop};

/// Pictures are for reading, not for waiting.
const MOST_BYTES: usize = 130_000;

/// Returns the rows, and the first charts, as a drawing.
const DRAWING: &str = "drawing('The page of windrow-console: what is unusual, the rows, and one of them over the last minute, hour and day', 616)";

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn the_page_by_day_and_by_night() {
    let keep = env::var_os("WINDROW_PICTURES").is_some();
    let shop = Shop::new();
    // So that at the end half of a minute, and of a quarter of an hour, is over. The checkout is in
    // its bad quarter of an hour.
    shop.pass(Duration::from_secs(450));
    shop.work_until(1_800, 86_400);
    let open = shop.open_at(1_800.0);
    let server = Served::of(with_process(shop.console()));
    let mut page = Page::open(&server);
    page.browser.value(include_str!("drawing.js"));
    page.browser.value("record()");
    page.browser.resize(1300, 1100, false);
    let key = "requests{method=\"POST\",route=\"/checkout/payment\"}";
    let chosen = json!({ "series": key });
    let chosen = format!("location.hash = new URLSearchParams({chosen})");
    page.browser.value(&chosen);
    page.browser.wait_for("document.querySelector('#detail [data-horizon=day]')");
    // The dark one is in the console's own README.
    for (scheme, folder) in [("light", ".."), ("dark", ".")] {
        page.browser.prefer(scheme);
        page.catch_up(&server);
        let both = "[...document.querySelectorAll('#cores [data-core]')].filter(row => row.dataset.value > 0).length > 1";
        page.browser.wait_for(both);
        // The unusual rows stand above, also if they were found after one was brought into sight.
        page.browser.wait_for("Number(document.querySelector('#now').dataset.changes) > 3");
        page.browser.value("document.querySelector('#scroll').scrollTop = 0");
        page.draw();
        let picture = small(&STANDARD.decode(page.browser.screenshot()).unwrap());
        assert!(picture.len() < MOST_BYTES, "{scheme}: {} bytes", picture.len());
        let folder = if keep { folder } else { env!("CARGO_TARGET_TMPDIR") };
        fs::write(format!("{folder}/console-{scheme}.png"), &picture).unwrap();
        if scheme == "light" {
            let drawing = page.browser.value(DRAWING);
            let drawing = drawing.as_str().unwrap();
            assert!(drawing.len() < MOST_BYTES / 2, "{} bytes", drawing.len());
            let folder = if keep { "../../docs" } else { env!("CARGO_TARGET_TMPDIR") };
            fs::write(format!("{folder}/console.svg"), drawing).unwrap();
        }
    }
    drop(open);
    page.assert_well();
}

/// Adds the numbers of a process to a console.
fn with_process(mut console: Console) -> Console {
    let begun = Instant::now();
    let cpu = total_fn(move || 1.3 + 0.07 * begun.elapsed().as_secs_f64());
    console.show("process_cpu_seconds", "CPU time, user and system", cpu).unwrap();
    let start = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    for (name, number) in [
        ("process_resident_memory_bytes", 59_768_832.0),
        ("process_open_fds", 61.0),
        ("process_max_fds", 1_024.0),
        ("process_threads", 9.0),
        ("process_start_time_seconds", start as f64),
    ] {
        console.show(name, "A number of the process", from_fn(move || number)).unwrap();
    }
    console
}

type Color = [u8; 3];

/// Returns the picture with the 256 colours that it has most of; others become the one that is
/// nearest.
fn small(picture: &[u8]) -> Vec<u8> {
    let mut reader = png::Decoder::new(Cursor::new(picture)).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    let pixels: Vec<Color> = bytes[..info.buffer_size()]
        .chunks_exact(info.color_type.samples())
        .map(|pixel| [pixel[0], pixel[1], pixel[2]])
        .collect();
    let mut counts: HashMap<Color, usize> = HashMap::new();
    for pixel in &pixels {
        *counts.entry(*pixel).or_default() += 1;
    }
    let mut palette: Vec<Color> = counts.keys().copied().collect();
    palette.sort_unstable_by_key(|color| (usize::MAX - counts[color], *color));
    palette.truncate(256);
    let far = |one: Color, other: Color| -> u32 {
        one.iter().zip(other).map(|(one, other)| u32::from(one.abs_diff(other)).pow(2)).sum()
    };
    let nearest = |color: Color| (0..palette.len()).min_by_key(|at| far(palette[*at], color));
    let places: HashMap<Color, u8> =
        counts.keys().map(|color| (*color, nearest(*color).unwrap() as u8)).collect();
    let indexed: Vec<u8> = pixels.iter().map(|pixel| places[pixel]).collect();

    let mut small = Vec::new();
    let mut encoder = png::Encoder::new(&mut small, info.width, info.height);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_palette(palette.concat());
    encoder.set_compression(png::Compression::High);
    encoder.set_filter(png::Filter::NoFilter);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&indexed).unwrap();
    writer.finish().unwrap();
    small
}
