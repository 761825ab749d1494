//! The thread that reads the frames, and connects again.

use std::time::Duration;

use crate::app::Message;
use crate::source::Source;

/// The first pause, and the longest.
const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(8);

/// Reads frames, and connects again after each failure. Ends when `send` returns false.
pub(crate) fn follow(
    source: &Source,
    mut send: impl FnMut(Message) -> bool,
    mut sleep: impl FnMut(Duration),
) {
    let mut failed = 0_u32;
    loop {
        let error = match source.open() {
            Err(error) => error,
            Ok(mut frames) => loop {
                match frames() {
                    Err(error) => break error,
                    Ok(frame) => {
                        failed = 0;
                        if !send(Message::Frame(Box::new(frame))) {
                            return;
                        }
                    }
                }
            },
        };
        failed = failed.saturating_add(1);
        if !send(Message::Lost(error, pause(failed))) {
            return;
        }
        sleep(pause(failed));
    }
}

/// Returns the pause after this many attempts in a row that have brought no frame.
fn pause(failed: u32) -> Duration {
    let doubled = 1_u32.checked_shl(failed.saturating_sub(1)).unwrap_or(u32::MAX);
    FIRST.saturating_mul(doubled).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;

    use super::*;
    use crate::address::Address;
    use crate::error::Error;

    const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";

    fn all(number: u32) -> String {
        format!("event: all\ndata: {{\"epoch\":\"a\",\"frame\":{number}}}\n\n")
    }

    #[test]
    fn a_lost_connection_is_made_again_after_growing_pauses() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = Address::parse(&listener.local_addr().unwrap().to_string()).unwrap();
        let skips = "event: more\ndata: {\"epoch\":\"a\",\"frame\":9}\n\n";
        let answers = [
            String::new(),
            "HTTP/1.1 503 Busy\r\n\r\nThere are too many streams.".to_owned(),
            format!("{HEAD}{}", &all(1)[..30]),
            format!("{HEAD}{}{skips}", all(1)),
            format!("{HEAD}{}", all(2)),
        ];
        let server = thread::spawn(move || {
            for answer in answers {
                let (mut stream, _) = listener.accept().unwrap();
                let _ = stream.read(&mut [0; 1_024]).unwrap();
                stream.write_all(answer.as_bytes()).unwrap();
            }
        });
        let (mut said, mut pauses) = (Vec::new(), Vec::new());
        let send = |message| {
            said.push(match message {
                Message::Frame(frame) => format!("frame {}", frame.number),
                // A closed connection may also be a reset one.
                Message::Lost(Error::Lost { .. }, _) => Error::Closed.to_string(),
                Message::Lost(error, _) => error.to_string(),
            });
            said.last().is_some_and(|last| last != "frame 2")
        };
        follow(&Source::Console(address), send, |pause| pauses.push(pause.as_millis()));
        server.join().unwrap();
        let closed = "the server has closed the connection";
        let refused = "the server refuses with status 503: There are too many streams.";
        let missing = "this is no console: a frame is missing";
        assert_eq!(said, [closed, refused, closed, "frame 1", missing, "frame 2"]);
        // A frame begins the pauses anew.
        assert_eq!(pauses, [500, 1_000, 2_000, 500]);
    }

    #[test]
    fn pauses_double_up_to_the_longest() {
        let millis = [1, 2, 3, 4, 5, 6, 33, u32::MAX].map(|failed| pause(failed).as_millis());
        assert_eq!(millis, [500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000, 8_000]);
    }
}
