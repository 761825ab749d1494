//! The items of a Rust source, by the indentation that rustfmt gives them.

/// The keywords before a declared name.
const KEYWORDS: [&str; 10] =
    ["fn", "const", "static", "type", "mod", "struct", "enum", "trait", "macro_rules!", "union"];

/// Those of them that have items of their own.
const CONTAINERS: [&str; 5] = ["mod", "struct", "enum", "trait", "union"];

/// Returns a line without its comment.
pub(super) fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or_default()
}

/// Returns each item, field and variant, with the type, trait or module in which it is declared.
pub(super) fn items(text: &str) -> Vec<(Option<&str>, &str)> {
    let mut found = Vec::new();
    // The containers around the line, and their depths.
    let mut open: Vec<(usize, &str)> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let item = code(line).trim();
        if item.is_empty() || item == "{" {
            continue;
        }
        let depth = line.len() - line.trim_start().len();
        open.retain(|(outer, _)| *outer < depth);
        let container = open.last().copied();
        let words: Vec<&str> = words(item).collect();
        let named = words.windows(2).find(|pair| {
            KEYWORDS.contains(&pair[0]) && !KEYWORDS.contains(&pair[1]) && pair[1] != "unsafe"
        });
        let member = || {
            let is_member = container.is_some_and(|(outer, _)| depth == outer + 4);
            let is_name = |word: &&&str| !["pub", "crate", "super", "in"].contains(*word);
            words.iter().find(is_name).copied().filter(|_| is_member)
        };
        let name = named.map(|pair| pair[1]).or_else(member);
        found.extend(name.map(|name| (container.map(|(_, name)| name), name)));
        if item.starts_with("impl") {
            let begin = item.as_ptr().addr() - text.as_ptr().addr();
            let end = text[begin..].find(['{', ';']).map_or(text.len(), |end| begin + end);
            let head = &text[begin..end];
            for _ in head.lines().skip(1) {
                lines.next();
            }
            open.push((depth, implementor(head)));
        } else if let Some(pair) = named.filter(|pair| CONTAINERS.contains(&pair[0])) {
            open.push((depth, pair[1]));
        }
    }
    found
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_of_word = |sign: char| sign.is_alphanumeric() || sign == '_' || sign == '!';
    text.split(move |sign| !is_of_word(sign)).filter(|word| !word.is_empty())
}

/// Returns the type of an `impl`: the one behind `for`, if there is one.
fn implementor(head: &str) -> &str {
    let head = head.split("where").next().unwrap_or_default();
    let of = match head.rsplit_once(" for ") {
        Some((_, of)) => of,
        None => behind_parameters(&head["impl".len()..]),
    };
    let path = of.split(['<', '(']).find(|part| !part.trim().is_empty()).unwrap_or_default();
    words(path).last().unwrap_or_default()
}

/// Returns the text behind the parameters of the `impl` itself.
fn behind_parameters(text: &str) -> &str {
    let mut depth = 0_i32;
    for (at, sign) in text.char_indices() {
        depth += i32::from(sign == '<') - i32::from(sign == '>' && !text[..at].ends_with('-'));
        if depth == 0 {
            return &text[at + sign.len_utf8()..];
        }
    }
    text
}
