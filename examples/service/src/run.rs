//! The whole run: service, clients, a line every second, an orderly end.

use std::fs;
use std::io::{Error, Result};
use std::net::{SocketAddr, TcpListener};
use std::process::ExitCode;
use std::time::Duration;

use tokio::net::TcpListener as Listener;
use tokio::runtime::Runtime;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::display::grouped;
use crate::load::Load;
use crate::options::Options;
use crate::shop::Shop;
use crate::{app, counts, display, server, stop, verdict};

/// Runs the service and its clients. Fails if the counts of the service are not those of windrow.
pub(crate) fn run(options: &Options, listener: TcpListener) -> Result<ExitCode> {
    Runtime::new()?.block_on(serve(options, listener))
}

async fn serve(options: &Options, listener: TcpListener) -> Result<ExitCode> {
    let settings = &options.settings;
    let signal = stop::at_signals()?;
    let address = listener.local_addr()?;
    let shop = Shop::open();
    let console = counts::console().map_err(Error::other)?;
    let router = app::router(&shop, &console, signal.clone(), settings)?;
    let (listener, closed) = (Listener::from_std(listener)?, CancellationToken::new());
    let server = server::serve(listener, router, settings.clone(), closed.clone());
    let server = tokio::spawn(server);
    tracing::info!(%address, "serving");
    let load = options.clients().map(|clients| Load::begin(address, clients));

    watch(options, address, &signal).await;

    // In order: not ready, so that balancers send no more; no new requests of our own; the last
    // answers; then the counts stand still.
    signal.cancel();
    tracing::info!(delay = ?settings.drain_delay, limit = ?settings.drain_limit, "draining");
    sleep(settings.drain_delay).await;
    if let Some(load) = load {
        let received = load.end().await?;
        display::say(&format!("\nits clients received {} answers\n", grouped(received)));
    }
    console.close(); // its streams would go on
    closed.cancel();
    let cut = server.await?;
    if cut > 0 {
        let limit = settings.drain_limit;
        tracing::warn!(connections = cut, ?limit, "not all were answered: connections are cut");
    }
    let export = match &options.export {
        Some(file) => fs::write(file, app::last_scrape(&console).await?).map_err(|error| {
            let why = format!("the last export was not written: {}: {error}", file.display());
            Error::new(error.kind(), why)
        }),
        None => Ok(()),
    };
    let verdict = verdict::give(&shop.book.compare());
    export.map(|()| verdict)
}

/// Draws the counts once a second, until it is time to stop.
async fn watch(options: &Options, address: SocketAddr, stop: &CancellationToken) {
    let draw = |text: &str| {
        if options.is_drawn() {
            display::say(text);
        }
    };
    draw(&display::head(address, options.clients()));
    let begun = Instant::now();
    for second in 1..=options.seconds().unwrap_or(u64::MAX) {
        tokio::select! {
            () = stop.cancelled() => break,
            () = sleep_until(begun + Duration::from_secs(second)) => draw(&display::line(second)),
        }
    }
}
