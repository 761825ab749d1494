//! The names in the sources: files, and the words of each.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::pages::Span;
use crate::sources::{self, LEFT_OUT};

/// The kinds of files that a page may name without their folder.
const KINDS: [&str; 10] = ["rs", "toml", "txt", "yml", "json", "html", "pml", "md", "tsv", "conf"];

/// This check's own files, whose words prove nothing.
const OWN: [&str; 2] = ["xtask/src/names/", "xtask/elsewhere.txt"];

/// Prose, pictures and lists of other projects: their words prove nothing.
const PROSE: [&str; 4] = [".md", ".svg", ".lock", ".log"];

#[derive(Default)]
pub(super) struct Declared {
    /// Files and folders, from the root.
    files: BTreeSet<String>,
    /// The words, each with the numbers of the sources that have it in their code, or as the name
    /// of their module, of a folder around it or of its crate.
    words: BTreeMap<String, BTreeSet<usize>>,
    sources: usize,
    /// Crates that are not the project's.
    foreign: BTreeSet<String>,
}

/// The error of a name, and whether a page about another library may give it.
pub(super) type Missing = (String, bool);

impl Declared {
    pub(super) fn read(root: &Path) -> Result<Declared, String> {
        let mut declared = Declared::default();
        declared.files.extend(LEFT_OUT.map(str::to_owned));
        declared.files.insert("fuzz/corpus".to_owned());
        let files = sources::all(root)?;
        let manifests = files.iter().filter_map(|file| file.strip_suffix("Cargo.toml"));
        let mut crates = Vec::new();
        for folder in manifests {
            let manifest = sources::read(&root.join(folder).join("Cargo.toml"))?;
            crates.push((folder, named(&manifest).collect::<Vec<_>>()));
        }
        for file in &files {
            let folders = file.match_indices('/').map(|(at, _)| file[..at].to_owned());
            declared.files.extend(folders.chain([file.clone()]));
            // A picture has no words.
            let Ok(text) = sources::read(&root.join(file)) else { continue };
            let around = crates.iter().filter(|(folder, _)| file.starts_with(folder));
            let own = around.max_by_key(|(folder, _)| folder.len());
            declared.file(file, &text, own.map_or(&[], |(_, names)| names));
        }
        let lock = sources::read(&root.join("Cargo.lock"))?;
        declared.foreign = named(&lock).filter(|name| !name.starts_with("windrow")).collect();
        declared.foreign.insert("std".to_owned());
        Ok(declared)
    }

    /// Takes in one file of some crates.
    pub(super) fn file(&mut self, path: &str, text: &str, crates: &[String]) {
        self.files.insert(path.to_owned());
        if OWN.iter().any(|own| path.starts_with(own))
            || PROSE.iter().any(|end| path.ends_with(end))
        {
            return;
        }
        self.sources += 1;
        let mut has = |word: &str| {
            self.words.entry(word.to_owned()).or_default().insert(self.sources);
        };
        let module = path.strip_suffix(".rs");
        for line in text.lines() {
            let code = if module.is_some() { line.split("//").next().unwrap_or("") } else { line };
            let is_of_word = |sign: char| sign.is_alphanumeric() || sign == '_' || sign == '-';
            for word in code.split(|sign| !is_of_word(sign)).filter(|word| !word.is_empty()) {
                has(word);
                word.split('-').for_each(&mut has);
            }
        }
        if let Some(module) = module {
            module.split('/').chain(crates.iter().map(String::as_str)).for_each(has);
        }
    }

    /// Returns the error of a span, if it has one.
    pub(super) fn missing(&self, span: &Span<'_>) -> Option<Missing> {
        let text = span.text;
        let is = |more: &str, sign: char| sign.is_alphanumeric() || more.contains(sign);
        let begins = |sign: char| sign.is_alphabetic() || sign == '_';
        if text.contains("NAME") || !text.trim_start_matches('.').starts_with(begins) {
            return None; // any name; a value, an option, a formula
        }
        let kind = text.rsplit_once('.').filter(|(stem, _)| !stem.is_empty());
        let is_file = kind.is_some_and(|(_, kind)| KINDS.contains(&kind)) || text.contains('/');
        if [".c", ".h"].iter().any(|end| text.ends_with(end)) {
            return None; // the system's: the project has no C
        }
        if is_file && text.chars().all(|sign| is("/_-.*…", sign)) {
            return self.path(text);
        }
        let end = text.find(|sign| !is("_:-*…!", sign)).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        if name.contains("::") {
            return self.path_in_code(name.trim_end_matches([':', '!', '*']));
        }
        if let Some(file) = span.file {
            let module = file.trim_end_matches(".rs").rsplit('/').next().unwrap_or_default();
            let wrong = !self.declares(module, name);
            return wrong.then(|| (format!("{file} does not declare it"), false));
        }
        let is_whole = rest.is_empty() || rest.starts_with(['(', '<']);
        let wrong = is_whole && !self.has_word(name);
        wrong.then(|| ("the sources do not have this word".to_owned(), true))
    }

    /// Returns whether a source has both names.
    fn declares(&self, container: &str, name: &str) -> bool {
        let both = self.words.get(container).zip(self.words.get(name));
        both.is_some_and(|(one, other)| !one.is_disjoint(other))
    }

    fn has_word(&self, name: &str) -> bool {
        let Some(prefix) = name.strip_suffix(['*', '…']) else {
            return self.words.contains_key(name.trim_end_matches('!'));
        };
        let next = self.words.range(prefix.to_owned()..).next();
        next.is_some_and(|(word, _)| word.starts_with(prefix))
    }

    /// A path stands for the files and folders whose own path ends so. One `*` is any text.
    fn path(&self, text: &str) -> Option<Missing> {
        let path = text.trim_end_matches('…').trim_end_matches('/');
        let is_name = |folder: &str| folder.is_empty() || folder.ends_with('/');
        let is = |file: &str| match path.split_once('*') {
            None => {
                let ends = |file: &str| file.strip_suffix(path).is_some_and(is_name);
                ends(file) || file.strip_suffix(".rs").is_some_and(ends)
            }
            Some((begin, end)) => file
                .find(begin)
                .is_some_and(|at| is_name(&file[..at]) && file[at + begin.len()..].ends_with(end)),
        };
        let wrong = !self.files.iter().any(|file| is(file));
        wrong.then(|| ("there is no such file or folder".to_owned(), true))
    }

    /// Checks that each pair of neighbours in a path stands in one source.
    fn path_in_code(&self, path: &str) -> Option<Missing> {
        let parts: Vec<&str> = path.split("::").collect();
        if self.foreign.contains(parts[0]) {
            return None;
        }
        let wrong = parts.windows(2).find(|pair| !self.declares(pair[0], pair[1]))?;
        let may_be_foreign = !self.words.contains_key(wrong[0]);
        Some((format!("`{}` does not declare `{}`", wrong[0], wrong[1]), may_be_foreign))
    }
}

/// Returns the names of a manifest's crates, or of a lock file's, as code has them.
fn named(manifest: &str) -> impl Iterator<Item = String> {
    let names = manifest.lines().filter_map(|line| line.strip_prefix("name = \""));
    names.map(|name| name.trim_end_matches('"').replace('-', "_"))
}
