use super::*;

const SOURCE: &str = "
/// A ring, which is `pinned` by none.
pub(crate) struct Ring {
    current: u64,
}

impl<F: Fn(u64) -> u64, T> Drain<T>
    for Ring
where
    T: Copy,
{
    const fn sum(&self) -> u64 {
        self.current
    }
}

pub enum Way {
    Epochs,
}

fn alone() {}
";

fn declared() -> Declared {
    let mut declared = Declared::default();
    declared.file("src/ring.rs", SOURCE, &["windrow".to_owned()]);
    let slots = "impl<'r> Slots<'r> {\n    pub(super) unsafe fn follow(&self) {}\n}\n";
    declared.file("src/slots.rs", slots, &[]);
    declared.file("src/ring/mark.rs", "mod inner {\n    fn mark() {}\n}\n", &[]);
    declared.file("xtask/src/twins/reads.rs", "name: \"sum-reads-twice\",\n", &[]);
    declared.file("docs/old.md", "gone `gone`", &[]);
    declared
}

/// Returns the errors of a page.
fn wrong(text: &str) -> Vec<String> {
    let (page, declared) = (Page::new("docs/a.md", text), declared());
    let spans = page.spans.iter();
    let why = spans.map(|span| (span, unknown(&declared, &page, span, &mut BTreeSet::new())));
    why.filter_map(|(span, why)| Some(format!("{}: {}: {}", span.line, span.text, why?))).collect()
}

#[test]
fn what_the_sources_have_is_found() {
    for text in [
        "`src/ring/mark.rs`, `ring/mark`, `ring/`, `ring/…`, `mark.rs`, `src/*.rs`, `old.md`",
        "`Ring::sum`, `Ring::current`, `Slots::follow`, `Way::Epochs`, `ring::alone`",
        "`mark::mark`, `ring::mark::mark`, `inner::mark`, `windrow::alone`, `Ring::sum(n)`",
        "`sum-reads-twice`, `sum-*`, `current`, `alone()`, `Way`",
        "`mark.rs`: `mark`; `slots.rs`: `follow`; `ring.rs`: `alone`",
        "`1 + n`, `--quick`, `NAME_total`, `#[cfg]`, `kernel/rseq.c`, `2 sqrt(B) + x / y`",
        "text\n```rust\nlet gone = `gone`;\n```\n``a ` sign``",
    ] {
        assert_eq!(wrong(text), [""; 0], "{text}");
    }
}

#[test]
fn what_they_do_not_have_is_told_by_line() {
    let word = "the sources do not have this word";
    for (text, expected) in [
        ("a\n\n`Ring::pinned`", "3: Ring::pinned: `Ring` does not declare `pinned`"),
        ("`Slots::sum`", "1: Slots::sum: `Slots` does not declare `sum`"),
        ("`gone::alone`", "1: gone::alone: `gone` does not declare `alone`"),
        ("`ring/marks`", "1: ring/marks: there is no such file or folder"),
        ("`gone.rs`", "1: gone.rs: there is no such file or folder"),
        ("`mark.rs`: `mark`, `follow`", "1: follow: mark.rs does not declare it"),
        ("```\n```\n`gone`", &format!("3: gone: {word}")),
        ("`pinned()`", &format!("1: pinned(): {word}")),
        ("`sum-reads-thrice`", &format!("1: sum-reads-thrice: {word}")),
        ("`sums-*`", &format!("1: sums-*: {word}")),
    ] {
        assert_eq!(wrong(text), [expected], "{text}");
    }
}

#[test]
fn a_file_is_named_in_the_row_of_its_folder() {
    let text = "
## Layers

| files | what |
|---|---|
| `gate`, `gate/…` | `decide` |
| `ring` | below |

| part of `ring/…` | files |
|---|---|
| ground | `cells` |

## Other

| `gate/…` | `late` |
";
    let page = Page::new(DESIGN, text);
    let is_named = |file| is_named(&page.rows(), file);
    for file in ["gate", "gate/decide", "ring", "ring/cells", "ring/cells/wide", "lib"] {
        assert!(is_named(file), "{file}");
    }
    for file in ["gate/cells", "ring/decide", "gate/late", "window"] {
        assert!(!is_named(file), "{file}");
    }
    let part =
        Page::new(DESIGN, "\n## Files\n\n| folder | files |\n|---|---|\n| `gate/…` | `cells` |\n");
    assert!(super::is_named(&part.rows(), "gate/cells"));
}
