//! A browser for one test, with one page, driven by the browser's debugging protocol.
//!
//! Commands, answers and events are JSON texts, each with a zero byte behind it, and go through a
//! pipe: there is no port, and the browser ends when our end of the pipe does.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Debian's, and the name of its package.
const PROGRAM: &str = "chromium-headless-shell";

/// With the pipe, it reads commands from its descriptor 3 and writes answers to 4. A shell can hand
/// these over.
const START: &str = r#"exec "$0" "$@" 3<&0 4>&1 > /dev/null"#;

const OPTIONS: [&str; 8] = [
    "--remote-debugging-pipe",
    "--no-sandbox", // which root would have to leave anyway
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--force-color-profile=srgb",
];

/// For what takes some milliseconds, as a rule. A busy machine may take its time.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Browser {
    process: Child,
    /// Taken at the end.
    commands: Option<ChildStdin>,
    messages: Receiver<Value>,
    folder: PathBuf,
    /// The protocol's name for being attached to the page.
    session: Option<Value>,
    /// The notes of all pages.
    tabs: Vec<Value>,
    /// The number of the last command.
    last: u64,
    seen: Seen,
}

/// The actions of the page since the last call.
#[derive(Default)]
pub(crate) struct Seen {
    /// The addresses of all that it has asked for.
    pub(crate) requests: Vec<String>,
    /// The messages in its console, errors of scripts and of the network too.
    pub(crate) complaints: Vec<String>,
}

impl Browser {
    /// Starts it with an empty page.
    pub(crate) fn start() -> Browser {
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("browser-{}-{number}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let log = fs::File::create(folder.join("log")).unwrap();
        let mut process = Command::new("sh")
            .args(["-c", START, PROGRAM])
            .args(OPTIONS)
            .arg(format!("--user-data-dir={}", folder.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap();
        let commands = process.stdin.take();
        let answers = process.stdout.take().unwrap();
        let (sender, messages) = channel();
        thread::spawn(move || read(answers, &sender));
        let seen = Seen::default();
        let session = None;
        let tabs = Vec::new();
        let mut browser =
            Browser { process, commands, messages, folder, session, tabs, last: 0, seen };
        browser.open_tab();
        browser
    }

    /// Opens another empty page, to which calls go from now on. Returns its number.
    pub(crate) fn open_tab(&mut self) -> usize {
        self.session = None;
        let page = self.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let page = json!({ "targetId": page["targetId"], "flatten": true });
        let attached = self.call("Target.attachToTarget", &page);
        self.tabs.push(attached["sessionId"].clone());
        self.turn_to(self.tabs.len() - 1);
        for domain in ["Page", "Runtime", "Network", "Log"] {
            self.call(&format!("{domain}.enable"), &json!({}));
        }
        self.tabs.len() - 1
    }

    /// Calls go to this page from now on.
    pub(crate) fn turn_to(&mut self, tab: usize) {
        self.session = Some(self.tabs[tab].clone());
    }

    /// Calls a method of the protocol, and returns its result.
    pub(crate) fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.last += 1;
        let mut command = json!({ "id": self.last, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            command["sessionId"] = session.clone();
        }
        let pipe = self.commands.as_mut().unwrap();
        // A browser that has ended does not answer either.
        let _ = write!(pipe, "{command}\0").and_then(|()| pipe.flush());
        loop {
            let message = self.message(method);
            if message["id"] != self.last {
                self.seen.note(&message);
                continue;
            }
            assert!(message.get("error").is_none(), "{method}: {}", message["error"]);
            return message["result"].clone();
        }
    }

    fn message(&self, method: &str) -> Value {
        self.messages.recv_timeout(PATIENCE).unwrap_or_else(|error| {
            let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
            panic!("{PROGRAM} does not answer {method}: {error}\n{log}")
        })
    }

    /// Loads a page, as when its address is typed, and waits until it is there.
    pub(crate) fn open(&mut self, address: &str) {
        let opened = self.call("Page.navigate", &json!({ "url": address }));
        assert!(opened.get("errorText").is_none(), "{address}: {opened}");
        self.wait_for("document.readyState === 'complete'");
    }

    /// Returns the value of an expression of the page's language. A promise is awaited.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let asked = json!({
            "expression": expression,
            "returnByValue": true,
            "awaitPromise": true,
        });
        let answer = self.call("Runtime.evaluate", &asked);
        let thrown = &answer["exceptionDetails"];
        assert!(thrown.is_null(), "{expression}: {}", thrown["exception"]["description"]);
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub(crate) fn wait_for(&mut self, expression: &str) {
        let begin = Instant::now();
        // While a page is replaced, there may be nothing yet that the expression names.
        let guarded =
            format!("(() => {{ try {{ return !!({expression}) }} catch {{ return false }} }})()");
        while self.value(&guarded) != json!(true) {
            if begin.elapsed() > PATIENCE {
                let page = self.value("document.body && document.body.outerHTML.slice(0, 4000)");
                panic!("never: {expression}\n{:#?}\n{page}", self.seen.complaints);
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Takes what the page has done since it was last asked.
    pub(crate) fn seen(&mut self) -> Seen {
        self.value("0"); // its earlier messages have arrived
        std::mem::take(&mut self.seen)
    }

    /// Clicks into the middle of the first element that a selector finds, once that stands still.
    pub(crate) fn click(&mut self, selector: &str) {
        let place = format!(
            "(async () => {{
                const place = () => {{
                    const found = document.querySelector({});
                    found.scrollIntoView({{ block: 'center', behavior: 'instant' }});
                    const {{ x, y, width, height }} = found.getBoundingClientRect();
                    return [x + width / 2, y + height / 2];
                }};
                for (let last = null; ;) {{
                    const next = place();
                    if (String(next) === String(last)) return next;
                    last = next;
                    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
                }}
            }})()",
            json!(selector)
        );
        let place = self.value(&place);
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({
                "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1,
            });
            self.call("Input.dispatchMouseEvent", &event);
        }
    }

    /// Presses a key, by its name and its number: one that types nothing, or a space, a slash or a
    /// new line.
    pub(crate) fn press(&mut self, key: &str, number: u32) {
        let text = match key {
            "Enter" => "\r",
            " " | "/" => key,
            _ => "",
        };
        for kind in ["keyDown", "keyUp"] {
            let mut event = json!({
                "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": number,
            });
            if kind == "keyDown" && !text.is_empty() {
                event["text"] = json!(text);
            }
            self.call("Input.dispatchKeyEvent", &event);
        }
    }

    /// Types a text into the focused element.
    pub(crate) fn type_in(&mut self, text: &str) {
        self.call("Input.insertText", &json!({ "text": text }));
    }

    /// Makes the window so large, in pixels of the page; a phone's has a screen to touch.
    pub(crate) fn resize(&mut self, width: u32, height: u32, phone: bool) {
        let metrics = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone,
        });
        self.call("Emulation.setDeviceMetricsOverride", &metrics);
    }

    /// Sets the preferred colour scheme of the system: `light` or `dark`.
    pub(crate) fn prefer(&mut self, scheme: &str) {
        let feature = json!({ "name": "prefers-color-scheme", "value": scheme });
        self.call("Emulation.setEmulatedMedia", &json!({ "features": [feature] }));
    }

    /// Returns the contents of the window, as a PNG in base64.
    pub(crate) fn screenshot(&mut self) -> String {
        let shot = self.call("Page.captureScreenshot", &json!({ "format": "png" }));
        shot["data"].as_str().unwrap().to_owned()
    }
}

/// Sends what comes, until the browser ends.
fn read(answers: ChildStdout, sender: &Sender<Value>) {
    for message in BufReader::new(answers).split(0) {
        let Some(message) = message.ok().and_then(|text| serde_json::from_slice(&text).ok()) else {
            return;
        };
        if sender.send(message).is_err() {
            return;
        }
    }
}

impl Seen {
    /// Notes an event.
    fn note(&mut self, event: &Value) {
        let what = &event["params"];
        match event["method"].as_str() {
            Some("Network.requestWillBeSent") => {
                self.requests.push(what["request"]["url"].as_str().unwrap().to_owned());
            }
            Some("Network.webSocketCreated") => {
                self.requests.push(what["url"].as_str().unwrap().to_owned());
            }
            Some("Runtime.exceptionThrown") => {
                let thrown = &what["exceptionDetails"]["exception"];
                self.complaints.push(format!("exception: {}", thrown["description"]));
            }
            Some("Runtime.consoleAPICalled") => {
                self.complaints.push(format!("{}: {}", what["type"], what["args"]));
            }
            Some("Log.entryAdded") => {
                let entry = &what["entry"];
                let said = format!("{}: {} {}", entry["source"], entry["text"], entry["url"]);
                self.complaints.push(said);
            }
            _ => {}
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        drop(self.commands.take());
        let begin = Instant::now();
        while self.process.try_wait().is_ok_and(|ended| ended.is_none()) {
            if begin.elapsed() > PATIENCE {
                let _ = self.process.kill();
                let _ = self.process.wait();
            }
            thread::sleep(Duration::from_millis(5));
        }
        if !thread::panicking() {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}
