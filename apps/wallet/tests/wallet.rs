//! Money is conserved through power cuts, also when the card goes on later.

use std::path::Path;
use std::process::Command;

use norn_wallet::{Job, run};

#[test]
fn no_money_is_lost_or_made_by_power_cuts() {
    let directory = tempfile::tempdir().unwrap();
    let jars = directory.path().join("jars");
    let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/card-jars");
    assert!(Command::new(tool).arg(&jars).status().unwrap().success());
    let (api, purse) = (jars.join("card-api.jar"), jars.join("purse.jar"));
    let card = directory.path().join("card");
    let (mut cuts, mut whole, mut undone) = (0, 0, 0);
    for seed in 0..4 {
        let job = Job { payments: 500, seed, api: &api, purse: &purse };
        let report = run(&card, &job, |_| {}).unwrap();
        assert_eq!(report.wrong, Vec::<String>::new(), "seed {seed}");
        assert_eq!(report.payments, 500);
        assert_eq!(report.cuts, report.found_whole + report.found_undone);
        (cuts, whole, undone) = (cuts + report.cuts, whole + report.found_whole, undone + report.found_undone);
    }
    assert!(cuts > 200 && whole > 20 && undone > 20, "{cuts} cuts, {whole} whole, {undone} undone");
}
