//! Starts of the real-time part: they end, by a number of recyclings that is known before, whatever is asked for.

use norn_flash_sim::NandSim;
use norn_flash_sim::nand_catalogue::test_part;
use norn_nand_ftl::{
    AdmissionError, Ftl, FtlConfig, Lba, OperationTimes, PartClient, RealTime, RealTimeConfig, Scheduling, StartError,
    Task, max_logical_pages, reserve_blocks,
};

type System = RealTime<NandSim, Vec<u8>, 8>;

const TIMES: OperationTimes = OperationTimes::paper();

fn config(alpha: u32, tokens: u32) -> RealTimeConfig {
    RealTimeConfig {
        alpha,
        tokens,
        times: TIMES,
        checkpoint_period_us: 100_000,
        scheduling: Scheduling::EarliestDeadline,
        client: PartClient::NONE,
        failure_budget: 0,
    }
}

/// (13) over the tasks, and over the checkpoint's.
#[test]
fn a_set_is_admitted_with_the_tokens_that_it_takes_and_with_no_fewer() {
    let ftl = churned(128, 16, 512, 40);
    let part = ftl.device().spec().part;
    let (few, many) = (Task::new(100, 1, 2, 100_000, &TIMES), Task::new(100, 0, 20, 400_000, &TIMES));
    let reader = Task::new(100, 3, 0, 50_000, &TIMES);
    for (alpha, tasks) in [(5, &[few, many, reader][..]), (3, &[many]), (8, &[few, few, few]), (5, &[])] {
        let tokens = config(alpha, 0).tokens_for(&part, tasks).unwrap();
        let admitted = |tokens| {
            let mut system = System::start(ftl.clone(), config(alpha, tokens))?;
            tasks.iter().try_for_each(|&task| system.admit(task).map(drop)).map_err(StartError::Checkpoint)
        };
        assert_eq!(admitted(tokens), Ok(()), "{tasks:?}");
        let refused = admitted(tokens - 1);
        let is_short = matches!(&refused, Err(StartError::Checkpoint(AdmissionError::Tokens { needed, free }))
            if needed - free == 1);
        assert!(is_short, "{refused:?}, {tasks:?}");
    }
    assert_eq!(config(17, 0).tokens_for(&part, &[]), None, "a block has 16 pages");
    assert_eq!(config(5, 0).tokens_for(&part, &[Task { writes: u32::MAX, ..few }]), None, "no period has so many");
}

/// A part of which so many hundredths are in use, rewritten at random.
fn churned(blocks: u16, pages: u16, page_bytes: u16, percent: u32) -> Ftl<NandSim, Vec<u8>> {
    let spec = test_part(blocks, pages, page_bytes);
    let logical_pages = max_logical_pages(&spec.part, 0) * percent / 100;
    let bytes = Ftl::<NandSim, Vec<u8>>::memory_bytes(&spec.part, logical_pages);
    let mut ftl = Ftl::format(NandSim::new(spec), vec![0; bytes], FtlConfig { logical_pages }).unwrap();
    let (mut random, data) = (fastrand::Rng::with_seed(3), vec![7; usize::from(page_bytes)]);
    for lba in 0..2 * logical_pages {
        let lba = if lba < logical_pages { lba } else { random.u32(0..logical_pages) };
        ftl.write(Lba(lba), &data).unwrap();
    }
    ftl
}

#[test]
fn a_start_recycles_no_more_blocks_than_the_tokens_take() {
    let (mut started, mut refused, mut most_erased) = (0, 0, 0);
    for (blocks, pages, page_bytes, percent) in [(64, 64, 128, 99), (64, 64, 128, 40), (128, 16, 512, 40)] {
        let ftl = churned(blocks, pages, page_bytes, percent);
        let reserve = u32::from(reserve_blocks(&ftl.device().spec().part));
        let (counts, logical_pages, sim) = (ftl.page_counts(), ftl.logical_pages(), ftl.into_device());
        let bytes = Ftl::<NandSim, Vec<u8>>::memory_bytes(&sim.spec().part, logical_pages);
        for alpha in [1, u32::from(pages) / 8, u32::from(pages) * 45 / 64] {
            let most = counts.total - counts.live - reserve * u32::from(pages);
            for tokens in [2 * u32::from(pages), most / 2, most - 2, most, most + 1, u32::MAX] {
                let wanted = u64::from(tokens) + u64::from(reserve) * u64::from(pages);
                let erases = wanted.div_ceil(u64::from(alpha));
                let mut sim = sim.clone();
                let ftl = Ftl::mount(&mut sim, vec![0; bytes]).unwrap();
                let before = ftl.device().counters().erases;
                let context = format!("{blocks} blocks of {pages} pages, {percent}%, alpha {alpha}, {tokens} tokens");
                match RealTime::<_, _, 8>::start(ftl, config(alpha, tokens)).map(drop) {
                    Ok(()) => started += 1,
                    Err(StartError::Tokens { .. } | StartError::Checkpoint(_)) => refused += 1,
                    Err(error) => panic!("{error}: {context}"),
                }
                let erased = sim.counters().erases - before;
                assert!(erased <= erases, "{erased} blocks erased, not {erases}: {context}");
                most_erased = most_erased.max(erased);
            }
        }
    }
    assert!(most_erased > 30, "{most_erased} blocks erased");
    assert!(started >= 6 && refused > 9, "{started} started, {refused} refused");
}
