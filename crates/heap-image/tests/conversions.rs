//! Proves that a conversion copies everything to an image of the other engine and back, with the same references; that
//! it lists those which cannot be kept and makes nothing; and that the old image is never changed.

use std::collections::BTreeMap;
use std::path::Path;

use norn_flash::Address;
use norn_flash_sim::{NorSim, PartSpec, catalogue};
use norn_heap::{Kind, Layout, ObjectHeap, Ref};
use norn_heap_image::convert::{Conversion, ConversionError, Converted, Outcome, References, convert};
use norn_heap_image::{Engine, ErrorDetection, Format, ImageHeap, create, mount, violations};

/// What an object or array is, its header, and its values.
type Object = (Kind, Vec<u8>, Vec<Vec<u8>>);

/// All that a heap's calls return.
#[derive(Debug, Default, PartialEq, Eq)]
struct Contents {
    objects: BTreeMap<Ref, Object>,
    roots: BTreeMap<Vec<u8>, Ref>,
}

/// Read value by value, unlike the conversion.
fn contents_of(image: &Path) -> Contents {
    let mut device = NorSim::open_image(image).unwrap();
    let mut heap = mount(&mut device).unwrap();
    assert_eq!(violations(&mut heap).unwrap(), []);
    let (mut contents, mut after) = (Contents::default(), None);
    while let Some(reference) = heap.next_object(after).unwrap() {
        let info = heap.info(reference).unwrap();
        let mut header = vec![0; info.header_bytes];
        heap.read_header(reference, &mut header).unwrap();
        let value = |index| {
            let mut value = vec![0; heap.width(reference, index).unwrap()];
            match info.kind {
                Kind::Object => heap.get_field(reference, index, &mut value).unwrap(),
                Kind::Array => heap.array_load(reference, index, &mut value).unwrap(),
            }
            value
        };
        let values = (0..info.count).map(value).collect();
        contents.objects.insert(reference, (info.kind, header, values));
        after = Some(reference);
    }
    heap.visit_roots(|name, reference| {
        contents.roots.insert(name.to_vec(), reference);
    })
    .unwrap();
    contents
}

/// Objects, small and large arrays, deletions among them, and roots. Without objects in slot 0 the log can keep all.
fn fill(heap: &mut ImageHeap<'_>, seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut bytes = |most: usize| -> Vec<u8> { (0..random.usize(1..=most)).map(|_| random.u8(..)).collect() };
    let mut last = None;
    for number in 0..120 {
        let header = if number % 3 == 0 { bytes(20) } else { Vec::new() };
        let reference = match number % 4 {
            0 => heap.create_array([30, 90, 700][number / 4 % 3], 1 + (number / 12 % 5) as u8, &header).unwrap(),
            1 => heap.create(Layout::uniform(1 + number % 20, 4).with_header(&header)).unwrap(),
            _ => {
                let widths: Vec<u8> = bytes(12).iter().map(|byte| 1 + byte % 9).collect();
                heap.create(Layout::fields(&widths).with_header(&header)).unwrap()
            }
        };
        for index in (0..heap.info(reference).unwrap().count).step_by(1 + number % 7) {
            let width = heap.width(reference, index).unwrap();
            let value: Vec<u8> = bytes(1).into_iter().cycle().take(width).collect();
            match number % 4 {
                0 => heap.array_store(reference, index, &value).unwrap(),
                _ => heap.put_field(reference, index, &value).unwrap(),
            }
        }
        if number % 5 == 4 {
            heap.delete(last.unwrap()).unwrap();
        }
        if number % 10 == 0 {
            heap.set_root(format!("root {number}").as_bytes(), Some(reference)).unwrap();
        }
        last = Some(reference);
    }
}

struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Desk {
        Desk(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    /// An image with whatever `fill` puts into it.
    fn image(&self, name: &str, part: PartSpec, format: impl Into<Format>, fill: impl FnOnce(&mut ImageHeap<'_>)) {
        let mut device = create(&self.path(name), part, format, None).unwrap();
        fill(&mut mount(&mut device).unwrap());
    }

    fn convert(&self, old: &str, new: &str, references: References) -> Result<Outcome, ConversionError> {
        self.convert_to(old, new, None, references)
    }

    fn convert_to(
        &self,
        old: &str,
        new: &str,
        part: Option<PartSpec>,
        references: References,
    ) -> Result<Outcome, ConversionError> {
        let before = std::fs::read(self.path(old)).unwrap();
        let came = convert(&Conversion { old: self.path(old), new: self.path(new), part, references });
        assert!(std::fs::read(self.path(old)).unwrap() == before, "the old image was changed");
        let is_made = matches!(came, Ok(Outcome::Made(_)));
        assert_eq!(self.path(new).exists(), is_made);
        let files = std::fs::read_dir(self.0.path()).unwrap().count();
        assert!(files <= 3, "something else was left behind");
        came
    }
}

fn made(outcome: Result<Outcome, ConversionError>) -> Converted {
    match outcome {
        Ok(Outcome::Made(converted)) => converted,
        other => panic!("{other:?}"),
    }
}

#[test]
fn everything_comes_through_to_the_other_engine_and_back() {
    for (seed, part) in [(1, catalogue::tinystore()), (2, catalogue::nrf52840()), (3, catalogue::stm32u5())] {
        let desk = Desk::new();
        desk.image("log.img", part, Engine::Log, |heap| fill(heap, seed));
        let there = made(desk.convert("log.img", "tinystore.img", References::AllKept));
        assert_eq!((there.from, there.to), (Engine::Log, Engine::TinyStore));
        let back = made(desk.convert("tinystore.img", "back.img", References::AllKept));
        assert_eq!((back.objects, back.arrays, back.roots), (there.objects, there.arrays, there.roots));
        assert!(there.objects > 40 && there.arrays > 20 && there.roots > 3, "{there:?}");
        assert!(there.changed.is_empty() && back.changed.is_empty());
        let contents = contents_of(&desk.path("log.img"));
        assert!(contents == contents_of(&desk.path("tinystore.img")), "seed {seed}");
        assert!(contents == contents_of(&desk.path("back.img")), "seed {seed}");
    }
}

#[test]
fn error_detection_is_kept() {
    for engine in [Engine::Log, Engine::TinyStore] {
        for detection in [ErrorDetection::On, ErrorDetection::Off] {
            let desk = Desk::new();
            desk.image("old.img", catalogue::stm32l4(), engine.format(detection), |heap| fill(heap, 1));
            let converted = made(desk.convert("old.img", "new.img", References::KeptWherePossible));
            assert_eq!((converted.to, converted.error_detection), (engine.other(), detection));
            let mut device = NorSim::open_image(&desk.path("new.img")).unwrap();
            assert_eq!(mount(&mut device).unwrap().error_detection(), detection);
        }
    }
}

#[test]
fn references_that_cannot_be_kept_are_listed_and_changed_only_on_demand() {
    let desk = Desk::new();
    let mut references = Vec::new();
    desk.image("old.img", catalogue::tinystore(), Engine::TinyStore, |heap| {
        references.push(heap.create(Layout::uniform(3, 4).with_header(b"in slot 0")).unwrap());
        references.push(heap.create_array(700, 2, b"").unwrap()); // Its sections would be in the slots after it.
        references.push(heap.create(Layout::uniform(1, 2)).unwrap());
        references.push(heap.create_array(600, 3, b"the last one, with room after it").unwrap());
        heap.put_field(references[0], 1, b"four").unwrap();
        heap.array_store(references[1], 699, b"ab").unwrap();
        heap.array_store(references[3], 599, b"abc").unwrap();
        heap.set_root(b"first", Some(references[0])).unwrap();
        heap.set_root(b"last", Some(references[3])).unwrap();
    });
    let refused = desk.convert("old.img", "new.img", References::AllKept).unwrap();
    assert_eq!(refused, Outcome::Refused { to: Engine::Log, references: references[..2].to_vec() });

    let converted = made(desk.convert("old.img", "new.img", References::KeptWherePossible));
    let changed: BTreeMap<Ref, Ref> = converted.changed.into_iter().collect();
    assert_eq!(changed.keys().copied().collect::<Vec<_>>(), references[..2]);
    let (old, new) = (contents_of(&desk.path("old.img")), contents_of(&desk.path("new.img")));
    let now = |reference: &Ref| changed.get(reference).copied().unwrap_or(*reference);
    assert_eq!(old.objects.len(), new.objects.len());
    for (reference, object) in &old.objects {
        assert_eq!(new.objects[&now(reference)], *object, "{reference}");
    }
    assert_eq!(new.roots.len(), 2);
    for (name, reference) in &old.roots {
        assert_eq!(new.roots[name], now(reference));
    }
}

#[test]
fn what_was_deleted_stays_stale() {
    let desk = Desk::new();
    let (mut deleted, mut kept) = (Vec::new(), Vec::new());
    desk.image("old.img", catalogue::tinystore(), Engine::TinyStore, |heap| {
        let all: Vec<Ref> = (0..40).map(|_| heap.create(Layout::uniform(1, 4)).unwrap()).collect();
        for (number, &reference) in all.iter().enumerate() {
            match number % 3 {
                0 => deleted.push(reference),
                _ => kept.push(reference),
            }
        }
        heap.set_root(b"stale", Some(deleted[1])).unwrap();
        heap.set_root(b"kept", Some(kept[1])).unwrap();
        deleted.iter().for_each(|&reference| heap.delete(reference).unwrap());
    });
    let converted = made(desk.convert("old.img", "log.img", References::AllKept));
    assert_eq!(converted.stale_roots, [b"stale".to_vec()]);
    made(desk.convert("log.img", "again.img", References::AllKept));
    for image in ["log.img", "again.img"] {
        let mut device = NorSim::open_image(&desk.path(image)).unwrap();
        let mut heap = mount(&mut device).unwrap();
        for round in 0..5 {
            let given: Vec<Ref> = (0..20).map(|_| heap.create(Layout::uniform(1, 4)).unwrap()).collect();
            for reference in &given {
                assert!(!deleted.contains(reference), "{image}: {reference} is there again, in round {round}");
            }
            given.into_iter().for_each(|reference| heap.delete(reference).unwrap());
        }
    }
}

#[test]
fn nothing_is_made_of_what_cannot_be_copied() {
    let desk = Desk::new();
    let part = || catalogue::test_part(24, 4096);
    // An object as large as an erase unit of TinyStore's, and headers of any length.
    let mut wide = None;
    desk.image("wide.img", part(), Engine::TinyStore, |heap| {
        heap.create(Layout::uniform(1, 1)).unwrap();
        wide = Some(heap.create(Layout::uniform(1, 1).with_header(&[7; 300])).unwrap());
    });
    let failed = desk.convert("wide.img", "new.img", References::KeptWherePossible).unwrap_err().to_string();
    assert!(failed.contains(&format!("new.img: {} of ", wide.unwrap())) && failed.contains("header"), "{failed}");

    // More than a smaller part holds.
    desk.image("full.img", catalogue::tinystore(), Engine::Log, |heap| {
        for _ in 0..400 {
            heap.create(Layout::uniform(100, 2)).unwrap();
        }
    });
    let small = Some(catalogue::test_part(12, 4096));
    let failed = desk.convert_to("full.img", "new.img", small, References::AllKept).unwrap_err().to_string();
    assert!(failed.contains("new.img: #") && failed.contains("full"), "{failed}");

    // A part that is not suitable.
    let few = Some(catalogue::test_part(8, 4096));
    let failed = desk.convert_to("wide.img", "new.img", few, References::AllKept).unwrap_err().to_string();
    assert!(failed.contains("new.img: cannot be formatted: unsuitable: fewer than 12 erase units"), "{failed}");
}

#[test]
fn a_damaged_heap_is_not_copied() {
    let desk = Desk::new();
    desk.image("old.img", catalogue::tinystore(), Engine::TinyStore, |heap| {
        heap.create(Layout::uniform(1, 4)).unwrap();
    });
    let mut device = NorSim::open_image(&desk.path("old.img")).unwrap();
    device.poke(Address(0x6FFFC), &[0; 4]); // The end of the last unit, which is free.
    drop(device);
    let failed = desk.convert("old.img", "new.img", References::KeptWherePossible).unwrap_err().to_string();
    assert!(failed.contains("old.img: the heap has violations, 1 of them: `norn heap check"), "{failed}");
}

#[test]
fn an_image_is_never_overwritten() {
    let desk = Desk::new();
    desk.image("old.img", catalogue::tinystore(), Engine::Log, |_| {});
    std::fs::write(desk.path("new.img"), "precious").unwrap();
    let new = desk.path("new.img");
    let failed = convert(&Conversion {
        old: desk.path("old.img"),
        new: new.clone(),
        part: None,
        references: References::AllKept,
    });
    assert!(failed.unwrap_err().to_string().contains("never overwritten"));
    assert_eq!(std::fs::read(new).unwrap(), b"precious");
}
