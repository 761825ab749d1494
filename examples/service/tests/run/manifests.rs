//! The files by which the service is deployed name its settings, paths and ports, and leave its
//! drain the time that it has.

use std::fs;
use std::io::ErrorKind;
use std::process::Command;
use std::time::Duration;

use axum::http::StatusCode;
use yaml_rust2::{Yaml, YamlLoader};

use crate::process::{Process, command, file};
use crate::{get, output};

const DEPLOY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy");

/// A time that is more than the ends of two sleeps and of the process take.
const SPARE: Duration = Duration::from_secs(5);

fn read(name: &str) -> String {
    fs::read_to_string(format!("{DEPLOY}/{name}")).unwrap()
}

/// Returns the seconds of a setting among pairs of a key and a value.
fn seconds(pairs: &[(String, String)], key: &str) -> Duration {
    let (_, value) = pairs.iter().find(|(found, _)| found == key).unwrap();
    Duration::from_secs(value.parse().unwrap())
}

fn text(yaml: &Yaml) -> String {
    yaml.as_str().unwrap_or_else(|| panic!("{yaml:?} is no text")).to_owned()
}

/// Returns the number of a line `key=number`.
fn number(unit: &str, key: &str) -> u64 {
    let line = unit.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
    line.unwrap().parse().unwrap()
}

#[tokio::test]
async fn the_manifest_of_kubernetes_is_of_this_service() {
    let all = YamlLoader::load_from_str(&read("kubernetes.yml")).unwrap();
    let [deployment, balancer] = &all[..] else { panic!("{} documents", all.len()) };
    let pod = &deployment["spec"]["template"];
    assert_eq!(deployment["spec"]["selector"]["matchLabels"], pod["metadata"]["labels"]);
    assert_eq!(balancer["spec"]["selector"], pod["metadata"]["labels"]);
    // Its variables would begin as those of the settings do, and be refused.
    assert_eq!(pod["spec"]["enableServiceLinks"].as_bool(), Some(false));
    let container = &pod["spec"]["containers"][0];
    let port = &container["ports"][0];
    assert_eq!(balancer["spec"]["ports"][0]["targetPort"], port["name"]);
    for probe in ["livenessProbe", "readinessProbe"] {
        assert_eq!(container[probe]["httpGet"]["port"], port["name"]);
    }
    let port_name = text(&port["name"]);
    let port = port["containerPort"].as_i64().unwrap();

    // The process takes all of the variables, and serves the paths.
    let variables = container["env"].as_vec().unwrap().iter();
    let variables: Vec<(String, String)> =
        variables.map(|pair| (text(&pair["name"]), text(&pair["value"]))).collect();
    assert!(variables.contains(&("SHOP_LISTEN".to_owned(), format!("0.0.0.0:{port}"))));
    let mut command = command();
    command.envs(variables.iter().cloned());
    let service = Process::of(command, &["--listen", "127.0.0.1:0"]);
    for path in [
        &container["livenessProbe"]["httpGet"]["path"],
        &container["readinessProbe"]["httpGet"]["path"],
        &Yaml::String("/metrics".to_owned()), // the path at which Prometheus scrapes by default
    ] {
        assert_eq!(get(&service, &text(path)).await.0, StatusCode::OK, "{path:?}");
    }
    let grace = pod["spec"]["terminationGracePeriodSeconds"].as_i64().unwrap();
    let drain = seconds(&variables, "SHOP_DRAIN_DELAY_SECONDS")
        + seconds(&variables, "SHOP_DRAIN_LIMIT_SECONDS");
    assert!(Duration::from_secs(grace.cast_unsigned()) >= drain + SPARE, "{grace} s, {drain:?}");
    // The balancer learns of it in time.
    let probe = &container["readinessProbe"];
    let notice =
        probe["periodSeconds"].as_i64().unwrap() * probe["failureThreshold"].as_i64().unwrap();
    let delay = seconds(&variables, "SHOP_DRAIN_DELAY_SECONDS");
    assert!(delay > Duration::from_secs(notice.cast_unsigned()), "{delay:?}, {notice} s");

    // Prometheus finds the pods by their label and their port, and scrapes once more in the delay.
    let scraper = read("../prometheus/kubernetes.yml");
    let [scraper] = &YamlLoader::load_from_str(&scraper).unwrap()[..] else { panic!() };
    let interval = text(&scraper["global"]["scrape_interval"]);
    let interval = interval.strip_suffix('s').unwrap().parse().unwrap();
    assert!(delay > Duration::from_secs(interval), "{delay:?}, {interval} s");
    let job = &scraper["scrape_configs"][0];
    assert_eq!(text(&job["job_name"]), "shop");
    let selector = text(&job["kubernetes_sd_configs"][0]["selectors"][0]["label"]);
    let (label, value) = selector.split_once('=').unwrap();
    assert_eq!(text(&pod["metadata"]["labels"][label]), value);
    let relabel = job["relabel_configs"].as_vec().unwrap();
    assert_eq!(text(&relabel[0]["regex"]), port_name);
    // No label is added: the rules would tell pods apart by it.
    let actions: Vec<String> = relabel.iter().map(|rule| text(&rule["action"])).collect();
    assert_eq!(actions, ["keep", "drop"]);
    let other_labels = ["labels", "static_configs", "file_sd_configs"];
    assert!(other_labels.iter().all(|key| job[*key].is_badvalue()));
}

#[test]
fn the_image_starts_as_the_manifest_has_it() {
    let image = read("Dockerfile");
    let manifest = read("kubernetes.yml");
    for part in [
        "ENV SHOP_LISTEN=0.0.0.0:8080\nEXPOSE 8080\n",
        "USER 65534:65534\n",
        "ENTRYPOINT [\"/usr/local/bin/windrow-service\", \"--no-load\"]\n",
        "--package windrow-service\n",
    ] {
        assert!(image.contains(part), "no {part} in {image}");
    }
    assert!(manifest.contains("runAsUser: 65534\n") && manifest.contains("image: shop:0.1.0\n"));
    assert!(image.contains("--tag shop:0.1.0 "), "{image}");
}

#[tokio::test]
async fn the_unit_of_systemd_is_valid_and_its_settings_are_too() {
    let unit = read("shop.service");
    let settings = read("shop.conf");
    let pairs = settings.lines().filter_map(|line| line.split_once('='));
    let pairs: Vec<(String, String)> =
        pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    let drain =
        seconds(&pairs, "SHOP_DRAIN_DELAY_SECONDS") + seconds(&pairs, "SHOP_DRAIN_LIMIT_SECONDS");
    let stop = Duration::from_secs(number(&unit, "TimeoutStopSec"));
    assert!(stop >= drain + SPARE, "{stop:?}, {drain:?}");

    let mut command = command();
    command.envs(pairs);
    let program = command.get_program().to_str().unwrap().to_owned();
    let service = Process::of(command, &["--listen", "127.0.0.1:0"]);
    assert_eq!(get(&service, "/readyz").await.0, StatusCode::OK);

    // Where systemd is: with the path of this program, which is not installed.
    let start = "EnvironmentFile=/etc/shop.conf\n\
                 ExecStart=/usr/local/bin/windrow-service --no-load\n";
    assert!(unit.contains(start), "{unit}");
    let here = file("shop-verified.service");
    fs::write(&here, unit.replace("/usr/local/bin/windrow-service", &program)).unwrap();
    let mut verify = Command::new("systemd-analyze");
    verify.args(["verify", "--man=no"]).arg(&here);
    match verify.output() {
        Ok(output) => {
            // It also says what is wrong with other units of this machine.
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!said.contains("shop-verified"), "{said}");
        }
        Err(error) => assert_eq!(error.kind(), ErrorKind::NotFound, "{error}"),
    }
    // An exit that is not tried again: settings that are refused.
    let refused = output(crate::command().env("SHOP_LISTEN", "here"));
    let code = i64::from(refused.status.code().unwrap());
    assert_eq!(number(&unit, "RestartPreventExitStatus"), code.cast_unsigned());
    // One that is tried again, for ever: a port that is taken.
    let taken = service.address().to_string();
    let refused = output(crate::command().args(["--listen", &taken]));
    assert_ne!(refused.status.code().map(i64::from), Some(code));
    assert_eq!(number(&unit, "StartLimitIntervalSec"), 0);
    // The file system is read-only, but for the folder of the state.
    assert!(unit.contains("ProtectSystem=strict\n") && unit.contains("StateDirectory=shop\n"));
}
