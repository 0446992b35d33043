//! Packages are linked one by one: against numbers that stay, by versions that fit, without what is unreachable. What
//! is written is what the format's document says; and damaged images are refused or harmless, however they are read.

use crate::javac;

use std::path::{Path, PathBuf};

use javac::{Build, Compiled, applet, card_api, java_lang, sources};
use norn_card_linker::{Aid, ClassFile, ExportTable, LinkConfig, LinkError, LinkedPackage, Natives, Version, link};
use norn_card_package::{
    Image, ImageError, KNOWN_CLASSES, KNOWN_METHODS, Package, Start, Wrong, check, format, native_name,
};
use norn_conformance::seeds;

const API: [u8; 7] = [0xA0, 0, 0, 0, 0x62, 1, 1];
const ONE: [u8; 6] = [0xF0, 1, 2, 3, 4, 5];
const TWO: [u8; 6] = [0xF0, 1, 2, 3, 4, 6];

fn aid(bytes: &[u8]) -> Aid {
    Aid::new(bytes).unwrap()
}

fn read(classes: &[Compiled]) -> Vec<ClassFile> {
    classes.iter().map(Compiled::read).collect()
}

fn config(name: &[u8], version: (u8, u8)) -> LinkConfig {
    LinkConfig {
        aid: aid(name),
        version: Version { major: version.0, minor: version.1 },
        applets: Vec::new(),
        requires: Vec::new(),
        natives: Natives::Refused,
        previous: None,
    }
}

/// A card's API as one package, and where its classes are.
struct Api {
    lang: PathBuf,
    main: PathBuf,
    package: LinkedPackage,
}

fn api() -> Api {
    let (lang, mut classes) = java_lang();
    let (main, rest) = card_api(&lang);
    classes.extend(rest);
    let config = LinkConfig { natives: Natives::OfTheApi, ..config(&API, (1, 5)) };
    let package = link(&read(&classes), &[], &config).unwrap_or_else(|error| panic!("{error}"));
    Api { lang, main, package }
}

impl Api {
    fn compile(&self, texts: &[(&str, &str)], more: &[&Path]) -> (PathBuf, Vec<ClassFile>) {
        let (room, classes) = sources(texts, &[&[&*self.lang, &*self.main], more].concat());
        (room, read(&classes))
    }

    fn link(&self, classes: &[ClassFile], config: &LinkConfig) -> Result<LinkedPackage, LinkError> {
        link(classes, std::slice::from_ref(&self.package.exports), config)
    }
}

fn purse(api: &Api) -> LinkedPackage {
    let classes = read(&applet("purse", Build::Release(8), &api.lang, &[&api.main]).1);
    let config = LinkConfig { applets: vec![(aid(&TWO), "purse/Purse".to_owned())], ..config(&ONE, (1, 0)) };
    api.link(&classes, &config).unwrap_or_else(|error| panic!("{error}"))
}

/// An image in windows of a few bytes, whose end no read passes.
struct Narrow<'a> {
    bytes: &'a [u8],
    width: usize,
}

impl Image for Narrow<'_> {
    type Error = std::convert::Infallible;

    fn window(&mut self, at: u32) -> Result<&[u8], Self::Error> {
        let rest = self.bytes.get(at as usize..).unwrap_or(&[]);
        let to_the_end_of_the_page = self.width - at as usize % self.width;
        Ok(&rest[..rest.len().min(to_the_end_of_the_page)])
    }
}

#[test]
fn the_api_and_the_purse_are_linked_one_after_the_other() {
    let api = api();
    let purse = purse(&api);
    let image = &mut &purse.image[..];
    let header = check(image).unwrap();
    assert_eq!((header.imports, header.applets, header.has_natives), (1, 1, false));
    assert_eq!(header.import(image, 0).unwrap().aid, aid(&API));
    assert_eq!(header.applet(image, 0).unwrap().aid, aid(&TWO));
    assert!(!purse.sizes.by_method.is_empty());
    let sizes = &purse.sizes;
    assert_eq!(sizes.tables + sizes.statics + sizes.classes + sizes.methods, purse.image.len());
    println!("API: {}\nPurse: {}", api.package.sizes, purse.sizes);
    let api_image = &mut &api.package.image[..];
    let header = check(api_image).unwrap();
    assert!(header.has_natives);
    let natives = (0..header.methods).filter(|number| {
        let method = header.method(api_image, *number).unwrap();
        method.is_native() && native_name(header.native(api_image, &method).unwrap()).is_some()
    });
    assert_eq!(natives.count(), norn_card_package::NATIVES.len());
}

#[test]
fn the_image_of_the_api_says_what_the_virtual_machine_knows_of_it() {
    let api = api();
    let image = &mut &api.package.image[..];
    let header = check(image).unwrap();
    let class = |name: &str| api.package.exports.classes.iter().find(|class| class.shape.name == name);
    let mut found = 0;
    for (place, name) in (0..).zip(KNOWN_CLASSES) {
        let number = header.known_class(image, place).unwrap();
        assert_eq!(number, class(name).map(|class| class.number), "{name}");
        found += usize::from(number.is_some());
    }
    assert!(found >= 20, "{found} classes");
    for (place, (name, method, descriptor)) in (0..).zip(KNOWN_METHODS) {
        let slot = header.known_slot(image, place).unwrap().unwrap();
        let key = &class(name).unwrap().table[usize::from(slot)].key;
        assert_eq!((&key.0[..], &key.1[..]), (method, descriptor));
    }
    // A package that is not the API knows nothing, and damage there is found.
    let purse = purse(&api).image;
    assert!(check(&mut &purse[..]).unwrap().known_class(&mut &purse[..], 0).is_err());
    let mut damaged = api.package.image.clone();
    *damaged.last_mut().unwrap() = 200;
    assert!(check(&mut &damaged[..]).is_err());
    damaged.pop();
    assert!(check(&mut &damaged[..]).is_err());
}

#[test]
fn an_export_table_is_the_same_after_its_text() {
    let api = api();
    let text = api.package.exports.to_text().unwrap();
    let again = ExportTable::from_text(&text).unwrap();
    assert_eq!(again.to_text().unwrap(), text);
    let from_text = Api { package: LinkedPackage { exports: again, ..api.package.clone() }, ..api };
    assert_eq!(purse(&from_text).image, purse(&api_of(&from_text, &text)).image);
    for line in ["", "norn-card-exports 2", "norn-card-exports 1", "norn-card-exports 1\npackage F0 1.0"] {
        assert!(ExportTable::from_text(line).is_err(), "{line}");
    }
    let run = seeds(0..1, "-p norn-card-linker --test suite linker::an_export_table_is_the_same_after_its_text")
        .next()
        .unwrap();
    let mut random = run.random();
    for _ in 0..300 {
        let mut bytes = text.clone().into_bytes();
        let at = random.usize(..bytes.len());
        bytes[at] = random.u8(32..127);
        if let Ok(table) = ExportTable::from_text(&String::from_utf8(bytes).unwrap()) {
            let _ = table.to_text();
        }
    }
}

fn api_of(api: &Api, text: &str) -> Api {
    let exports = ExportTable::from_text(text).unwrap();
    let package = LinkedPackage { exports, ..api.package.clone() };
    Api { lang: api.lang.clone(), main: api.main.clone(), package }
}

#[test]
fn versions_have_to_fit() {
    let api = api();
    let (_, classes) = api.compile(&[("one/A.java", "package one; public class A {}")], &[]);
    let requires =
        |major, minor| LinkConfig { requires: vec![(aid(&API), Version { major, minor })], ..config(&ONE, (1, 0)) };
    assert!(api.link(&classes, &requires(1, 5)).is_ok() && api.link(&classes, &requires(1, 0)).is_ok());
    for (major, minor) in [(1, 6), (2, 0), (0, 5)] {
        let error = api.link(&classes, &requires(major, minor)).unwrap_err();
        let wanted = Version { major, minor };
        let found = Version { major: 1, minor: 5 };
        assert_eq!(error, LinkError::Version { importer: aid(&ONE), imported: aid(&API), wanted, found });
        let text = error.to_string();
        assert!(text.contains(&format!("version {major}.{minor} of package A0000000620101, and 1.5")), "{text}");
    }
    let missing = LinkConfig { requires: vec![(aid(&TWO), Version { major: 1, minor: 0 })], ..config(&ONE, (1, 0)) };
    assert_eq!(api.link(&classes, &missing).unwrap_err(), LinkError::Missing(aid(&TWO)));
}

/// Sources, and what the refusal of linking them says.
const REFUSED: [(&str, &str, &str); 9] = [
    ("one/A.java", "package one; public class A { native void f(); }", "one.A.f()V: a card has no native methods but"),
    (
        "javacard/framework/A.java",
        "package javacard.framework; public class A {}",
        "the imported package A0000000620101 has javacard.framework already",
    ),
    (
        "one/A.java",
        "package one; public class A {\nstatic Object o = new A(); }",
        "one.A.<clinit>()V, line 2: a card has no objects when classes are",
    ),
    (
        "one/A.java",
        "package one; public class A { static int f() { return 1; }\nstatic int i = f(); }",
        "line 2: a card has no calls when",
    ),
    (
        "one/A.java",
        "package one; public class A { static int i = B.j; } class B { static int j = A.i; }",
        "static fields of other classes when",
    ),
    (
        "one/A.java",
        "package one; public class A { static int i = 1; static int j = i > 0 ? 1 : 2; }",
        "branches, casts and exceptions when",
    ),
    ("one/A.java", "package one; public class A { static Object[] o = new Object[1]; }", "objects when classes"),
    ("one/A.java", "package one; public class A { static int z = 0; static int i = 1 / z; }", "division by zero when"),
    ("one/A.java", "package one; public class A { static int[] i = new int[-1]; }", "arrays of that length when"),
];

#[test]
fn what_a_card_cannot_link_is_refused() {
    let api = api();
    for (path, text, expected) in REFUSED {
        let (_, classes) = api.compile(&[(path, text)], &[]);
        let error = api.link(&classes, &config(&ONE, (1, 0))).expect_err(text).to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
    let (_, classes) = api.compile(&[("one/A.java", "package one; public class A {}")], &[]);
    for (class, expected) in [("one/A", "one.A is no applet"), ("one/B", "the applet's class one.B is not there")] {
        let config = LinkConfig { applets: vec![(aid(&TWO), class.to_owned())], ..config(&ONE, (1, 0)) };
        let error = api.link(&classes, &config).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// Two owners who know nothing of each other have a package of Java's of one name, with a class of one name. Packages
/// are linked beside both, and against the one that they need.
#[test]
fn packages_of_strangers_may_have_names_of_java_in_common() {
    let api = api();
    let three = [0xF0, 1, 2, 3, 4, 7];
    let text = |method: &str| format!("package one; public class A {{ public static int {method}() {{ return 1; }} }}");
    let (_, classes) = api.compile(&[("one/A.java", &text("f"))], &[]);
    let one = api.link(&classes, &config(&ONE, (1, 0))).unwrap().exports;
    let more = "package one; public class B { public static A a() { return null; } }";
    let (room, classes) = api.compile(&[("one/A.java", &text("g")), ("one/B.java", more)], &[]);
    let mut at_hand = vec![api.package.exports.clone(), one];
    at_hand.push(link(&classes, &at_hand, &config(&TWO, (1, 0))).unwrap().exports);
    let imports = |classes: &[ClassFile], config: &LinkConfig| -> Result<Vec<Aid>, String> {
        let linked = link(classes, &at_hand, config).map_err(|error| error.to_string())?;
        let image = &mut &linked.image[..];
        let header = check(image).unwrap();
        Ok((0..header.imports).map(|number| header.import(image, number).unwrap().aid).collect())
    };
    let user = |code: &str| {
        let text = format!("package three; public class C {{ public static int f() {{ {code} }} }}");
        api.compile(&[("three/C.java", &text)], &[&room]).1
    };
    let third = config(&three, (1, 0));
    let stranger = user("return 1;");
    assert_eq!(imports(&stranger, &third), Ok(vec![aid(&API)]));
    let of_b = user("return one.B.a() == null ? 1 : one.A.g();");
    assert_eq!(imports(&of_b, &third), Ok(vec![aid(&API), aid(&TWO)]));
    let of_a = user("return one.A.g();");
    let both = "packages F00102030405 and F00102030406 both have one.A: which one is meant is not known";
    assert_eq!(imports(&of_a, &third), Err(both.to_owned()));
    let requires = LinkConfig { requires: vec![(aid(&TWO), Version { major: 1, minor: 0 })], ..third.clone() };
    assert_eq!(imports(&of_a, &requires), Ok(vec![aid(&API), aid(&TWO)]));
    // Nobody gets at what another keeps to its package.
    let intruder = [("one/C.java", "package one; public class C { static A f() { return B.a(); } }")];
    let refusal = imports(&api.compile(&intruder, &[&room]).1, &third).unwrap_err();
    assert!(refusal.contains("one.C: the imported package F00102030406 has one already"), "{refusal}");
}

#[test]
fn what_is_unreachable_is_left_out() {
    let api = api();
    let text = "package one;
        public class A {
            private int used, unused;
            static int counter = 7, forgotten = 8;
            static final byte[] TABLE = {1, 2, (byte) 200}, LOST = {4};
            public int f(I i) { used++; counter++; return i.g() + TABLE[0]; }
            private int never() { return unused + forgotten + LOST[0]; }
            void nobody() { never(); }
        }
        interface I { int g(); int h(); }
        class B implements I { public int g() { return 1; } public int h() { return 2; } B() { } }
        class C { static int f() { return new B().h(); } }";
    let (_, classes) = api.compile(&[("one/A.java", text)], &[]);
    let linked = api.link(&classes, &config(&ONE, (1, 0))).unwrap();
    let kept: Vec<_> = linked.sizes.by_method.iter().map(|(name, _)| name.as_str()).collect();
    assert!(kept.contains(&"one.A.f(Lone/I;)I") && kept.contains(&"one.A.<init>()V"), "{kept:?}");
    assert!(
        !kept.iter().any(|name| name.contains("never") || name.contains("nobody") || name.contains("one.C")),
        "{kept:?}"
    );
    assert_eq!(linked.sizes.left_out.0, 2, "B and C");
    let image = &mut &linked.image[..];
    let package = check(image).unwrap();
    assert_eq!((package.statics, package.arrays, package.starts), (2, 1, 2));
    let array = package.array(image, package.first_array()).unwrap();
    assert_eq!((array.kind, array.length), (format::BYTE, 3));
    assert_eq!(linked.image[array.at as usize..][..3], [1, 2, 200]);
    let starts: Vec<_> = (0..2).map(|number| package.start(image, number).unwrap().1).collect();
    assert!(starts.contains(&Start::Int(7)) && starts.contains(&Start::Array(0)), "{starts:?}");
    let number = (0..package.classes).find(|number| !package.class(image, *number).unwrap().is_interface()).unwrap();
    assert_eq!(package.class(image, number).unwrap().fields, 1, "the unused field takes no room");
}

const FIRST: &str = "package one;
    public class A { public static int m() { return 1; } public static short s; public static int t;
        public int v() { return 2; } protected byte b; }";
const SECOND: &str = "package one;
    public class A { public static int a() { return 0; } public static byte aa; public static int m() { return 1; }
        public static short s; public static int t; public int v() { return 2; } protected byte b; }";

#[test]
fn numbers_stay_within_a_major_version() {
    let api = api();
    let one = api.compile(&[("one/A.java", FIRST)], &[]);
    let first = api.link(&one.1, &config(&ONE, (1, 0))).unwrap();
    let two = api.compile(&[("one/A.java", SECOND)], &[]);
    let next = LinkConfig { previous: Some(first.exports.clone()), ..config(&ONE, (1, 1)) };
    let second = api.link(&two.1, &next).unwrap();
    let (old, new) = (&first.exports.classes[0], &second.exports.classes[0]);
    assert!(old.methods.iter().all(|(method, number)| new.methods[method] == *number));
    assert!(old.statics.iter().all(|(field, number)| new.statics[field] == *number));
    assert_eq!(new.methods.len(), old.methods.len() + 1);
    // Without the last version, what is new takes numbers of what was there.
    let unrelated = api.link(&two.1, &config(&ONE, (1, 1))).unwrap();
    assert!(old.methods.iter().any(|(method, number)| unrelated.exports.classes[0].methods[method] != *number));
    for broken in [
        SECOND.replace("int m()", "int n()"),
        SECOND.replace("short s", "int s"),
        SECOND.replace("protected byte b", "protected short b"),
        SECOND.replace("public int v", "public void w() { } public int v"),
        SECOND.replace("class A", "class B"),
    ] {
        let (_, classes) = api.compile(
            &[("one/A.java", &broken.replace("class B", "class A /**/")), ("one/B.java", "package one; class C {}")],
            &[],
        );
        let classes: Vec<_> = if broken.contains("class B") {
            classes.into_iter().filter(|class| class.shape.name == "one/C").collect()
        } else {
            classes
        };
        let error = api.link(&classes, &next).expect_err(&broken).to_string();
        assert!(error.contains("raise the major version"), "{error}");
    }
    let older = LinkConfig { previous: Some(second.exports.clone()), ..config(&ONE, (1, 0)) };
    assert!(api.link(&one.1, &older).unwrap_err().to_string().contains("version 1.0 cannot follow 1.1"));
}

#[test]
fn a_package_is_linked_against_another_applets() {
    let api = api();
    let shared = "package one; import javacard.framework.Shareable;
        public interface Points extends Shareable { short add(short points); }";
    let (room, classes) = api.compile(&[("one/Points.java", shared)], &[]);
    let one = api.link(&classes, &config(&ONE, (1, 0))).unwrap();
    assert!(one.exports.classes[0].is_shareable);
    let client = "package two; import one.Points; import javacard.framework.Util;
        public class Client {
            public static short add(Points to) { return to.add(Util.makeShort((byte) 1, (byte) 2)); }
        }";
    let (_, classes) = api.compile(&[("two/Client.java", client)], &[&room]);
    let imports = [api.package.exports.clone(), one.exports.clone()];
    let two = link(&classes, &imports, &config(&TWO, (1, 0))).unwrap();
    let image = &mut &two.image[..];
    let package = check(image).unwrap();
    let mut imported: Vec<_> = (0..package.imports).map(|number| package.import(image, number).unwrap().aid).collect();
    imported.sort();
    assert_eq!(imported, [aid(&API), aid(&ONE)]);
    // What one package imports has to serve another that imports both.
    let mut old = api.package.exports.clone();
    old.version.minor = 4;
    assert!(matches!(link(&classes, &[old, one.exports], &config(&TWO, (1, 0))), Err(LinkError::Version { .. })));
}

/// Reads all that a package has, with the reader's calls, whatever the checker says.
fn walk(
    image: &mut impl Image<Error = std::convert::Infallible>,
) -> Result<usize, ImageError<std::convert::Infallible>> {
    let package = Package::open(image)?;
    let mut found = 0;
    for number in 0..=package.imports {
        found += usize::from(package.import(image, number).is_ok());
    }
    for number in 0..=package.applets {
        found += usize::from(package.applet(image, number).is_ok());
    }
    for number in 0..=package.classes {
        let Ok(class) = package.class(image, number) else { continue };
        found += (0..=class.fields).filter(|slot| package.field_kind(image, &class, *slot).is_ok()).count();
        found += (0..=class.slots).filter(|slot| package.entry(image, &class, *slot).is_ok()).count();
        let mut at = class.first_interface();
        for _ in 0..class.interfaces {
            let Ok(table) = package.interface(image, at) else { break };
            found += (0..=table.methods).filter(|method| table.slot(image, *method).is_ok()).count();
            at = table.next();
        }
    }
    for number in 0..=package.methods {
        let Ok(method) = package.method(image, number) else { continue };
        found += usize::from(package.native(image, &method).is_ok());
        found += (0..=method.handlers).filter(|handler| package.handler(image, &method, *handler).is_ok()).count();
    }
    found += (0..=package.statics).filter(|slot| package.static_kind(image, *slot).is_ok()).count();
    found += (0..=package.starts).filter(|number| package.start(image, *number).is_ok()).count();
    Ok(found)
}

#[test]
fn damaged_images_are_refused_or_harmless() {
    let api = api();
    let purse = purse(&api);
    let run =
        seeds(0..1, "-p norn-card-linker --test suite linker::damaged_images_are_refused_or_harmless").next().unwrap();
    let mut random = run.random();
    let mut refused = 0;
    for original in [&api.package.image, &purse.image] {
        let whole = check(&mut &original[..]).unwrap();
        for width in 1..9 {
            assert_eq!(check(&mut Narrow { bytes: original, width }), Ok(whole), "windows of {width}");
        }
        assert!(walk(&mut &original[..]).unwrap() > 10);
        for length in 0..original.len() {
            assert!(check(&mut &original[..length]).is_err(), "cut after {length} bytes");
            let _ = walk(&mut &original[..length]);
        }
        for _ in 0..3_000 {
            let mut bytes = original.clone();
            for _ in 0..random.usize(1..4) {
                // Half of the changes are in header and tables.
                let end = if random.bool() { bytes.len() } else { bytes.len().min(400) };
                let at = random.usize(..end);
                bytes[at] = if random.bool() { random.u8(..) } else { bytes[at] ^ 1 << random.u8(..8) };
            }
            let image = &mut Narrow { bytes: &bytes, width: random.usize(1..70) };
            refused += usize::from(check(image).is_err());
            let _ = walk(image);
        }
    }
    assert!(refused > 2_000, "the checker refuses {refused} of 6000 {}", run.replay());
    let none = check(&mut &[][..]);
    assert_eq!(none, Err(ImageError::Wrong { at: 0, what: Wrong::NoPackage }));
}
