//! The hot paths on arm64: their instructions are counted, and none may wait for the previous add.
//!
//! An Acquire load (`ldar`, `ldaxr`, ...) waits for all earlier Release stores (`stlr`) of its
//! thread, and each add ends with one of these. So no Acquire load may stand on the path of an add
//! (`src/address_dependency.rs` says what orders its loads instead). The text is that of Debian's
//! compiler (`cargo xtask elsewhere aarch64`).

use super::{Is, Processor, main_path, show};

/// A path, in one function or in two of which the first ends with a jump to the second.
struct Path {
    /// The name in the table.
    name: &'static str,
    /// The function in which it begins.
    symbol: &'static str,
    /// The instructions that are passed in each function, and its end.
    parts: &'static [(&'static [Is], Is)],
    /// The number of instructions of the whole call.
    call: usize,
}

const fn path(
    name: &'static str,
    symbol: &'static str,
    parts: &'static [(&'static [Is], Is)],
    call: usize,
) -> Path {
    Path { name, symbol, parts, call }
}

const RETURNS: Is = |line| line.starts_with("ret");

/// The sequence is armed; it commits.
const SEQUENCE: &[Is] = &[
    |line| line.starts_with("str\t") && line.ends_with(", #8]"),
    |line| line.starts_with("stlr\tx"),
];

/// The thread says that it is busy; it adds.
const LEASED: &[Is] = &[
    |line| line.starts_with("str\tx") && line.contains(", x"),
    |line| line.starts_with("stlr\tx"),
];

/// The thread announces the bucket; it adds; it takes the announcement back. (A dealt row is
/// written by another function's instruction.)
const ANNOUNCED: &[Is] = &[
    |line| line.starts_with("stlr\tx"),
    |line| line.starts_with("ldur\t"),
    |line| line.starts_with("stlr\tx"),
    |line| line.starts_with("stlr\txzr"),
];

const ENDS_IN_ADD_HELD: Is = |line| line.starts_with("b\t") && line.contains("add_held");

const PATHS: [Path; 4] = [
    path("`Counter::add`, per core", "add_one", &[(SEQUENCE, RETURNS)], 22),
    path("`SlidingWindow::add`, per core", "window_add", &[(SEQUENCE, RETURNS)], 33),
    path("`Counter::add`, in a leased row", "add_one", &[(LEASED, RETURNS)], 16),
    path(
        "`SlidingWindow::add`, in a leased row",
        "window_add",
        &[(&[], ENDS_IN_ADD_HELD), (ANNOUNCED, RETURNS)],
        46,
    ),
];

const ARM64: fn(Is) -> Processor = |end| Processor { jump, end };

/// Returns the label of a jump, which is its last operand, and whether the next instruction may
/// follow.
fn jump(line: &str) -> Option<(&str, bool)> {
    let name = line.split_whitespace().next()?;
    let conditional = ["cbz", "cbnz", "tbz", "tbnz"].contains(&name) || name.starts_with("b.");
    (conditional || name == "b")
        .then(|| (line.split_whitespace().last().unwrap_or(""), conditional))
}

/// Reads the paths in the assembly text of `xtask/hot_path.rs`, and compares their lengths with
/// what is expected. Returns a line of them.
pub(crate) fn read(assembly: &str) -> Result<String, String> {
    judge(assembly, &PATHS)
}

fn judge(assembly: &str, paths: &[Path]) -> Result<String, String> {
    let (mut wrong, mut counted) = (Vec::new(), Vec::new());
    for path in paths {
        let lines = path.lines(assembly)?;
        show(path.name, &lines);
        if let Some(waits) = lines.iter().find(|line| line.starts_with("lda")) {
            wrong.push(format!("{}: `{waits}` waits for the previous add", path.name));
        }
        let (found, expected) = (lines.len(), path.call);
        if found != expected {
            wrong.push(format!("{}: {found} instructions, expected {expected}", path.name));
        }
        counted.push(format!("{} {}", path.name, lines.len()));
    }
    if wrong.is_empty() { Ok(counted.join(", ")) } else { Err(wrong.join("\n")) }
}

impl Path {
    fn lines<'a>(&self, assembly: &'a str) -> Result<Vec<&'a str>, String> {
        let (mut lines, mut function) = (Vec::new(), self.symbol);
        for (passes, end) in self.parts {
            lines.extend(main_path(assembly, function, passes, &ARM64(*end))?);
            // The next part is where the last instruction jumps.
            function = lines.last().and_then(|line| line.split_whitespace().last()).unwrap_or("");
        }
        Ok(lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    const BODY: &str = "
add_one:
	ldr	x3, [x0]
	tbz	x3, #63, .LBB1_3
	//APP
	ldp	x11, x12, [x8]
	cbz	x11, .LBB1_7
	str	x10, [x11, #8]
.Ltmp4:
	b.hs	.LBB1_7
	ldr	x11, [x10]
	stlr	x11, [x10]
	ret
.LBB1_3:
	str	x12, [x9, x8]
	stlr	x12, [x11]
	str	x10, [x9, x8]
	ret
.LBB1_7:
	b	outside_sequence
.Lfunc_end1:
window_add:
	b	_ZN4ring8add_held17habE
.Lfunc_end2:
_ZN4ring8add_held17habE:
	ret
.Lfunc_end3:
";

    #[test]
    fn a_path_goes_by_the_sequence_or_by_the_leased_row() {
        let lines = PATHS[0].lines(BODY).unwrap();
        assert_eq!(lines.len(), 9);
        let lines = PATHS[2].lines(BODY).unwrap();
        assert_eq!(lines.len(), 6);
        let parts: &[(&[Is], Is)] = &[(&[], ENDS_IN_ADD_HELD), (&[], RETURNS)];
        let lines = path("", "window_add", parts, 2).lines(BODY).unwrap();
        assert_eq!(lines, ["b\t_ZN4ring8add_held17habE", "ret"]);
        assert!(PATHS[0].lines(&BODY.replace("stlr", "str")).is_err());
    }

    #[test]
    fn a_load_that_waits_is_refused() {
        let short = [Path { call: 9, ..PATHS[0] }];
        assert_eq!(judge(BODY, &short), Ok("`Counter::add`, per core 9".to_owned()));
        let why = judge(&BODY.replace("\tldr\tx3", "\tldar\tx3"), &short).unwrap_err();
        assert!(why.contains("`ldar\tx3, [x0]` waits"), "{why}");
    }

    #[test]
    fn other_numbers_are_refused() {
        for call in [8, 10] {
            assert!(judge(BODY, &[Path { call, ..PATHS[0] }]).is_err());
        }
    }

    #[test]
    fn the_page_has_the_numbers() {
        let page = include_str!("../../../docs/design/rows.md");
        for Path { name, call, .. } in PATHS {
            let (begins, ends) = (format!("| {name} |"), format!(" | {call} |"));
            let has = |line: &str| line.starts_with(&begins) && line.ends_with(&ends);
            assert!(page.lines().any(has), "`{begins} ...{ends}`");
        }
    }
}
