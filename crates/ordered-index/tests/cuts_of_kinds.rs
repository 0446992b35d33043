//! Power cuts in all shapes of the contract, at operations of every call of every kind of map: arrays, slices, types,
//! structures as they lie in memory, what Serde serialises, values that vary; on classic NOR, and through a `Remap` on
//! parts whose words are programmed once or twice. The recovery is cut, too.
//!
//! A call that a cut hits has happened or not; one that removes least keys may have removed some of them.

use crate::kinds;

use std::time::{Duration, Instant};

use kinds::part::{AnyPart, parts};
use kinds::{Arrays, Call, Contents, Kind, Slices, Stands, Typed};
use norn_conformance::{Context, PowerLost, Subject, Sweep, Tally, Trial, one_of_each, seeds};
use norn_flash_sim::NorSim;
use norn_ordered_index::{AtMost, Blob, Change, IndexError, MountError, Text, Varying};

/// No further part is begun after this time, so that the test ends on a slow machine, too.
const LIMIT: Duration = Duration::from_secs(60);

/// A map on a part whose power can be cut.
struct Cut<K: Kind>(K::List<AnyPart<NorSim>>);

impl<K: Kind> Clone for Cut<K> {
    fn clone(&self) -> Self {
        Cut(K::copy(&self.0))
    }
}

impl<K: Kind> Cut<K> {
    fn part(&mut self) -> &mut AnyPart<NorSim> {
        K::list(&mut self.0).device_mut()
    }
}

impl<K: Kind> Subject for Cut<K> {
    type Device = NorSim;
    type Call = Call;
    type Contents = Contents;

    fn device_mut(&mut self) -> &mut NorSim {
        self.part().inner_mut()
    }

    fn into_device(self) -> NorSim {
        K::into_device(self.0).into_inner()
    }

    fn mount(device: NorSim, context: Context<'_>) -> Self {
        let part = AnyPart::mount(device).unwrap_or_else(|error| panic!("{error} {}", context()));
        Cut(K::mount(part).unwrap_or_else(|error| panic!("{error} {}", context())))
    }

    fn try_mount(device: &mut NorSim) -> Result<(), PowerLost> {
        let Ok(part) = AnyPart::mount(device) else { return Err(PowerLost) };
        match K::mount(part) {
            Err(MountError::Device(_)) => Err(PowerLost),
            _ => Ok(()),
        }
    }

    fn make(&mut self, call: &Call) -> Result<(), PowerLost> {
        match K::make(&mut self.0, call) {
            Err(IndexError::Device(_)) => Err(PowerLost),
            Err(IndexError::Full) | Ok(()) => Ok(()),
            Err(error) => panic!("{error}"),
        }
    }

    /// A `Remap` tries words that a cut may have used up, which the part refuses.
    fn expect_contract(device: &NorSim, context: Context<'_>) {
        let is_direct = norn_flash::Nor::part(device).reprogramming == norn_flash::Reprogramming::Unlimited;
        assert!(!is_direct || device.refusals() == 0, "the part's contract is broken, {}", context());
    }

    fn contents(&mut self, context: Context<'_>) -> Contents {
        let found = K::audit(&mut self.0).unwrap_or_else(|error| panic!("{error} {}", context()));
        assert!(found.violations.is_empty(), "{:?} {}", found.violations, context());
        K::contents(&mut self.0).unwrap_or_else(|error| panic!("{error} {}", context()))
    }
}

fn draw(contents: &Contents, random: &mut fastrand::Rng) -> Call {
    // Some keys are out of order; the next one is above all.
    let (key, value) = (random.u16(0..60), random.u32(0..1 << 16));
    let next = contents.last_key_value().map_or(0, |(&last, _)| last + 1);
    match random.u8(0..24) {
        0..8 => Call::Put(key, value),
        8..14 => Call::Append(next, value),
        14..19 => Call::Remove(contents.keys().nth(key as usize % contents.len().max(1)).copied().unwrap_or(key)),
        19 => Call::Apply(vec![Change::Put(key, value), Change::Put(next, value)]),
        20 => Call::Apply(vec![Change::Remove(next / 2), Change::Put(next, value)]),
        21 => Call::RemoveBelow(key / 4),
        22 => Call::Reclaim,
        _ => Call::Stop,
    }
}

/// What the map holds after a call that is not cut and finds room, except least keys that go.
fn after(contents: &Contents, call: &Call) -> Contents {
    let mut map = contents.clone();
    match call {
        Call::Put(key, value) => _ = map.insert(*key, *value),
        Call::Append(key, value) => _ = map.entry(*key).or_insert(*value),
        Call::Remove(key) => _ = map.remove(key),
        Call::Apply(changes) => {
            for change in changes {
                match change {
                    Change::Put(key, value) => _ = map.insert(*key, *value),
                    Change::Remove(key) => _ = map.remove(key),
                }
            }
        }
        Call::RemoveBelow(_) | Call::Reclaim | Call::Stop => {}
    }
    map
}

/// Whether `found` is `map`, or lacks least keys only where the call may drop them.
fn may_be(found: &Contents, map: &Contents, call: &Call) -> bool {
    let dropped = map.len().saturating_sub(found.len());
    let may_drop = match call {
        Call::Append(..) => true,
        Call::RemoveBelow(key) => map.range(..key).count() >= dropped,
        _ => false,
    };
    (dropped == 0 || may_drop) && map.iter().skip(dropped).eq(found.iter())
}

fn survives<K: Kind>(name: &str) {
    let (mut tally, begun) = (Tally::default(), Instant::now());
    for run in seeds(0..parts().len() as u64, "-p norn-ordered-index --all-features --test suite cuts_of_kinds::") {
        let mut random = run.random();
        let spec = parts()[run.seed as usize % parts().len()].clone();
        let part_name = spec.name.clone();
        let mut map: Cut<K> = Cut(K::format(AnyPart::format(NorSim::new(spec)), K::settings()));
        let mut contents = Contents::new();
        let mut cuts_left = 6;
        for step in 0.. {
            let call = draw(&contents, &mut random);
            let context = || format!("{name} on {part_name}, at step {step}, {}", run.replay());
            let mut trial = map.clone();
            let before = trial.device_mut().operations();
            trial.make(&call).unwrap();
            let operations = trial.device_mut().operations() - before;
            let (found, wanted) = (trial.contents(&context), after(&contents, &call));
            let is_full = found == contents;
            assert!(is_full || may_be(&found, &wanted, &call), "{found:?} after {call:?} {}", context());
            // Calls that restructure the map, and at times any.
            if step > 40 && random.u8(0..if operations > 20 { 8 } else { 40 }) == 0 {
                let admitted = |found: &Contents| may_be(found, &contents, &call) || may_be(found, &wanted, &call);
                let trial = Trial {
                    subject: &map,
                    call: &call,
                    shapes: &one_of_each,
                    admitted: &admitted,
                    go_on: &mut |mut cut: Cut<K>, found, _, context| {
                        assert!(cut.make(&call).is_ok(), "{}", context());
                        let again = after(&found, &call);
                        let now = cut.contents(context);
                        assert!(now == found || may_be(&now, &again, &call), "{now:?} {}", context());
                    },
                    context: &context,
                };
                let stride = 1 + operations / 8;
                let sweep = Sweep { stride, second_period: 5, second_cuts: 2, ..Sweep::default() };
                tally += sweep.cut(trial, &mut random);
                cuts_left -= 1;
            }
            (map, contents) = (trial, found);
            if cuts_left == 0 {
                break;
            }
        }
        if begun.elapsed() > LIMIT {
            eprintln!("{name}: time is up after seed {}", run.seed);
            break;
        }
    }
    println!("{name}: {tally:?} in {:?}", begun.elapsed());
    assert!(tally.cuts > 300 && tally.second_cuts > 60, "{name}: {tally:?}");
}

#[test]
fn arrays_survive() {
    survives::<Arrays<false>>("arrays");
}

#[test]
fn soft_lists_survive() {
    survives::<Arrays<true>>("soft list");
}

#[test]
fn slices_survive() {
    survives::<Slices<false>>("slices");
}

#[test]
fn slices_of_any_length_survive() {
    survives::<Slices<true>>("slices that vary");
}

fn typed<V: Stands>(name: &str) {
    survives::<Typed<V, AtMost<16, 40>>>(name);
    survives::<Typed<V, Varying<16, 40>>>(&format!("{name}, varying"));
}

#[test]
fn tuples_survive() {
    typed::<(u16, u8)>("tuples");
}

#[test]
fn text_survives() {
    typed::<Text<36>>("text");
}

#[test]
fn blobs_survive() {
    survives::<Typed<Blob<36>, Varying<16, 40>>>("blobs");
}

#[cfg(feature = "zerocopy")]
#[test]
fn structures_survive() {
    typed::<norn_ordered_index::Plain<kinds::Sample>>("structures");
}

#[cfg(feature = "postcard")]
#[test]
fn what_serde_serialises_survives() {
    typed::<norn_ordered_index::Postcard<kinds::Event, 30>>("Postcard");
}
