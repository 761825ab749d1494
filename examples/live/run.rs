//! The whole run over HTTP: service, clients, a picture every second, an orderly end.

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use crate::client;
use crate::display;
use crate::numbers::grouped;
use crate::options::Options;
use crate::service::{PATH, Service};
use crate::verdict::Row;

/// Runs the service and its clients, and returns what the service and the window counted.
pub(crate) fn run(options: &Options, listener: TcpListener) -> io::Result<Vec<Row>> {
    Runtime::new()?.block_on(serve(options, listener))
}

async fn serve(options: &Options, listener: TcpListener) -> io::Result<Vec<Row>> {
    let address = listener.local_addr()?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    // Room for three clients in four: the others are refused.
    let service = Arc::new(Service::new((options.clients * 3).div_ceil(4)));
    let (close, closed) = oneshot::channel::<()>();
    let server = axum::serve(listener, service.router()).with_graceful_shutdown(async {
        let _ = closed.await;
    });
    let server = tokio::spawn(server.into_future());

    let stop = Arc::new(AtomicBool::new(false));
    let mut clients = JoinSet::new();
    for _ in 0..options.clients {
        let stop = Arc::clone(&stop);
        clients.spawn(async move { client::run(address, &stop).await });
    }

    let title = format!("http://{address}{PATH}, {} clients", options.clients);
    watch(options, &title, &service).await;

    // In order: no new requests, the last answers, no more service; then the counts stand still.
    stop.store(true, Relaxed);
    let mut received = 0;
    while let Some(client) = clients.join_next().await {
        received += client.map_err(io::Error::other)??;
    }
    let _ = close.send(());
    server.await.map_err(io::Error::other)??;

    let answered = service.answered();
    if received != answered {
        let what = format!("the service gave {answered} answers, the clients got {received}");
        return Err(io::Error::other(what));
    }
    display::say(&format!("\nthe clients received {} answers\n", grouped(received)));
    Ok(service.compare())
}

/// Draws what the window says, once a second.
async fn watch(options: &Options, title: &str, service: &Service) {
    let screen = ProgressBar::with_draw_target(None, ProgressDrawTarget::stdout())
        .with_style(ProgressStyle::with_template("{msg}").expect("the template is sound"));
    let begun = Instant::now();
    if options.plain {
        display::say(&format!("{title}\n"));
    }
    for second in 1..=options.seconds {
        sleep_until(begun + Duration::from_secs(second)).await;
        if options.plain {
            display::say(&display::line(&service.window, second));
        } else {
            let head = format!("{title}, {second} of {} s\n\n", options.seconds);
            screen.set_message(head + &display::table(&service.window));
        }
    }
    screen.abandon(); // the last picture stays
}
