//! Steady state: windows of writes until three in a row agree.

use serde::{Deserialize, Serialize};

use super::workload::Pages;

/// Windows agree if the highest is at most this much above the lowest.
const AGREEMENT: f64 = 1.02;
/// In the first windows erased blocks are used up, which costs less than what follows.
const WINDOWS_WARM: usize = 2;
const WINDOWS_MAX: usize = 30;
/// A window is this many times the part's pages, or the next whole lap.
const WINDOW_PARTS: u64 = 2;

/// A block device that counts.
pub trait Device {
    /// Writes a logical page.
    fn write(&mut self, page: u32);
    /// Pages that were programmed so far, whatever for.
    fn programs(&self) -> u64;
}

/// A device that takes the pages of its workload.
pub trait Measured {
    /// Writes pages, at least the given number.
    fn run(&mut self, pages: u64);
    /// Pages written so far for the client.
    fn written(&self) -> u64;
    /// Pages programmed so far.
    fn programs(&self) -> u64;
}

/// A device whose client writes one page after the other.
pub struct Written<D> {
    device: D,
    pages: Pages,
    written: u64,
}

impl<D: Device> Written<D> {
    /// Writes each of the logical pages once, then what the stream says.
    pub fn new(mut device: D, logical_pages: u32, pages: Pages) -> Self {
        (0..logical_pages).for_each(|page| device.write(page));
        Written { device, pages, written: u64::from(logical_pages) }
    }
}

impl<D: Device> Measured for Written<D> {
    fn run(&mut self, pages: u64) {
        for page in self.pages.by_ref().take(pages as usize) {
            self.device.write(page);
        }
        self.written += pages;
    }

    fn written(&self) -> u64 {
        self.written
    }

    fn programs(&self) -> u64 {
        self.device.programs()
    }
}

/// Write amplification in steady state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Steady {
    /// Programs for each page written, over the last three windows.
    pub amplification: f64,
    /// Of the lowest of these windows.
    pub lowest: f64,
    /// Of the highest.
    pub highest: f64,
    /// Windows that were run.
    pub windows: u32,
    /// Whether they agree; if not, they ran out.
    pub settled: bool,
}

/// Pages of a window.
pub fn window(part_pages: u32, lap: u64) -> u64 {
    let wanted = WINDOW_PARTS * u64::from(part_pages);
    if lap == 0 { wanted } else { wanted.div_ceil(lap) * lap }
}

/// Runs windows of so many pages until three agree.
pub fn steady(device: &mut dyn Measured, window: u64, mut progress: impl FnMut(u64, u64)) -> Steady {
    let mut windows: Vec<(f64, u64, u64)> = Vec::new();
    loop {
        let before = (device.written(), device.programs());
        device.run(window);
        let (written, programs) = (device.written() - before.0, device.programs() - before.1);
        windows.push((programs as f64 / written as f64, written, programs));
        progress(windows.len() as u64, WINDOWS_MAX as u64);
        if windows.len() < WINDOWS_WARM + 3 {
            continue;
        }
        let last = &windows[windows.len() - 3..];
        let lowest = last.iter().map(|window| window.0).fold(f64::INFINITY, f64::min);
        let highest = last.iter().map(|window| window.0).fold(0.0, f64::max);
        let settled = highest <= lowest * AGREEMENT;
        if settled || windows.len() == WINDOWS_MAX {
            let (written, programs) = last.iter().fold((0, 0), |sum, window| (sum.0 + window.1, sum.1 + window.2));
            let amplification = programs as f64 / written as f64;
            return Steady { amplification, lowest, highest, windows: windows.len() as u32, settled };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device whose window costs what a list says.
    struct Scripted {
        costs: Vec<u64>,
        window: usize,
        programs: u64,
    }

    impl Measured for Scripted {
        fn run(&mut self, _: u64) {
            self.programs += self.costs[self.window.min(self.costs.len() - 1)];
            self.window += 1;
        }

        fn written(&self) -> u64 {
            100 * self.window as u64
        }

        fn programs(&self) -> u64 {
            self.programs
        }
    }

    fn steady_of(costs: &[u64]) -> Steady {
        steady(&mut Scripted { costs: costs.to_vec(), window: 0, programs: 0 }, 100, |_, _| {})
    }

    #[test]
    fn windows_end_when_three_agree() {
        let agreeing = steady_of(&[100, 100, 100, 100, 100, 150, 200, 200, 201, 202]);
        assert_eq!((agreeing.windows, agreeing.settled, agreeing.amplification), (5, true, 1.0));
        let later = steady_of(&[100, 100, 150, 200, 210, 220, 221, 222]);
        assert_eq!((later.windows, later.settled), (8, true));
        assert!((later.amplification - 2.21).abs() < 1e-9);
        let never = steady_of(&(0..60).map(|number| 100 + 50 * (number % 2)).collect::<Vec<u64>>());
        assert_eq!((never.windows, never.settled), (WINDOWS_MAX as u32, false));
    }
}
