//! Random task sets on a part with bad blocks: what is admitted is run, and nothing may wait or be late.

use norn_flash_sim::NandSim;
use norn_flash_sim::nand_catalogue::{k9f2808, test_part};
use norn_nand_ftl::{Ftl, FtlConfig, Lba, OperationTimes, PartClient, RealTimeConfig, Scheduling, Task};

use super::bench::CHECKPOINT_PERIOD_US;
use super::edf::{Background, Client, Leveler, Processor};
use super::system::{Collected, RealTimeDevice, System};
use super::workload::{Access, Downloader, Pattern};

/// The outcome of a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SetOutcome {
    /// Tasks that asked, and that were admitted.
    pub asked: u32,
    /// Those that were admitted.
    pub admitted: u32,
    /// Writes that waited for a token.
    pub token_waits: u64,
    /// Jobs of tasks or collectors that were late.
    pub misses: u64,
    /// Blocks that collectors recycled.
    pub recycled: u64,
    /// Fewest pages that one of them yielded; 0 if there was none.
    pub yield_min: u32,
    /// α.
    pub alpha: u32,
    /// Pages that tasks wrote.
    pub writes: u64,
    /// Times that a task left and another came.
    pub changes: u32,
}

/// Draws a task set from `seed`, admits what is admitted, and runs it for `seconds` of simulated time with a downloader
/// and the wear leveler, the device being used at 50 to 75%. Half-way, a task leaves and others ask.
///
/// # Panics
/// If the token invariant or one of the FTL's does not hold.
pub fn run_random_set(seed: u64, seconds: u64) -> SetOutcome {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut spec = k9f2808();
    spec.part = test_part(256, 32, 512).part;
    let mut sim = NandSim::new(spec.clone());
    let bad = random.u16(0..6);
    sim.mark_random_bad(bad, seed);
    let good = u32::from(spec.part.block_count - bad);
    let logical_pages = good * 32 * random.u32(50..=75) / 100;
    let memory = vec![0; Ftl::<NandSim, Vec<u8>>::memory_bytes(&spec.part, logical_pages)];
    let mut ftl = Ftl::format(sim, memory, FtlConfig { logical_pages }).expect("the part has room");
    for lba in 0..logical_pages {
        ftl.write(Lba(lba), &[7; 512]).expect("the part works");
    }
    let config = RealTimeConfig {
        alpha: random.u32(1..=17),
        tokens: random.u32(64..400),
        times: OperationTimes::paper(),
        checkpoint_period_us: CHECKPOINT_PERIOD_US,
        scheduling: Scheduling::EarliestDeadline,
        client: PartClient::NONE,
        failure_budget: 0,
    };
    let Ok(mut device) = RealTimeDevice::start(ftl, config) else { return SetOutcome::default() };
    let mut outcome = SetOutcome { alpha: config.alpha, ..SetOutcome::default() };
    let mut clients = Vec::new();
    for number in 0..random.u32(1..12) {
        clients.extend(ask(&mut device, &mut outcome, &mut random, number, logical_pages, seed));
    }
    let pattern = draw_pattern(&mut random);
    let interval = [0, 2_000, 20_000][random.usize(0..3)];
    let downloader = Downloader::new(pattern, logical_pages, 100.0 * random.f64(), interval, seed);
    let background = Background { downloader: Some(downloader), leveler: Leveler::On };
    let mut processor = Processor::new(Collected::new(device), clients, background);
    let half = seconds * 500_000;
    processor.run(half, half, |_| {});
    if !processor.clients.is_empty() {
        let gone = processor.clients.remove(random.usize(0..processor.clients.len()));
        note(&mut outcome, &gone);
        processor.system.device.leave(gone.handle.expect("it was admitted")).expect("it is there");
        outcome.changes += 1;
    }
    let now_us = processor.now_us;
    processor.system.advance(now_us);
    for number in 20..random.u32(20..24) {
        let came = ask(&mut processor.system.device, &mut outcome, &mut random, number, logical_pages, seed);
        processor.clients.extend(came.map(|client| client.from(now_us)));
    }
    processor.run(2 * half, half, |_| {});
    processor.clients.iter().for_each(|client| note(&mut outcome, client));
    let device = &mut processor.system.device;
    let counters = device.counters();
    outcome.misses += counters.misses;
    outcome.token_waits += counters.token_waits;
    (outcome.recycled, outcome.yield_min) = (counters.recycled, counters.yield_min);
    let violation = device.audit().expect("the part works");
    assert_eq!(violation, None, "seed {seed}");
    outcome
}

fn note(outcome: &mut SetOutcome, client: &Client) {
    outcome.misses += client.stats.misses;
    outcome.writes += client.stats.writes;
}

fn draw_pattern(random: &mut fastrand::Rng) -> Pattern {
    [Pattern::Trace, Pattern::Sequential, Pattern::Random][random.usize(0..3)]
}

/// A random task asks to be admitted.
fn ask(
    device: &mut RealTimeDevice,
    outcome: &mut SetOutcome,
    random: &mut fastrand::Rng,
    number: u32,
    logical_pages: u32,
    seed: u64,
) -> Option<Client> {
    let period_us = 1000 * [10, 20, 50, 100, 200, 500, 1000][random.usize(0..7)] + random.u64(0..1000);
    let (cpu_us, reads) = (random.u64(0..3_000), random.u32(0..6));
    let writes = if random.u8(0..8) == 0 { random.u32(10..40) } else { random.u32(0..8) };
    outcome.asked += 1;
    let handle = device.admit(Task::new(cpu_us, reads, writes, period_us, &OperationTimes::paper())).ok()?;
    outcome.admitted += 1;
    let access = Access::new(draw_pattern(random), logical_pages, number, writes, seed);
    // A task may write less than it declared, or nothing at all.
    let writes = if random.u8(0..4) == 0 { random.u32(0..=writes) } else { writes };
    Some(Client::new(Some(handle), period_us, cpu_us, reads, writes, access))
}
