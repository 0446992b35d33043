//! The power-cut driver: one call, cut at every operation of the device, in every shape.
//!
//! For each operation of the call, and each shape:
//! 1. a clone makes the call, and its device loses power there;
//! 2. of some of these devices the recovery is cut, at operations drawn from all of its own, and of some of those the
//!    recovery again;
//! 3. it is mounted. What it holds has to be admitted, every invariant has to hold, and no call may have broken the
//!    device's contract;
//! 4. the power goes and comes once more, without a cut: what it holds is the same;
//! 5. it has to continue to work.
//!
//! A shape beyond the contract of the part is tried as the others are; [`Survey::Count`] counts what does not survive
//! one instead of stopping.

use std::cell::Cell;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use norn_flash_sim::{NandSim, NorSim, Tear};

/// Says where in a test something happened, for messages.
pub type Context<'a> = &'a dyn Fn() -> String;

/// That a call failed because the device lost its power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerLost;

/// A simulated device whose power can be cut.
pub trait Powered: Clone {
    /// Plans a loss of power: `operations` more go through, the next one is torn.
    fn cut_power_after(&mut self, operations: u64, tear: Tear);

    /// Turns the power on again, and drops a planned cut.
    fn power_on(&mut self);

    /// Operations so far that a cut can hit.
    fn operations(&self) -> u64;

    /// Calls so far that the part's contract does not allow.
    fn refusals(&self) -> u64;

    /// A shape that the part's contract allows, of those all equally often; by default one that all contracts allow.
    fn draw_tear(random: &mut fastrand::Rng) -> Tear {
        Tear::draw(random)
    }
}

macro_rules! powered {
    ($($sim:ty, $draw_tear:expr);*) => {$(
        impl Powered for $sim {
            fn cut_power_after(&mut self, operations: u64, tear: Tear) {
                self.cut_power_after(operations, tear);
            }

            fn power_on(&mut self) {
                self.power_on();
            }

            fn operations(&self) -> u64 {
                self.operations()
            }

            fn refusals(&self) -> u64 {
                self.refusals()
            }

            fn draw_tear(random: &mut fastrand::Rng) -> Tear {
                $draw_tear(random)
            }
        }
    )*};
}

powered!(NorSim, Tear::draw; NandSim, Tear::draw_on_nand);

/// What keeps data on a device, and is to survive losses of power.
pub trait Subject: Clone {
    /// The device below.
    type Device: Powered;
    /// A call, with its arguments.
    type Call: Debug;
    /// What it holds, as a plain value.
    type Contents: PartialEq + Debug;

    /// The device below, for its settings.
    fn device_mut(&mut self) -> &mut Self::Device;

    /// Gives the device back.
    fn into_device(self) -> Self::Device;

    /// Mounts what the device holds.
    ///
    /// # Panics
    /// If it cannot be mounted.
    fn mount(device: Self::Device, context: Context<'_>) -> Self;

    /// Mounts a device that the caller keeps, and says whether its power lasted.
    fn try_mount(device: &mut Self::Device) -> Result<(), PowerLost>;

    /// Makes a call. It may be refused, as one without room is.
    ///
    /// # Errors
    /// When the power was lost.
    fn make(&mut self, call: &Self::Call) -> Result<(), PowerLost>;

    /// Checks that it has kept its side of the device's contract, as far as the device could detect.
    ///
    /// # Panics
    /// If it has not.
    fn expect_contract(device: &Self::Device, context: Context<'_>) {
        assert_eq!(device.refusals(), 0, "the part's contract is broken, {}", context());
    }

    /// What it holds.
    ///
    /// # Panics
    /// If an invariant does not hold.
    fn contents(&mut self, context: Context<'_>) -> Self::Contents;
}

/// What a sweep has tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Operations at which calls were cut.
    pub points: u64,
    /// Cuts of calls: a point in a shape.
    pub cuts: u64,
    /// Cuts of the recoveries from those.
    pub second_cuts: u64,
    /// Cuts of the recoveries from those.
    pub third_cuts: u64,
    /// Cuts of calls that were not survived; a sweep that does not [count](Survey::Count) them stops at the first.
    pub lost: u64,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.points += other.points;
        self.cuts += other.cuts;
        self.second_cuts += other.second_cuts;
        self.third_cuts += other.third_cuts;
        self.lost += other.lost;
    }
}

/// What to do about a cut that is not survived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Survey {
    /// Panic, and say how to replay it.
    Stop,
    /// Count it.
    Count,
}

/// How calls are cut.
#[derive(Clone, Copy, Debug)]
pub struct Sweep {
    /// Cut at every n-th operation, from a random one on: 1 or more.
    pub stride: u64,
    /// After one in n cuts, cut the recovery, too: 1 or more.
    pub second_period: u64,
    /// Cut the recovery at n operations at most, and after a quarter of these cuts once more.
    pub second_cuts: u64,
    /// What to do about a cut that is not survived.
    pub survey: Survey,
}

impl Default for Sweep {
    /// At every operation, and at four of each recovery.
    fn default() -> Self {
        Sweep { stride: 1, second_period: 1, second_cuts: 4, survey: Survey::Stop }
    }
}

/// Uses a subject further, which holds this.
pub type GoOn<'a, S> = dyn FnMut(S, <S as Subject>::Contents, &mut fastrand::Rng, Context<'_>) + 'a;

/// A call to cut.
pub struct Trial<'a, S: Subject> {
    /// What makes it, in the state before.
    pub subject: &'a S,
    /// The call.
    pub call: &'a S::Call,
    /// The shapes to cut it in, at the operation of this number: [`one_of_each`] that all contracts allow, or
    /// [`one_of_each_on_nand`].
    pub shapes: &'a dyn Fn(u64, &mut fastrand::Rng) -> Vec<Tear>,
    /// Whether the subject may hold this after a cut.
    pub admitted: &'a dyn Fn(&S::Contents) -> bool,
    /// Uses the subject further.
    pub go_on: &'a mut GoOn<'a, S>,
    /// Where in the test this is.
    pub context: Context<'a>,
}

/// One of every shape that all contracts allow.
pub fn one_of_each(_: u64, random: &mut fastrand::Rng) -> Vec<Tear> {
    Tear::allowed(random.u64(..)).to_vec()
}

/// One of every shape that the contract of NAND parts allows.
pub fn one_of_each_on_nand(_: u64, random: &mut fastrand::Rng) -> Vec<Tear> {
    let seed = random.u64(..);
    Tear::allowed(seed).into_iter().chain(Tear::allowed_on_nand(seed)).collect()
}

impl Sweep {
    /// Cuts a call at its operations.
    ///
    /// # Panics
    /// If a cut is not survived, unless the sweep counts them.
    pub fn cut<S: Subject>(&self, trial: Trial<'_, S>, random: &mut fastrand::Rng) -> Tally {
        let Trial { subject, call, shapes, admitted, go_on, context } = trial;
        let mut tally = Tally::default();
        for cut in (random.u64(0..self.stride)..).step_by(self.stride as usize) {
            for tear in shapes(cut, random) {
                let mut torn = subject.clone();
                torn.device_mut().cut_power_after(cut, tear);
                if torn.make(call).is_ok() {
                    return tally;
                }
                tally.cuts += 1;
                let context = || format!("cut by {tear:?} at operation {cut} of {call:?}, {}", context());
                let mut device = torn.into_device();
                device.power_on();
                let mut survive = |tally: &mut Tally| {
                    if tally.cuts.is_multiple_of(self.second_period) {
                        self.cut_recovery::<S>(&device, random, admitted, &context, tally);
                    }
                    let (subject, found) = recovered::<S>(device.clone(), admitted, &context);
                    if tally.cuts.is_multiple_of(4) || self.survey == Survey::Count {
                        expect_lasting(&subject, &found, &context);
                    }
                    go_on(subject, found, random, &context);
                };
                match self.survey {
                    Survey::Stop => survive(&mut tally),
                    Survey::Count => tally.lost += u64::from(is_panic(|| survive(&mut tally))),
                }
            }
            tally.points += 1;
        }
        unreachable!("the operations of a call end")
    }

    /// Cuts the recovery from what `device` holds (step 2).
    fn cut_recovery<S: Subject>(
        &self,
        device: &S::Device,
        random: &mut fastrand::Rng,
        admitted: &dyn Fn(&S::Contents) -> bool,
        context: Context<'_>,
        tally: &mut Tally,
    ) {
        let operations = operations_to_mount::<S>(device, context);
        let count = operations.min(self.second_cuts);
        for number in 0..count {
            let cut = if count == operations { number } else { random.u64(0..operations) };
            let tear = S::Device::draw_tear(random);
            let context = || format!("and by {tear:?} at operation {cut} of the recovery, {}", context());
            let device = cut_mount::<S>(device, cut, tear, &context);
            tally.second_cuts += 1;
            let operations = operations_to_mount::<S>(&device, &context);
            if operations > 0 && random.u8(0..4) == 0 {
                let (cut, tear) = (random.u64(0..operations), S::Device::draw_tear(random));
                let context = || format!("and once more by {tear:?} at {cut}, {}", context());
                recovered::<S>(cut_mount::<S>(&device, cut, tear, &context), admitted, &context);
                tally.third_cuts += 1;
            }
            recovered::<S>(device, admitted, &context);
        }
    }
}

/// Operations that mounting takes.
fn operations_to_mount<S: Subject>(device: &S::Device, context: Context<'_>) -> u64 {
    let mut mounted = S::mount(device.clone(), context);
    mounted.device_mut().operations() - device.operations()
}

/// The device after mounting it was cut.
fn cut_mount<S: Subject>(device: &S::Device, cut: u64, tear: Tear, context: Context<'_>) -> S::Device {
    let mut device = device.clone();
    device.cut_power_after(cut, tear);
    assert_eq!(S::try_mount(&mut device), Err(PowerLost), "mounted without power, {}", context());
    device.power_on();
    device
}

/// Mounts what is left after a cut (step 3).
fn recovered<S: Subject>(
    device: S::Device,
    admitted: &dyn Fn(&S::Contents) -> bool,
    context: Context<'_>,
) -> (S, S::Contents) {
    let mut subject = S::mount(device, context);
    let found = subject.contents(context);
    assert!(admitted(&found), "{found:?} is neither what it was nor what it was to be, {}", context());
    S::expect_contract(subject.device_mut(), context);
    (subject, found)
}

/// Mounts when the power was gone once more (step 4).
fn expect_lasting<S: Subject>(subject: &S, found: &S::Contents, context: Context<'_>) {
    let mut device = subject.clone().into_device();
    device.power_on();
    let context = || format!("at the second boot, {}", context());
    let mut again = S::mount(device, &context);
    assert_eq!(again.contents(&context), *found, "what was there is there no more, {}", context());
}

thread_local! {
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Whether `call` panics; nothing is printed then.
fn is_panic(call: impl FnOnce()) -> bool {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let print = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_QUIET.get() {
                print(panic);
            }
        }));
    });
    IS_QUIET.set(true);
    let result = catch_unwind(AssertUnwindSafe(call));
    IS_QUIET.set(false);
    result.is_err()
}
