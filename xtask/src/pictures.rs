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

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

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
    let mut page = String::from("<!-- `cargo xtask pictures` writes this page. -->\n\n");
    for name in sources::all(folder)?.iter().filter(|name| !name.contains('/')) {
        let kind = match name.rsplit_once('.') {
            Some((_, "png")) => "png",
            Some((_, "svg")) => "svg+xml",
            _ => continue,
        };
        let picture = fs::read(folder.join(name)).map_err(|error| format!("{name}: {error}"))?;
        let picture = STANDARD.encode(picture);
        // A `String` takes all.
        let _ = writeln!(page, "[{name}]: data:image/{kind};base64,{picture}");
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

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
