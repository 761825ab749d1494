//! Each guide is shown, listed, and has a program that is run.

use std::fs;
use std::path::Path;

/// The pages whose programs other crates' tests run, and the roots of these crates.
const ELSEWHERE: [(&str, &str); 5] = [
    ("from-prometheus.md", "integrations/prometheus/src/lib.rs"),
    ("many-processes.md", "integrations/mapped/src/lib.rs"),
    ("otlp.md", "integrations/otlp/src/lib.rs"),
    ("shared-limits.md", "integrations/redis/src/lib.rs"),
    ("tower.md", "integrations/tower/src/lib.rs"),
];

/// Returns the error of a guide, if it has one.
fn wrong(page: &str, text: &str, index: &str, shown: &str, run: &str) -> Option<String> {
    let include = format!("docs/guide/{page}\")");
    let mut is_picture = false;
    let is_fence = |line: &&str| {
        let (was, is_fence) = (is_picture, line.starts_with("```"));
        is_picture = if is_fence { *line == "```text" } else { was };
        is_fence && !was && !is_picture
    };
    let fences: Vec<&str> = text.lines().filter(is_fence).collect();
    [
        (shown.contains(&include), "src/guide.rs does not show it"),
        (run.contains(&include), "no crate runs it"),
        (index.contains(&format!("| [{page}] |")), "the index does not list it"),
        (
            is_program(&fences),
            "it has not one program that is run, with shorter ones beside it or not",
        ),
        (
            ["\nfn main() ", "\nasync fn main() "].iter().any(|it| text.contains(it)),
            "its program is not whole",
        ),
        (text.contains("assert"), "its program shows nothing"),
        (text.contains("println!"), "its program prints nothing"),
        (prints(text), "the output of its program is not below it"),
    ]
    .into_iter()
    .find_map(|(holds, why)| (!holds).then(|| format!("{page}: {why}")))
}

/// Returns whether these are the fences of a program, or of a whole one and shorter ones.
fn is_program(fences: &[&str]) -> bool {
    let pairs = fences.chunks(2);
    (1..=4).contains(&pairs.len()) && pairs.into_iter().all(|pair| pair == ["```rust", "```"])
}

/// Returns whether the first block of text below the last program is its output, and says so.
fn prints(text: &str) -> bool {
    let below = text.rsplit_once("\n```rust\n").and_then(|(_, rest)| rest.split_once("\n```\n"));
    let said = below.and_then(|(_, rest)| rest.split_once("\n\n```text\n"));
    said.is_some_and(|(said, _)| said.trim_start().ends_with("prints:") && said.len() < 80)
}

#[test]
fn each_guide_is_listed_and_shown_and_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |path: &str| fs::read_to_string(root.join(path)).expect("a file");
    let (index, shown) = (read("docs/guide/README.md"), read("src/guide.rs"));
    let pages = fs::read_dir(root.join("docs/guide")).expect("a folder").flatten();
    let guides = pages
        .map(|page| page.file_name().to_string_lossy().into_owned())
        .filter(|page| page.strip_suffix(".md").is_some_and(|page| page != "README"));
    let mut count = 0;
    for page in guides {
        let text = read(&format!("docs/guide/{page}"));
        let elsewhere = ELSEWHERE.iter().find(|(of, _)| *of == page).map(|(_, root)| read(root));
        let run = elsewhere.as_ref().unwrap_or(&shown);
        assert_eq!(wrong(&page, &text, &index, &shown, run), None);
        count += 1;
    }
    assert!(count >= 8, "there are {count}");
}

/// The links to pages, of a page, that `above` does not define anew: on the site they lead nowhere.
fn lost<'a>(page: &'a str, above: &str) -> Vec<&'a str> {
    let names = page.lines().filter_map(|line| {
        let (name, address) = line.strip_prefix('[')?.split_once("]: ")?;
        let file = address.split('#').next()?;
        let is_page = Path::new(file).extension().is_some_and(|extension| extension == "md");
        (is_page && !address.contains("://")).then_some(name)
    });
    names.filter(|name| !above.contains(&format!("[{name}]: "))).collect()
}

#[test]
fn each_link_from_page_to_page_leads_there_on_the_site_too() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let shown = fs::read_to_string(root.join("src/guide.rs")).expect("a file");
    let mut count = 0;
    for (at, include) in shown.match_indices("include_str!(\"../") {
        let path = shown[at + include.len()..].split('"').next().expect("a path");
        let page = fs::read_to_string(root.join(path)).expect("a page");
        let above = &shown[..at];
        let above = &above[above.rfind("{}").unwrap_or(0)..];
        assert_eq!(lost(&page, above), [""; 0], "{path}: src/guide.rs defines no such link");
        let inline = page.match_indices(".md)").filter(|(at, _)| {
            let address = &page[page[..*at].rfind("](").unwrap_or(0)..*at];
            !address.contains("://")
        });
        assert_eq!(inline.count(), 0, "{path}: a link in line leads nowhere on the site");
        count += 1;
    }
    assert!(count >= 18, "there are {count}");
}

/// The front page of the documentation site is the README: its words, and the pictures in them.
#[test]
fn the_first_pages_are_short() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (path, most) in [("README.md", 900), ("docs/performance.md", 700)] {
        let page = fs::read_to_string(root.join(path)).expect("a page");
        let words = page.split_whitespace().count();
        assert!(words <= most, "{path} has {words} words");
        assert!(!page.contains(".png"), "{path}: a picture in pixels takes 100 kB on the site");
    }
}

#[test]
fn the_readme_names_the_oldest_compiler() {
    let manifest = include_str!("../../../Cargo.toml");
    let (_, package) = manifest.split_once("\n[package]\n").expect("a package");
    let (_, version) = package.split_once("rust-version = \"").expect("a version");
    let version = version.split('"').next().expect("its end");
    assert!(include_str!("../../../README.md").contains(&format!("Rust {version}")), "{version}");
}

/// The registry takes the pictures of a README from there.
#[test]
fn each_package_that_is_published_names_the_repository() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = fs::read_dir(root.join("integrations")).expect("a folder").flatten();
    let folders = folders.map(|folder| folder.path()).filter(|folder| folder.is_dir());
    for folder in folders.chain([root]) {
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
        assert!(manifest.contains("\nrepository.workspace = true\n"), "{}", folder.display());
    }
}
