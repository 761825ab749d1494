//! The pictures of the documentation site.
//!
//! A page there cannot link to a file beside it. So a folder's `pictures.md` holds each of its
//! pictures as a definition of its name, whose address is the picture itself. `src/guide.rs` and
//! `src/lib.rs` put it before a page: of two definitions of a name the first is taken, so the
//! page's own, which is a file's name, counts elsewhere.

mod terminal;

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::sources;
use crate::steps::{Failed, Steps};

/// The folders of pictures, each with those of one package.
const FOLDERS: [&str; 2] = ["docs", "integrations/console"];

/// The screens of `windrow-top` over a mapped file, as a test has recorded them: in the page that
/// shows them as text, and as a picture.
pub(crate) const SCREENS: &str = "integrations/top/README.md";
const SCREENS_DRAWN: &str = "docs/top.svg";

/// Writes the pages anew.
pub(crate) fn run(steps: &mut Steps) -> Result<(), Failed> {
    let root = steps.root().to_owned();
    steps.step("pictures", "*/pictures.md", || write(&root))
}

pub(crate) fn write(root: &Path) -> Result<(), String> {
    sources::write(&root.join(SCREENS_DRAWN), &screens(root)?)?;
    for folder in FOLDERS.map(|folder| root.join(folder)) {
        sources::write(&folder.join("pictures.md"), &definitions(&folder)?)?;
    }
    Ok(())
}

/// Returns the picture of the screens of `windrow-top`.
fn screens(root: &Path) -> Result<String, String> {
    let page = sources::read(&root.join(SCREENS))?;
    let (_, files) = page.split_once("\n# Files\n").ok_or("no files in the page of screens")?;
    let blocks = files.split("```text\n").skip(1).filter_map(|block| block.split("```").next());
    let blocks: Vec<&str> = blocks.map(str::trim_end).collect();
    let title = "windrow-top over a mapped file: its process counts, hangs, and was killed";
    Ok(terminal::drawn(title, &blocks))
}

/// Returns the page, for the pictures that are in a folder.
fn definitions(folder: &Path) -> Result<String, String> {
    let of_kind = |kind| sources::with_extension(folder, kind);
    let mut pictures = [of_kind("png")?, of_kind("svg")?].concat();
    pictures.retain(|name| !name.contains('/'));
    pictures.sort();
    let mut page = String::from("<!-- `cargo xtask pictures` writes this page. -->\n\n");
    for name in pictures {
        let picture = fs::read(folder.join(&name)).map_err(|error| format!("{name}: {error}"))?;
        let address = match String::from_utf8(picture) {
            Ok(drawing) => drawn(&drawing),
            Err(pixels) => painted(pixels.as_bytes()),
        };
        let _ = writeln!(page, "[{name}]: {address}"); // a `String` takes all
    }
    Ok(page)
}

/// Returns an address that is the picture, an SVG.
fn drawn(picture: &str) -> String {
    let mut address = String::from("data:image/svg+xml,");
    for byte in picture.trim_end().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'/' | b':' | b'=' | b',' => {
                address.push(char::from(byte));
            }
            _ => {
                let _ = write!(address, "%{byte:02X}");
            }
        }
    }
    address
}

/// Returns an address that is the picture, a PNG: in base64.
fn painted(picture: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut address = String::from("data:image/png;base64,");
    for three in picture.chunks(3) {
        let bits = (0..3)
            .fold(0, |bits, at| bits << 8 | three.get(at).map_or(0, |&byte| usize::from(byte)));
        for at in 0..4 {
            let digit = char::from(DIGITS[bits >> (18 - 6 * at) & 63]);
            address.push(if at > three.len() { '=' } else { digit });
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_nothing_that_ends_it() {
        assert_eq!(
            drawn("<a b=\"1\">\n</a>\n"),
            "data:image/svg+xml,%3Ca%20b=%221%22%3E%0A%3C/a%3E"
        );
    }

    #[test]
    fn bytes_are_four_digits_for_three() {
        for (bytes, digits) in
            [("", ""), ("M", "TQ=="), ("Ma", "TWE="), ("Man", "TWFu"), ("Many", "TWFueQ==")]
        {
            assert_eq!(painted(bytes.as_bytes()), format!("data:image/png;base64,{digits}"));
        }
        assert_eq!(painted(&[0xfb, 0xff, 0xbf]), "data:image/png;base64,+/+/");
    }

    #[test]
    fn the_pages_have_the_pictures_as_they_are() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        let screens =
            fs::read_to_string(root.join(SCREENS_DRAWN)).unwrap() == screens(root).unwrap();
        assert!(screens, "`cargo xtask pictures` writes {SCREENS_DRAWN}");
        for folder in FOLDERS.map(|folder| root.join(folder)) {
            let page = fs::read_to_string(folder.join("pictures.md")).unwrap();
            let right = page == definitions(&folder).unwrap();
            assert!(right, "`cargo xtask pictures` writes pictures.md of {}", folder.display());
        }
    }
}
