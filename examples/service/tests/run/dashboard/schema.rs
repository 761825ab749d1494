//! The dashboard has the types that Grafana publishes: `@grafana/schema` of npm, by TypeScript.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::FILE;

const PACKAGES: [&str; 2] = ["@grafana/schema@13.2.3", "typescript@5.9.3"];

/// Fields of the annotation that belong to Grafana's plugin for Prometheus. No package has their
/// types.
const OF_THE_PLUGIN: [&str; 3] = ["expr", "titleFormat", "useValueForTime"];

/// Returns the compiler's errors about a dashboard.
fn errors(folder: &Path, dashboard: &Value) -> String {
    let text = format!(
        "import type {{ Dashboard }} from \"@grafana/schema\";
        export const dashboard: Dashboard = {dashboard};"
    );
    fs::write(folder.join("dashboard.ts"), text).unwrap();
    let mut compiler = Command::new(folder.join("node_modules/.bin/tsc"));
    compiler.args(["--strict", "--noEmit", "--skipLibCheck", "--target", "es2022"]);
    compiler.args(["--module", "esnext", "--moduleResolution", "bundler", "dashboard.ts"]);
    let output = compiler.current_dir(folder).output().unwrap();
    let errors = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.success(), errors.is_empty(), "{errors}");
    errors
}

#[test]
#[ignore = "needs npm, and its registry"]
fn the_dashboard_has_the_types_that_grafana_publishes() {
    let folder = tempfile::tempdir().unwrap();
    let mut npm = Command::new("npm");
    npm.args(["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]);
    assert!(npm.arg(folder.path()).args(PACKAGES).status().unwrap().success());
    let mut dashboard: Value = serde_json::from_str(&fs::read_to_string(FILE).unwrap()).unwrap();
    let annotation = dashboard["annotations"]["list"][0].as_object_mut().unwrap();
    for field in OF_THE_PLUGIN {
        annotation.remove(field).expect(field);
    }
    assert_eq!(errors(folder.path(), &dashboard), "");
    // The compiler notices a wrong type, a field that is not there, and one that is missing.
    let wrong: [fn(&mut Value); 3] = [
        |it| it["schemaVersion"] = "39".into(),
        |it| it["panels"][0]["gridPos"]["width"] = 24.into(),
        |it| _ = it["panels"][0].as_object_mut().unwrap().remove("type"),
    ];
    for change in wrong {
        let mut changed = dashboard.clone();
        change(&mut changed);
        assert_ne!(errors(folder.path(), &changed), "", "{changed}");
    }
}
