//! Write amplification: in short, each device's curve has the shape that its design gives it; in full, with a made-up
//! trace, the block device meets the bars. A recorded trace is taken by its checksum, and what is none is named.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use norn_lab::{Known, Runner, Settings, Shard, experiments_named, write_report};

type Curves = BTreeMap<(String, String, u32), f64>;

/// Runs an experiment, and returns its report.
fn run(name: &str, out: &Path, settings: &Settings) -> String {
    let experiments = experiments_named(&[name.to_owned()]).unwrap();
    let threads = NonZeroUsize::new(2).unwrap();
    Runner { out, settings, known: Known::Kept, shard: Shard::WHOLE, threads }.run(&experiments).unwrap();
    write_report(&experiments, out, out).unwrap()
}

/// What `amplification-curves` measured, by device, workload and use.
fn curves(settings: &Settings) -> Curves {
    let directory = tempfile::tempdir().unwrap();
    run("amplification-curves", directory.path(), settings);
    let mut reader = csv::Reader::from_path(directory.path().join("amplification-curves.csv")).unwrap();
    let mut curves = Curves::new();
    for row in reader.deserialize() {
        let row: BTreeMap<String, String> = row.unwrap();
        let amplification: f64 = row["amplification"].parse().unwrap();
        let refused = !row["refusal"].is_empty();
        assert!(refused || row["settled"] == "true", "windows agree: {row:?}");
        assert_eq!(refused, amplification == 0.0, "{row:?}");
        let key = (row["device"].clone(), row["workload"].clone(), row["use_percent"].parse().unwrap());
        assert!(curves.insert(key, amplification).is_none(), "{row:?}");
    }
    curves
}

fn at(curves: &Curves, device: &str, workload: &str, use_percent: u32) -> f64 {
    curves[&(device.to_owned(), workload.to_owned(), use_percent)]
}

#[test]
fn curves_have_their_shape() {
    let curves = curves(&Settings::quick());
    for workload in ["MadeUpTrace", "MadeUpEndless", "Uniform"] {
        let at = |device, use_percent| at(&curves, device, workload, use_percent);
        for device in ["Ours", "Greedy", "MqsimGreedy", "MqsimRandomGreedy"] {
            assert!(at(device, 50) >= 1.0 && at(device, 85) > at(device, 50) * 1.2, "{device} on {workload}");
        }
        assert!(at("MqsimRandomGreedy", 50) > at("Greedy", 50), "{workload}: the best of a few blocks is not the best");
        assert!(at("DharaMost", 50) > 4.0 / 3.0, "{workload}: every fourth page is the map's");
        assert!(at("DharaTested", 50) > at("DharaMost", 50), "{workload}: a shorter journal has fewer dead pages");
    }
    for use_percent in [50, 85] {
        let uniform = |device| at(&curves, device, "Uniform", use_percent);
        assert!(uniform("Greedy") < uniform("GreedyWithCheckpoint"), "{use_percent}%");
        assert!(uniform("GreedyWithCheckpoint") < uniform("GreedyWithReserve"), "{use_percent}%");
        let beside = uniform("Ours") / uniform("GreedyWithReserve");
        assert!(
            (0.93..1.07).contains(&beside),
            "what ours costs on uniform writes is its checkpoint and reserve: {beside}"
        );
    }
    let tasks = at(&curves, "OursWithTasks", "MadeUpTrace", 85);
    assert!(tasks > at(&curves, "Ours", "MadeUpTrace", 85), "what tasks have reserved is no room for dead pages");
}

/// What the block device is to keep to; the docs have the figures of the recorded trace.
#[test]
#[ignore = "minutes"]
fn the_bars_are_met() {
    let curves = curves(&Settings::full());
    for (use_percent, bar) in [(50, 1.03), (65, 1.27), (75, 1.53), (85, 2.07), (90, 2.69)] {
        let ours = at(&curves, "Ours", "MadeUpTrace", use_percent);
        assert!(ours <= bar, "TPC-C-like, {use_percent}%: {ours}");
        let uniform = |device| at(&curves, device, "Uniform", use_percent);
        // From 75% on, 5% more than the greedy map is too little for checkpoint and reserve; so that is the bar there.
        let bar = (1.05 * uniform("Greedy")).max(1.03 * uniform("GreedyWithReserve"));
        assert!(uniform("Ours") <= bar, "uniform, {use_percent}%: {} for {bar}", uniform("Ours"));
    }
}

#[test]
fn a_recorded_trace_is_compared_and_what_is_none_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let trace = directory.path().join("few.trace");
    fs::write(&trace, "1 0 100 16 0\n2 0 116 16 0\n3 0 7 8 1\n").unwrap();
    let settings = Settings { trace: Some(trace.clone()), ..Settings::quick() };
    let report = run("amplification-shapes", directory.path(), &settings);
    assert!(report.lines().any(|line| line.starts_with("| recorded | 50% | 2 | 32 | 100 | 50 |")), "{report}");

    fs::write(&trace, "1 0 100 16 2\n").unwrap();
    let experiments = experiments_named(&["amplification-shapes".to_owned()]).unwrap();
    let runner = Runner {
        out: directory.path(),
        settings: &settings,
        known: Known::Kept,
        shard: Shard::WHOLE,
        threads: NonZeroUsize::MIN,
    };
    let error = runner.run(&experiments).unwrap_err().to_string();
    assert!(error.contains("few.trace") && error.contains("line 1 has type 2"), "{error}");
}
