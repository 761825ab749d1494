//! The whole run: service, clients, a picture every second, an orderly end.

use std::fs;
use std::io::{Error, Result};
use std::net::TcpListener;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::runtime::Runtime;
use tokio::time::{Instant, sleep_until};

use crate::load::Load;
use crate::numbers::grouped;
use crate::options::Options;
use crate::server::Server;
use crate::shop::Shop;
use crate::stop::Stop;
use crate::verdict::Row;
use crate::{app, counts, display};

/// Runs the service and its clients, and returns what the service and windrow counted.
pub(crate) fn run(options: &Options, listener: TcpListener) -> Result<Vec<Row>> {
    Runtime::new()?.block_on(serve(options, listener))
}

async fn serve(options: &Options, listener: TcpListener) -> Result<Vec<Row>> {
    let signal = Stop::at_signals()?;
    let address = listener.local_addr()?;
    let shop = Shop::open();
    let console = counts::console().map_err(Error::other)?;
    let server = Server::start(listener, app::router(&shop, &console))?;
    let load = options.clients.map(|clients| Load::begin(address, clients));

    watch(options, &display::head(address, options.clients), signal).await;

    // In order: no new requests of our own, the last answers, no more service; then the counts
    // stand still.
    if let Some(load) = load {
        let received = load.end().await?;
        display::say(&format!("\nits clients received {} answers\n", grouped(received)));
    }
    console.close(); // its streams would go on
    if let Err(error) = server.end().await {
        eprintln!("windrow-service: not all were answered: {error}");
    }
    if let Some(file) = &options.export {
        let write = fs::write(file, app::last_scrape(&console).await?);
        write.map_err(|error| Error::new(error.kind(), format!("{}: {error}", file.display())))?;
    }
    Ok(shop.book.compare())
}

/// Draws the counts once a second, until it is time to stop.
async fn watch(options: &Options, head: &str, stop: Stop) {
    let screen = ProgressBar::with_draw_target(None, ProgressDrawTarget::stdout())
        .with_style(ProgressStyle::with_template("{msg}").expect("the template is sound"));
    let begun = Instant::now();
    if options.plain {
        display::say(head);
    } else {
        screen.set_message(head.to_owned());
    }
    for second in 1..=options.seconds.unwrap_or(u64::MAX) {
        tokio::select! {
            () = stop.clone().asked() => break,
            () = sleep_until(begun + Duration::from_secs(second)) => {}
        }
        if options.plain {
            display::say(&display::line(second));
        } else {
            screen.set_message(format!("{head}\n{}", display::table()));
        }
    }
    screen.abandon(); // the last picture stays
}
