//! The host's power fails: of each sector of the image file the disk holds any version since the last wait. The device
//! mounts, and what was flushed is there, or what was written over it since.

use std::fs;
use std::path::{Path, PathBuf};

use norn_flash::{Block, Column, Nand, NandPart, PageAddress, Piece};
use norn_flash_sim::nand_catalogue::{NandSpec, test_part};
use norn_flash_sim::{NandSim, NandSimError};
use norn_nand_ftl::{Ftl, FtlConfig, Lba};

use super::disk::Disk;

/// A disk, with every version that the file has had since it was last waited for.
struct Watched {
    disk: Disk,
    path: PathBuf,
    versions: Vec<Vec<u8>>,
}

impl Watched {
    fn new(part: NandSim, path: &Path) -> Self {
        Watched { disk: Disk::new(part), path: path.to_owned(), versions: vec![fs::read(path).unwrap()] }
    }

    fn waits(&self) -> u64 {
        let waits = self.disk.waits();
        waits.flushes + waits.erases + waits.barriers
    }

    fn watch<T>(&mut self, operation: impl FnOnce(&mut Disk) -> T) -> T {
        let before = self.waits();
        let done = operation(&mut self.disk);
        if self.waits() > before {
            // The wait came first: what the operation wrote itself is not on the disk.
            self.versions.drain(..self.versions.len() - 1);
        }
        self.versions.push(fs::read(&self.path).unwrap());
        done
    }

    fn flush(&mut self) {
        self.watch(Disk::flush).unwrap();
    }

    /// Of each sector any version since the last wait, the first with a chance of `kept` in eight.
    fn lose(self, sector_bytes: usize, kept: u8, random: &mut fastrand::Rng) {
        let Watched { disk, path, versions } = self;
        drop(disk);
        let mut file = versions[0].clone();
        for (number, sector) in file.chunks_mut(sector_bytes).enumerate() {
            if random.u8(0..8) >= kept {
                let version = &versions[random.usize(0..versions.len())];
                sector.copy_from_slice(&version[number * sector_bytes..][..sector.len()]);
            }
        }
        fs::write(path, file).unwrap();
    }
}

impl Nand for Watched {
    type Error = NandSimError;

    fn part(&self) -> NandPart {
        Nand::part(&self.disk)
    }

    fn load(&mut self, page: PageAddress) -> Result<(), NandSimError> {
        self.disk.load(page)
    }

    fn seek(&mut self, column: Column) -> Result<(), NandSimError> {
        self.disk.seek(column)
    }

    fn fetch(&mut self, buffer: &mut [u8]) -> Result<(), NandSimError> {
        self.disk.fetch(buffer)
    }

    fn program(&mut self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), NandSimError> {
        self.watch(|disk| disk.program(page, pieces))
    }

    fn program_loaded(&mut self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), NandSimError> {
        self.watch(|disk| disk.program_loaded(page, pieces))
    }

    fn erase(&mut self, block: Block) -> Result<(), NandSimError> {
        self.watch(|disk| disk.erase(block))
    }

    fn barrier(&mut self) -> Result<(), NandSimError> {
        self.watch(Disk::barrier)
    }

    fn restart(&mut self) -> Result<(), NandSimError> {
        self.disk.restart()
    }
}

type WatchedFtl = Ftl<Watched, Vec<u8>>;

/// What each logical page may hold: the value that was flushed, then those since. 0 is zeros.
struct Model {
    pages: Vec<Vec<u64>>,
    next: u64,
}

impl Model {
    fn change(&mut self, ftl: &mut WatchedFtl, random: &mut fastrand::Rng) {
        let pages = self.pages.len();
        // Three quarters of the writes go to an eighth of the pages.
        let end = if random.u8(0..4) > 0 { pages / 8 } else { pages };
        let lba = random.usize(0..end);
        if random.u8(0..12) == 0 {
            let count = random.usize(0..=(pages - lba).min(20));
            ftl.trim(Lba(lba as u32), count as u32).unwrap();
            self.pages[lba..lba + count].iter_mut().for_each(|page| page.push(0));
        } else {
            ftl.write(Lba(lba as u32), &contents(lba, self.next, ftl.page_bytes())).unwrap();
            self.pages[lba].push(self.next);
            self.next += 1;
        }
    }

    fn flush(&mut self, ftl: &mut WatchedFtl) {
        ftl.flush().unwrap();
        ftl.device_mut().flush();
        self.pages.iter_mut().for_each(|page| drop(page.drain(..page.len() - 1)));
    }

    /// Compares; what is found counts as written last.
    fn check(&mut self, ftl: &mut WatchedFtl, replay: &str) {
        for (lba, may) in self.pages.iter_mut().enumerate() {
            let mut found = vec![1; usize::from(ftl.page_bytes())];
            ftl.read(Lba(lba as u32), &mut found).unwrap_or_else(|error| panic!("{replay}: page {lba}: {error}"));
            let value = may.iter().copied().find(|&value| found == contents(lba, value, found.len() as u16));
            may.push(value.unwrap_or_else(|| panic!("{replay}: page {lba} holds {:?}…, not {may:?}", &found[..16])));
        }
    }
}

fn contents(lba: usize, value: u64, page_bytes: u16) -> Vec<u8> {
    let words = if value == 0 { [0; 2] } else { [lba as u64, value] };
    words.map(u64::to_le_bytes).concat().repeat(usize::from(page_bytes) / 16)
}

fn memory(part: &NandPart, logical_pages: u32) -> Vec<u8> {
    vec![0xA5; WatchedFtl::memory_bytes(part, logical_pages)]
}

/// Loses the host's power repeatedly on one image with sectors of a given size.
fn lose_power(spec: NandSpec, logical_pages: u32, sector_bytes: usize, losses: u32, seed: u64) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("disk.img");
    let part = spec.part;
    let mut random = fastrand::Rng::with_seed(seed);
    let mut model = Model { pages: vec![vec![0]; logical_pages as usize], next: 1 };
    let device = Watched::new(NandSim::create_image(&path, spec).unwrap(), &path);
    let mut ftl = Ftl::format(device, memory(&part, logical_pages), FtlConfig { logical_pages }).unwrap();
    model.flush(&mut ftl);
    for loss in 0..losses {
        let replay = format!("lose_power, sectors of {sector_bytes} bytes, seed {seed}, loss {loss}");
        for _ in 0..random.u32(0..120) {
            model.change(&mut ftl, &mut random);
            if random.u8(0..30) == 0 {
                model.flush(&mut ftl);
            }
        }
        let kept = random.u8(0..8);
        ftl.into_device().lose(sector_bytes, kept, &mut random);
        let device = Watched::new(NandSim::open_image(&path).unwrap(), &path);
        ftl = Ftl::mount(device, memory(&part, logical_pages)).unwrap_or_else(|error| panic!("{replay}: {error}"));
        assert_eq!(ftl.audit(&[]), Ok(None), "{replay}");
        model.check(&mut ftl, &replay);
        if random.bool() {
            model.flush(&mut ftl);
        }
    }
}

#[test]
fn what_was_flushed_survives_a_loss_of_the_hosts_power() {
    for seed in 0..4 {
        lose_power(test_part(40, 8, 512), 200, 512, 40, seed);
        lose_power(test_part(40, 8, 512), 240, 4096, 40, 100 + seed);
        lose_power(test_part(60, 8, 64), 300, 512, 40, 200 + seed);
    }
}
