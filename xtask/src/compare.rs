//! The comparison lab: builds its program, and compiles Java's side where there is a JDK. On
//! request it writes the tables and pictures of the documentation.
//!
//! The measurements are the program's: `benches/src/lab.rs`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::pictures;
use crate::sources::{self, read, write};
use crate::steps::{Failed, Steps, target_directory};
use crate::tools::{needs, succeeds};

/// The pages that show tables of one run: ratios, and a summary for users.
const PAGES: [&str; 2] = ["benches/results.md", "README.md"];

/// Measures, and publishes if asked to. The lab judges the other arguments.
pub(crate) fn run(steps: &mut Steps, arguments: &[&str]) -> Result<(), Failed> {
    let told = |why| Failed::new("the comparison", why);
    let (publish_it, passed_on) = parsed(arguments).map_err(told)?;
    let root = steps.root().to_owned();
    let lab = "build --release --package windrow-benches --features sentinel --bin compare";
    steps.cargo("the lab", lab, &[])?;
    let target = target_directory().map_err(told)?;
    let java = java(steps, &target)?;
    let report = target.join("compare");
    let mut command = Command::new(target.join("release").join("compare"));
    command.current_dir(&root).arg(&report);
    if let Some(classes) = &java {
        command.arg("--java").arg(classes);
    }
    command.args(passed_on);
    steps
        .step("the comparison", &format!("into {}", report.display()), || succeeds(&mut command))?;
    if publish_it {
        steps.step("publishing", &PAGES.join(", "), || publish(&root, &report))?;
    }
    Ok(())
}

/// Returns whether the run is to be published, and the arguments that the lab judges.
fn parsed<'a>(arguments: &[&'a str]) -> Result<(bool, Vec<&'a str>), String> {
    let (publish, passed_on): (Vec<_>, Vec<_>) =
        arguments.iter().partition(|argument| **argument == "--publish");
    if !publish.is_empty() && passed_on.iter().any(|argument| *argument != "--quick") {
        return Err("compare publishes whole runs only: leave out the parts".to_owned());
    }
    Ok((!publish.is_empty(), passed_on))
}

/// Returns where Java's classes are, compiled; nowhere if there is no JDK.
fn java(steps: &mut Steps, target: &Path) -> Result<Option<PathBuf>, Failed> {
    if ["javac", "java"].iter().any(|program| needs(program, &["-version"]).is_err()) {
        println!("\nThere is no JDK on the path: Java's counters are left out.");
        return Ok(None);
    }
    let classes = target.join("java");
    let source = steps.root().join("benches/java/Adders.java");
    steps.step("Java's counters", "javac benches/java/Adders.java", || {
        succeeds(Command::new("javac").arg("-d").arg(&classes).arg(source))
    })?;
    Ok(Some(classes))
}

/// Puts the tables of `report` between their two marks in each page that has them, and the pictures
/// into `docs`. Tables without marks stay in the report.
fn publish(root: &Path, report: &Path) -> Result<(), String> {
    let mut tables = Vec::new();
    for file in sources::with_extension(&report.join("tables"), "md")? {
        let table = read(&report.join("tables").join(&file))?;
        let name = file.trim_end_matches(".md").to_owned();
        tables.push((name, table.replace('<', "\\<"))); // a type's name is no tag
    }
    for name in PAGES {
        let path = root.join(name);
        let mut page = read(&path)?;
        // A table of an older run would stay beside those of this one.
        for place in places(&page) {
            let table = tables.iter().find(|(name, _)| *name == place);
            let table = table.map_or("Not measured in this run.\n", |(_, table)| table);
            page = replaced(&page, &place, table).map_err(|why| format!("{name} {why}"))?;
        }
        write(&path, &page)?;
    }
    for name in sources::with_extension(report, "svg")? {
        let copied = fs::copy(report.join(&name), root.join("docs").join(name));
        copied.map_err(|error| error.to_string())?;
    }
    pictures::write(root)
}

/// Returns the names of the places for tables in `page`.
fn places(page: &str) -> Vec<String> {
    let marks = page.lines().filter_map(|line| line.strip_prefix("<!-- begin "));
    marks.filter_map(|mark| Some(mark.strip_suffix(" -->")?.to_owned())).collect()
}

/// `page` with `table` between the marks of `name`.
fn replaced(page: &str, name: &str, table: &str) -> Result<String, String> {
    let marks = [format!("<!-- begin {name} -->\n"), format!("<!-- end {name} -->")];
    let [before, _, after] = sources::cut(page, [&marks[0], &marks[1]])?;
    Ok([before, table, after].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_takes_the_place_of_the_old_one() {
        let page = "a\n<!-- begin t -->\nold\n<!-- end t -->\nb\n";
        let new = replaced(page, "t", "new\n").unwrap();
        assert_eq!(new, "a\n<!-- begin t -->\nnew\n<!-- end t -->\nb\n");
        assert_eq!(replaced(&new, "t", "old\n").unwrap(), page);
        assert!(replaced(page, "u", "new\n").unwrap_err().contains("begin u"));
    }

    #[test]
    fn whole_runs_are_published_and_the_rest_is_passed_on() {
        assert_eq!(parsed(&["--quick", "speed"]), Ok((false, vec!["--quick", "speed"])));
        assert_eq!(parsed(&["--quick", "--publish"]), Ok((true, vec!["--quick"])));
        assert!(parsed(&["--publish", "speed"]).is_err());
    }

    #[test]
    fn the_pages_have_places_for_what_they_show() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for (name, needed) in PAGES.iter().zip(["ratios", "summary"]) {
            let page = fs::read_to_string(root.join(name)).unwrap();
            let places = places(&page);
            assert!(places.iter().any(|place| place == needed), "{name}: {places:?}");
            for place in places {
                assert!(replaced(&page, &place, "").is_ok(), "{name}: {place}");
            }
        }
    }

    #[test]
    fn a_run_with_the_tables_of_the_pages_leaves_them_as_they_are() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let copy = std::env::temp_dir().join(format!("windrow-publish-{}", std::process::id()));
        let tables = copy.join("report/tables");
        let pages = ["benches", "docs", "integrations/console", "integrations/top"];
        for folder in pages.map(|page| copy.join(page)).iter().chain([&tables]) {
            fs::create_dir_all(folder).unwrap();
        }
        for name in PAGES {
            let page = fs::read_to_string(root.join(name)).unwrap();
            for place in places(&page) {
                let begin = format!("<!-- begin {place} -->\n");
                let (_, rest) = page.split_once(&begin).unwrap();
                let (table, _) = rest.split_once("<!-- end ").unwrap();
                let table = table.replace("\\<", "<");
                fs::write(tables.join(format!("{place}.md")), table).unwrap();
            }
            fs::write(copy.join(name), page).unwrap();
        }
        fs::copy(root.join(pictures::SCREENS), copy.join(pictures::SCREENS)).unwrap();
        fs::write(copy.join("report/compare-losses.svg"), "<svg/>").unwrap();
        fs::write(tables.join("new.md"), "a table that no page shows\n").unwrap();
        publish(&copy, &copy.join("report")).unwrap();
        for name in PAGES {
            let [was, is] = [&root, &copy].map(|of| fs::read_to_string(of.join(name)).unwrap());
            assert!(was == is, "{name}");
        }
        assert!(copy.join("docs/compare-losses.svg").exists());
        fs::remove_file(tables.join("summary.md")).unwrap();
        publish(&copy, &copy.join("report")).unwrap();
        let readme = fs::read_to_string(copy.join("README.md")).unwrap();
        assert!(readme.contains("<!-- begin summary -->\nNot measured in this run.\n<!-- end"));
        fs::remove_dir_all(copy).unwrap();
    }
}
