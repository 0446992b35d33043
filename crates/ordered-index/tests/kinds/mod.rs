//! Every kind of map behind one interface: keys are numbers, and so are values, each kept as a value of the map's type.

pub mod part;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::marker::PhantomData;

use norn_flash::{Collected, Nor};
use norn_flash_sim::SimError;
use norn_ordered_index::{
    AtMost, Blob, ByteFatList, ByteIndexError, Change, FatList, FatListOf, IndexError, Map, MapError, MapWidths,
    MountError, OrderedIndex, Settings, Text, Value, Varying, VaryingList, Widths,
};

pub type Contents = BTreeMap<u16, u32>;

#[derive(Clone, Debug)]
pub enum Call {
    Put(u16, u32),
    Remove(u16),
    Apply(Vec<Change<u16, u32>>),
    Append(u16, u32),
    RemoveBelow(u16),
    Reclaim,
    Stop,
}

type Outcome<T> = Result<T, IndexError<SimError>>;

/// A kind of map, over any device.
pub trait Kind: Clone {
    type Widths: Widths;
    type List<D: Nor<Error = SimError>>;

    fn format<D: Nor<Error = SimError>>(device: D, settings: Settings) -> Self::List<D>;
    fn mount<D: Nor<Error = SimError>>(device: D) -> Result<Self::List<D>, MountError<SimError>>;
    fn copy<D: Nor<Error = SimError> + Clone>(list: &Self::List<D>) -> Self::List<D>;
    fn list<D: Nor<Error = SimError>>(list: &mut Self::List<D>) -> &mut FatListOf<D, Self::Widths>;
    fn into_device<D: Nor<Error = SimError>>(list: Self::List<D>) -> D;
    fn make<D: Nor<Error = SimError>>(list: &mut Self::List<D>, call: &Call) -> Outcome<()>;
    fn contents<D: Nor<Error = SimError>>(list: &mut Self::List<D>) -> Outcome<Contents>;

    /// Settings that fit units of 2 KB of virtual parts.
    fn settings() -> Settings {
        Settings { turnstile_blocks: 4, levels: 3, slots: 8, keys: 5, pool: 6 }
    }

    fn audit<D: Nor<Error = SimError>>(list: &mut Self::List<D>) -> Outcome<Collected> {
        let mut found = Collected::default();
        Self::list(list).audit(&mut found)?;
        Ok(found)
    }
}

/// What is refused because of what the map holds is no error here.
fn admit<T: Default>(outcome: Outcome<T>) -> Outcome<T> {
    match outcome {
        Err(IndexError::KeyExists | IndexError::KeyAbsent | IndexError::BelowRing) => Ok(T::default()),
        outcome => outcome,
    }
}

/// A map whose keys and values are arrays of bytes; a soft list, if `SOFT`.
#[derive(Clone)]
pub struct Arrays<const SOFT: bool>;

fn bytes3(value: u32) -> [u8; 3] {
    value.to_be_bytes()[1..].try_into().unwrap()
}

fn number3(bytes: &[u8]) -> u32 {
    u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]])
}

impl<const SOFT: bool> Kind for Arrays<SOFT> {
    type Widths = norn_ordered_index::Fixed<2, 3>;
    type List<D: Nor<Error = SimError>> = FatList<D, 2, 3>;

    fn settings() -> Settings {
        match SOFT {
            true => Settings { turnstile_blocks: 4, levels: 3, pool: 6, ..Settings::soft_list() },
            false => Settings { turnstile_blocks: 4, levels: 3, slots: 8, keys: 5, pool: 6 },
        }
    }

    fn format<D: Nor<Error = SimError>>(device: D, settings: Settings) -> Self::List<D> {
        FatList::format(device, settings).unwrap()
    }

    fn mount<D: Nor<Error = SimError>>(device: D) -> Result<Self::List<D>, MountError<SimError>> {
        FatList::mount(device)
    }

    fn copy<D: Nor<Error = SimError> + Clone>(list: &Self::List<D>) -> Self::List<D> {
        list.clone()
    }

    fn list<D: Nor<Error = SimError>>(list: &mut Self::List<D>) -> &mut FatListOf<D, Self::Widths> {
        list
    }

    fn into_device<D: Nor<Error = SimError>>(list: Self::List<D>) -> D {
        list.into_device()
    }

    fn make<D: Nor<Error = SimError>>(list: &mut Self::List<D>, call: &Call) -> Outcome<()> {
        let change = |change: &Change<u16, u32>| match change {
            Change::Put(key, value) => Change::Put(key.to_be_bytes(), bytes3(*value)),
            Change::Remove(key) => Change::Remove(key.to_be_bytes()),
        };
        admit(match call {
            Call::Put(key, value) => list.put(&key.to_be_bytes(), &bytes3(*value)),
            Call::Remove(key) => list.remove(&key.to_be_bytes()),
            Call::Apply(changes) => list.apply(&changes.iter().map(change).collect::<Vec<_>>()),
            Call::Append(key, value) => list.insert_in_ring(&key.to_be_bytes(), &bytes3(*value)).map(|_| ()),
            Call::RemoveBelow(key) => list.remove_below(&key.to_be_bytes()).map(|_| ()),
            Call::Reclaim => list.reclaim_step().map(|_| ()),
            Call::Stop => list.stop(),
        })
    }

    fn contents<D: Nor<Error = SimError>>(list: &mut Self::List<D>) -> Outcome<Contents> {
        let all = list.range(std::ops::Bound::Unbounded, std::ops::Bound::Unbounded);
        all.map(|entry| entry.map(|(key, value)| (u16::from_be_bytes(key), number3(&value)))).collect()
    }
}

/// A map over slices of bytes, whose values have one length or vary.
#[derive(Clone)]
pub struct Slices<const VARIES: bool>;

/// A value whose length follows from its number.
fn stretched(value: u32) -> Vec<u8> {
    let length = if value == 0 { 0 } else { 4 + value as usize % 33 };
    value.to_be_bytes().into_iter().cycle().take(length).collect()
}

fn shrunk(bytes: &[u8]) -> u32 {
    let value = bytes.first_chunk().map_or(0, |front| u32::from_be_bytes(*front));
    assert_eq!(stretched(value), bytes, "bytes that were not put");
    value
}

fn plain<T>(outcome: Result<T, ByteIndexError<SimError>>) -> Outcome<T> {
    outcome.map_err(|error| match error {
        ByteIndexError::Index(error) => error,
        ByteIndexError::Width { .. } => panic!("{error}"),
    })
}

/// The two lists over slices have the same calls.
macro_rules! slices {
    ($varies:literal, $widths:ty, $list:ident, $given:expr, $bytes:expr, $number:expr) => {
        impl Kind for Slices<$varies> {
            type Widths = $widths;
            type List<D: Nor<Error = SimError>> = $list<D, 8, 40>;

            fn format<D: Nor<Error = SimError>>(device: D, settings: Settings) -> Self::List<D> {
                $list::format(device, $given, settings).unwrap()
            }

            fn mount<D: Nor<Error = SimError>>(device: D) -> Result<Self::List<D>, MountError<SimError>> {
                $list::mount(device, $given)
            }

            fn copy<D: Nor<Error = SimError> + Clone>(list: &Self::List<D>) -> Self::List<D> {
                list.clone()
            }

            fn list<D: Nor<Error = SimError>>(list: &mut Self::List<D>) -> &mut FatListOf<D, Self::Widths> {
                list
            }

            fn into_device<D: Nor<Error = SimError>>(list: Self::List<D>) -> D {
                list.into_device()
            }

            fn make<D: Nor<Error = SimError>>(list: &mut Self::List<D>, call: &Call) -> Outcome<()> {
                let bytes = $bytes;
                if let Call::Apply(changes) = call {
                    let owned: Vec<_> = changes
                        .iter()
                        .map(|change| match change {
                            Change::Put(key, value) => (key.to_be_bytes(), Some(bytes(*value))),
                            Change::Remove(key) => (key.to_be_bytes(), None),
                        })
                        .collect();
                    let changes: Vec<Change<&[u8], &[u8]>> = owned
                        .iter()
                        .map(|(key, value)| match value {
                            Some(value) => Change::Put(&key[..], &value[..]),
                            None => Change::Remove(&key[..]),
                        })
                        .collect();
                    return plain(list.apply(&changes));
                }
                admit(plain(match call {
                    Call::Put(key, value) => list.put(&key.to_be_bytes(), &bytes(*value)),
                    Call::Remove(key) => list.remove(&key.to_be_bytes()),
                    Call::Append(key, value) => list.insert_in_ring(&key.to_be_bytes(), &bytes(*value)).map(|_| ()),
                    Call::RemoveBelow(key) => list.remove_below(&key.to_be_bytes()).map(|_| ()),
                    Call::Reclaim => list.reclaim_step().map(|_| ()),
                    Call::Stop => list.stop().map_err(ByteIndexError::Index),
                    Call::Apply(_) => unreachable!("made above"),
                }))
            }

            fn contents<D: Nor<Error = SimError>>(list: &mut Self::List<D>) -> Outcome<Contents> {
                let all = plain(list.range(std::ops::Bound::Unbounded, std::ops::Bound::Unbounded))?;
                let number = |bytes: &[u8]| u16::from_be_bytes(bytes.try_into().unwrap());
                all.map(|entry| entry.map(|(key, value)| (number(key.as_ref()), $number(value.as_ref())))).collect()
            }
        }
    };
}

slices!(false, AtMost<8, 40>, ByteFatList, AtMost { key_bytes: 2, value_bytes: 3 }, bytes3, number3);
slices!(
    true,
    Varying<8, 40>,
    VaryingList,
    Varying { key_bytes: 2, value_bytes: 36, log_bytes: 0 },
    stretched,
    shrunk
);

/// A type whose values stand for numbers.
pub trait Stands: Value + Clone + PartialEq + Debug {
    fn of(number: u32) -> Self;
    fn number(&self) -> u32;
}

impl Stands for (u16, u8) {
    fn of(number: u32) -> Self {
        ((number >> 8) as u16, number as u8)
    }

    fn number(&self) -> u32 {
        u32::from(self.0) << 8 | u32::from(self.1)
    }
}

impl Stands for Text<36> {
    fn of(number: u32) -> Self {
        Text::new(&format!("{number} {}", "norn".repeat(number as usize % 7))).unwrap()
    }

    fn number(&self) -> u32 {
        self.as_str().split_once(' ').unwrap().0.parse().unwrap()
    }
}

impl Stands for Blob<36> {
    fn of(number: u32) -> Self {
        Blob::new(&stretched(number)).unwrap()
    }

    fn number(&self) -> u32 {
        shrunk(self.as_bytes())
    }
}

/// A structure as it lies in memory.
#[cfg(feature = "zerocopy")]
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    zerocopy::IntoBytes,
    zerocopy::TryFromBytes,
    zerocopy::Immutable,
    zerocopy::KnownLayout,
)]
#[repr(C)]
pub struct Sample {
    low: [u8; 2],
    is_high: bool,
}

#[cfg(feature = "zerocopy")]
impl Stands for norn_ordered_index::Plain<Sample> {
    fn of(number: u32) -> Self {
        norn_ordered_index::Plain(Sample { low: (number as u16).to_le_bytes(), is_high: number >> 16 & 1 == 1 })
    }

    fn number(&self) -> u32 {
        u32::from(u16::from_le_bytes(self.0.low)) | u32::from(self.0.is_high) << 16
    }
}

/// What Serde serialises, in lengths that differ.
#[cfg(feature = "postcard")]
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Event {
    Nothing,
    Level(u32),
    Named { number: u32, name: String },
}

#[cfg(feature = "postcard")]
impl<const N: usize> Stands for norn_ordered_index::Postcard<Event, N> {
    fn of(number: u32) -> Self {
        norn_ordered_index::Postcard(match number % 3 {
            _ if number == 0 => Event::Nothing,
            0 => Event::Level(number),
            _ => Event::Named { number, name: "wyrd".repeat(number as usize % 5) },
        })
    }

    fn number(&self) -> u32 {
        match self.0 {
            Event::Nothing => 0,
            Event::Level(number) | Event::Named { number, .. } => number,
        }
    }
}

/// A typed map to values of type `V`, of one length or of lengths that vary, as `W` says.
#[derive(Clone)]
pub struct Typed<V, W>(PhantomData<(V, W)>);

fn untyped<T>(outcome: Result<T, MapError<SimError>>) -> Outcome<T> {
    outcome.map_err(|error| match error {
        MapError::Index(error) => error,
        error => panic!("{error}"),
    })
}

impl<V: Stands, W: MapWidths<16, 40> + Clone> Kind for Typed<V, W> {
    type Widths = W;
    type List<D: Nor<Error = SimError>> = Map<D, u16, V, 16, 40, W>;

    fn format<D: Nor<Error = SimError>>(device: D, settings: Settings) -> Self::List<D> {
        Map::format(device, settings).unwrap()
    }

    fn mount<D: Nor<Error = SimError>>(device: D) -> Result<Self::List<D>, MountError<SimError>> {
        Map::mount(device)
    }

    fn copy<D: Nor<Error = SimError> + Clone>(list: &Self::List<D>) -> Self::List<D> {
        list.clone()
    }

    fn list<D: Nor<Error = SimError>>(list: &mut Self::List<D>) -> &mut FatListOf<D, W> {
        list.list_mut()
    }

    fn into_device<D: Nor<Error = SimError>>(list: Self::List<D>) -> D {
        list.into_device()
    }

    fn make<D: Nor<Error = SimError>>(list: &mut Self::List<D>, call: &Call) -> Outcome<()> {
        let change = |change: &Change<u16, u32>| match change {
            Change::Put(key, value) => Change::Put(*key, V::of(*value)),
            Change::Remove(key) => Change::Remove(*key),
        };
        admit(untyped(match call {
            Call::Put(key, value) => list.put(key, &V::of(*value)),
            Call::Remove(key) => list.remove(key),
            Call::Apply(changes) => list.apply(&changes.iter().map(change).collect::<Vec<_>>()),
            Call::Append(key, value) => list.insert_in_ring(key, &V::of(*value)).map(|_| ()),
            Call::RemoveBelow(key) => list.remove_below(key).map(|_| ()),
            Call::Reclaim => list.reclaim_step().map(|_| ()),
            Call::Stop => list.stop(),
        }))
    }

    fn contents<D: Nor<Error = SimError>>(list: &mut Self::List<D>) -> Outcome<Contents> {
        untyped(list.range(..).map(|entry| entry.map(|(key, value)| (key, value.number()))).collect())
    }
}
