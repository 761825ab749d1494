//! The text of families, to the letter.

use super::*;

#[test]
fn a_family_shows_each_series_by_its_labels_the_overflow_and_how_much_it_was() {
    let requests = Arc::new(Family::<Request, Counter>::new().with_max_series(2));
    let mut metrics = Exposition::new();
    metrics.register("requests", "Requests", Arc::clone(&requests)).unwrap();
    assert_eq!(samples(&metrics), ["requests_overflow_total 0"]);
    requests.with(Request { route: "/a", status: 200 }).add(2);
    requests.with(Request { route: "/b", status: 404 }).add(3);
    requests.with(Request { route: "/c", status: 200 }).add(5);
    requests.with(Request { route: "/d", status: 200 }).add(7);
    assert_eq!(
        samples(&metrics),
        [
            r"requests_overflow_total 2",
            r#"requests_total{overflow="true"} 12"#,
            r#"requests_total{route="/a",status="200"} 2"#,
            r#"requests_total{route="/b",status="404"} 3"#,
        ]
    );
    assert!(text(&metrics).starts_with(
        "# HELP requests_total Requests\n# TYPE requests_total counter\nrequests_total{"
    ));
}

#[test]
fn a_family_whose_labels_are_all_enums_never_overflows_and_shows_no_number_of_it() {
    static OPEN: Family<ByMethod, Gauge> = Family::new();
    let mut metrics = Exposition::new();
    metrics.register("open", "Open", &OPEN).unwrap();
    OPEN.with(ByMethod { method: Method::Get, secure: true }).increment();
    OPEN.with(ByMethod { method: Method::Post, secure: false }).add(-1);
    assert_eq!(
        samples(&metrics),
        [r#"open{method="GET",secure="true"} 1"#, r#"open{method="POST",secure="false"} -1"#]
    );
}

#[test]
fn a_removed_series_is_gone_and_its_counts_go_to_no_other() {
    static SHIFTS: Family<Shift, Counter> = Family::new();
    let mut metrics = Exposition::new();
    metrics.register("shifts", "Shifts", &SHIFTS).unwrap();
    SHIFTS.with(Shift { shift: -1 }).add(5);
    SHIFTS.with(Shift { shift: 1 }).add(2);
    assert!(SHIFTS.remove(Shift { shift: -1 }));
    assert_eq!(samples(&metrics), ["shifts_overflow_total 0", r#"shifts_total{shift="1"} 2"#]);
    assert_eq!(SHIFTS.lifetime(), 7);
}

/// A label without a value is no label to Prometheus.
#[test]
fn labels_without_values_make_no_two_series_one() {
    labels! { struct Place { city: str, street: str } }
    let visits = Arc::new(Family::<Place, Counter>::new().with_max_series(4));
    let mut metrics = Exposition::new().with_label("zone", "");
    metrics.register("visits", "Visits", Arc::clone(&visits)).unwrap();
    for (city, street) in [("", ""), ("", "a"), ("a", ""), ("a", "a"), ("b", "")] {
        visits.with(Place { city, street }).increment();
    }
    let as_read = |sample: &String| {
        let (series, _) = sample.rsplit_once(' ').unwrap();
        let mut labels: Vec<_> = series.split(['{', ',', '}']).collect();
        labels.retain(|label| !label.is_empty() && !label.ends_with("=\"\""));
        labels.join(",")
    };
    let mut series: Vec<_> = samples(&metrics).iter().map(as_read).collect();
    series.sort();
    let expected = [
        "visits_overflow_total",
        "visits_total",
        r#"visits_total,city="a""#,
        r#"visits_total,city="a",street="a""#,
        r#"visits_total,overflow="true""#,
        r#"visits_total,street="a""#,
    ];
    assert_eq!(series, expected);
}

#[test]
fn hostile_values_are_escaped_and_cannot_end_a_line_or_a_label() {
    let requests = Arc::new(Family::<Request, Counter>::new());
    let mut metrics = Exposition::new();
    metrics.register("requests", "Requests", Arc::clone(&requests)).unwrap();
    let route = "\"} 1\n# EOF\nevil 1\\\t\u{0}é";
    requests.with(Request { route, status: 0 }).increment();
    let shown = "requests_total{route=\"\\\"} 1\\n# EOF\\nevil 1\\\\\t\u{0}é\",status=\"0\"} 1";
    assert_eq!(samples(&metrics), ["requests_overflow_total 0", shown]);
}

#[test]
fn a_family_with_names_of_run_time_shows_them() {
    let names = ["tenant", "region"];
    let requests = Family::<_, Counter>::with_names(names).unwrap().with_max_series(3);
    let requests = Arc::new(requests);
    let mut metrics = Exposition::new();
    metrics.register("requests", "Requests", Arc::clone(&requests)).unwrap();
    assert_eq!(samples(&metrics), ["requests_overflow_total 0"]);
    requests.with(&["acme", "eu"]).add(2);
    requests.with(&["ab", "c"]).add(3);
    requests.with(&["\"} 1\n# EOF\nevil 1\\\t\u{0}é", ""]).add(5);
    requests.with(&["no", "room"]).add(7);
    requests.with(&["acme"]).add(11);
    assert_eq!(
        samples(&metrics),
        [
            "requests_overflow_total 2",
            r#"requests_total{overflow="true"} 18"#,
            "requests_total{tenant=\"\\\"} 1\\n# EOF\\nevil 1\\\\\t\u{0}é\",region=\"\"} 5",
            r#"requests_total{tenant="ab",region="c"} 3"#,
            r#"requests_total{tenant="acme",region="eu"} 2"#,
        ]
    );
    assert!(requests.remove(&["ab", "c"]));
    assert!(!text(&metrics).contains(r#"tenant="ab""#));

    let sizes = Arc::new(Family::<_, Histogram>::with_names(names).unwrap());
    metrics.register("sizes", "Sizes", Arc::clone(&sizes)).unwrap();
    sizes.with(&["acme", "eu"]).record(3);
    let shown = samples(&metrics);
    for sample in [
        r#"sizes_bucket{tenant="acme",region="eu",le="1024.0"} 1"#,
        r#"sizes_count{tenant="acme",region="eu"} 1"#,
    ] {
        assert!(shown.iter().any(|line| line == sample), "{sample} in {shown:#?}");
    }
}

#[test]
fn a_family_without_names_shows_its_one_series_without_labels() {
    let jobs: Arc<Family<RuntimeLabels, Counter>> = Arc::new(Family::with_names([""; 0]).unwrap());
    let mut metrics = Exposition::new();
    metrics.register("jobs", "Jobs", Arc::clone(&jobs)).unwrap();
    jobs.with(&[]).add(3);
    assert_eq!(samples(&metrics), ["jobs_overflow_total 0", "jobs_total 3"]);
    jobs.with(&["one too many"]).add(4);
    let all = ["jobs_overflow_total 1", "jobs_total 3", r#"jobs_total{overflow="true"} 4"#];
    assert_eq!(samples(&metrics), all);
}
