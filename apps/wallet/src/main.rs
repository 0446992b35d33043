//! Pays from a card with power cuts, and says what came of it.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use norn_card_image::{CardFailure, CardImage};
use norn_wallet::{Job, Report, run};

/// Pays from the example purse on a Java Card, with power cuts in the middle of payments, and counts the money.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Directory of the card; a new card is made where there is none.
    card: PathBuf,
    /// How many payments.
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    payments: u32,
    /// Decides amounts and power cuts.
    #[arg(long, value_name = "SEED", default_value_t = 2006)]
    seed: u64,
    /// Directory of card-api.jar and purse.jar, as `tools/card-jars` makes them.
    #[arg(long, value_name = "DIRECTORY", default_value = "out/card")]
    jars: PathBuf,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match execute(&arguments) {
        Ok(report) if report.wrong.is_empty() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(failure) => {
            eprintln!("norn-wallet: {}: {failure}", arguments.card.display());
            ExitCode::from(2)
        }
    }
}

fn execute(arguments: &Arguments) -> Result<Report, CardFailure> {
    let (api, purse) = (arguments.jars.join("card-api.jar"), arguments.jars.join("purse.jar"));
    let job = Job { payments: arguments.payments, seed: arguments.seed, api: &api, purse: &purse };
    let start = Instant::now();
    let report = run(&arguments.card, &job, |text| println!("{text}"))?;
    let Report { payments, credits, cuts, found_whole, found_undone, balance, paid, .. } = &report;
    println!(
        "\nmoney      {paid} paid in {payments} payments, {credits} times {} loaded, {balance} on the card",
        20_000
    );
    println!(
        "power      {cuts} cuts in debits and credits: {found_whole} found whole, {found_undone} undone and sent again"
    );
    for wrong in &report.wrong {
        println!("WRONG      {wrong}");
    }
    let verdict = if report.wrong.is_empty() { "none lost, none made" } else { "THE BOOKS DO NOT AGREE" };
    println!("books      {verdict}");
    let each = |total: u64| total as f64 / f64::from((*payments).max(1));
    let counters = &report.counters;
    println!(
        "flash      a payment, recoveries included: {:.0} words read, {:.1} programmed, {:.4} erases, {:.2} ms of the \
         part",
        each(counters.reads()),
        each(counters.programs()),
        each(counters.erases),
        each(report.elapsed_ns) / 1e6
    );
    println!(
        "code       a payment, recoveries included: {:.0} requests of the pager, {:.1} loads, {:.2} ms of the NAND \
         part",
        each(report.look_ups),
        each(report.loads),
        each(report.nand_ns) / 1e6
    );
    let card = CardImage::open(&arguments.card)?.report()?;
    let (flash, free) = card.flash;
    let (ram, transient) = card.ram;
    println!(
        "card       {} objects; {free} of {flash} bytes of NOR flash are ready for more",
        card.objects.iter().map(|(_, count)| count).sum::<usize>()
    );
    for (package, version, bytes, applets) in &card.packages {
        println!("           package {package} {version}: {bytes} bytes, {} applets", applets.len());
    }
    let (room, rooms, nand) = card.nand;
    println!("           {rooms} packages of up to {room} bytes; the NAND part since it was made: {nand}");
    let pager = card.pager_ram;
    println!(
        "RAM        {ram} bytes of the virtual machine, {transient} of them for transient arrays; {pager} of the pager"
    );
    println!("time       {:.1} s", start.elapsed().as_secs_f64());
    Ok(report)
}
