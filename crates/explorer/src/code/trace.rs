//! A trace of a program that runs from NAND flash, and what a cache does with it: by policy, number of frames and width
//! of cache pages.

use norn_code_pager::policy::{ClockIn, GreedyIn, LruIn, PolicyIn, S3FifoIn, SieveIn};
use norn_code_pager::{
    CacheMemory, CachePage, CacheShape, Code, CodeAddress, Crc32c, Image, LentPager, Options, Uncoded,
};
use norn_flash_sim::NandSim;

/// Bytes that a program executes between two requests: what a look-up serves.
const STRIDE: u32 = 16;
/// Bytes of a routine, from and to.
const ROUTINE_BYTES: (u32, u32) = (48, 1024);

/// A replacement policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyName {
    /// Least recently used.
    Lru,
    /// CLOCK.
    Clock,
    /// SIEVE.
    Sieve,
    /// S3-FIFO.
    S3Fifo,
    /// By the cost of a miss.
    Greedy,
}

impl PolicyName {
    /// All of them.
    pub const ALL: [PolicyName; 5] =
        [PolicyName::Lru, PolicyName::Clock, PolicyName::Sieve, PolicyName::S3Fifo, PolicyName::Greedy];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            PolicyName::Lru => "LRU",
            PolicyName::Clock => "CLOCK",
            PolicyName::Sieve => "SIEVE",
            PolicyName::S3Fifo => "S3-FIFO",
            PolicyName::Greedy => "greedy",
        }
    }

    /// The policy of this name.
    pub fn named(name: &str) -> Option<PolicyName> {
        PolicyName::ALL.into_iter().find(|policy| policy.name() == name)
    }
}

/// The error-correcting code of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeName {
    /// None.
    Uncoded,
    /// CRC-32C.
    Crc32c,
}

impl CodeName {
    /// Bytes of the code of a cache page.
    pub const fn bytes(self) -> usize {
        match self {
            CodeName::Uncoded => Uncoded::BYTES,
            CodeName::Crc32c => Crc32c::BYTES,
        }
    }
}

/// A cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cache {
    /// How it replaces.
    pub policy: PolicyName,
    /// How many cache pages it holds.
    pub frames: u8,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// The cache had the page.
    Hit,
    /// It did not; the part's register had it.
    FromRegister,
    /// A page of the part was loaded.
    Loaded,
}

/// What a cache did with requests.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// With each of them.
    pub served: Vec<Served>,
    /// The pages that it holds then, ascending.
    pub held: Vec<u16>,
}

impl Outcome {
    /// Requests whose page the cache did not have.
    pub fn misses(&self) -> usize {
        self.served.iter().filter(|&&served| served != Served::Hit).count()
    }

    /// Pages of the part that were loaded.
    pub fn loads(&self) -> usize {
        self.served.iter().filter(|&&served| served == Served::Loaded).count()
    }
}

/// A program that a seed draws: routines of an image of `image_bytes`, some called often, most seldom; each runs from
/// its start to its end, one in three twice. Returns the addresses that are executed, and the routine of each.
pub fn draw(seed: u64, image_bytes: u32, requests: usize) -> Vec<(u32, u32)> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut routines = Vec::new();
    let mut at = 0;
    while at < image_bytes {
        let bytes = random.u32(ROUTINE_BYTES.0..ROUTINE_BYTES.1).min(image_bytes - at);
        routines.push((at, bytes));
        at += bytes;
    }
    random.shuffle(&mut routines);
    let mut trace = Vec::new();
    while trace.len() < requests && !routines.is_empty() {
        // The square of a random number: half of the calls go to a quarter of the routines.
        let draw = u64::from(random.u32(..));
        let number = (((draw * draw) >> 32) * routines.len() as u64) >> 32;
        let (start, bytes) = routines[number as usize];
        for _ in 0..1 + u32::from(random.u8(0..3) == 0) {
            trace.extend((start..start + bytes).step_by(STRIDE as usize).map(|at| (at, number as u32)));
        }
    }
    trace.truncate(requests);
    trace
}

/// Runs requests through an empty cache.
///
/// # Errors
/// What the pager says of the shape, the image or a page.
pub fn run(
    part: &NandSim,
    (image, code): (Image, CodeName),
    cache: Cache,
    requests: impl Iterator<Item = u32>,
) -> Result<Outcome, String> {
    match code {
        CodeName::Uncoded => run_coded::<Uncoded>(part, image, cache, requests),
        CodeName::Crc32c => run_coded::<Crc32c>(part, image, cache, requests),
    }
}

fn run_coded<C: Code>(
    part: &NandSim,
    image: Image,
    Cache { policy, frames }: Cache,
    requests: impl Iterator<Item = u32>,
) -> Result<Outcome, String> {
    let shape = CacheShape { frames, page_bytes: image.cache_page_bytes() };
    let (mut bytes, mut pages, mut marks) =
        (vec![0; shape.frame_bytes()], vec![0; usize::from(frames)], vec![0; shape.mark_bytes()]);
    let memory = CacheMemory { frames: &mut bytes, pages: &mut pages, marks: &mut marks };
    match policy {
        PolicyName::Lru => run_with::<LruIn<_, _>, C>(part, image, (shape, memory), requests),
        PolicyName::Clock => run_with::<ClockIn<_, _>, C>(part, image, (shape, memory), requests),
        PolicyName::Sieve => run_with::<SieveIn<_, _>, C>(part, image, (shape, memory), requests),
        PolicyName::S3Fifo => run_with::<S3FifoIn<_, _>, C>(part, image, (shape, memory), requests),
        PolicyName::Greedy => run_with::<GreedyIn<_, _>, C>(part, image, (shape, memory), requests),
    }
}

fn run_with<'a, P: PolicyIn<&'a mut [u16], &'a mut [u8]>, C: Code>(
    part: &NandSim,
    image: Image,
    (shape, memory): (CacheShape, CacheMemory<'a>),
    requests: impl Iterator<Item = u32>,
) -> Result<Outcome, String> {
    let pager = LentPager::<_, P, C>::over_in(part.clone(), image, shape, memory, Options::default(), ());
    let mut pager = pager.map_err(|error| error.to_string())?;
    let mut served = Vec::new();
    for address in requests {
        let page = CachePage((address / u32::from(shape.page_bytes)) as u16);
        let (is_hit, before) = (pager.policy().holds(page), pager.device().counters().loads);
        pager.view(CodeAddress(address)).map_err(|error| error.to_string())?;
        served.push(match pager.device().counters().loads > before {
            _ if is_hit => Served::Hit,
            true => Served::Loaded,
            false => Served::FromRegister,
        });
    }
    let pages = 0..image.cache_pages() as u16;
    let held = pages.filter(|&page| pager.policy().holds(CachePage(page))).collect();
    Ok(Outcome { served, held })
}
