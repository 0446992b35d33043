//! Norn's heap of TinyStore's structure: two objects of fifty fields.
#![no_std]
#![no_main]

use norn_embedded::flash::Reprogramming;
use norn_embedded::tinystore::{Config, Heap as ObjectHeap, Layout, LeastFeatures, Ref};
use norn_mps2_an385::ram_nor::RamNor;
use norn_peers_firmware::{Store, UNITS, VALUES};

type Heap = ObjectHeap<RamNor, UNITS, (), LeastFeatures>;

const FIELDS: usize = 50;

struct Objects {
    heap: Heap,
    objects: [Ref; VALUES / FIELDS],
}

impl Store for Objects {
    const NAME: &'static str = "Norn's heap of TinyStore's structure, two objects of 50 fields";
    const RAM_BYTES: usize = size_of::<Objects>() - size_of::<RamNor>();

    fn format(part: RamNor) -> Self {
        let mut heap = Heap::format_with(part, Config::tinystore_2006(), ()).expect("the part is suitable");
        let objects = core::array::from_fn(|_| heap.create(Layout::uniform(FIELDS, 4)).expect("there is room"));
        heap.set_root(b"values", Some(objects[0])).expect("there is room");
        heap.set_root(b"more values", Some(objects[1])).expect("there is room");
        Objects { heap, objects }
    }

    fn remount(self) -> Self {
        let mut heap = Heap::mount_with(self.heap.into_device(), ()).expect("there is a heap");
        let mut root = |name: &[u8]| heap.root(name).expect("the part works").expect("it was set");
        let objects = [root(b"values"), root(b"more values")];
        Objects { heap, objects }
    }

    fn put(&mut self, key: u16, value: [u8; 4]) {
        let key = usize::from(key);
        self.heap.put_field(self.objects[key / FIELDS], key % FIELDS, &value).expect("there is room");
    }

    fn get(&mut self, key: u16) -> [u8; 4] {
        let (mut value, key) = ([0; 4], usize::from(key));
        self.heap.get_field(self.objects[key / FIELDS], key % FIELDS, &mut value).expect("it is there");
        value
    }
}

norn_peers_firmware::program!(Objects, Reprogramming::Unlimited);
