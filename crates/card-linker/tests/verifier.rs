//! What javac emits within a card's subset is taken, what a card lacks is refused with place and advice, and what is
//! broken is refused: no mutant of a class file panics, and none is taken that the JDK's own verifier refuses.

use crate::javac;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use javac::{Build, Compiled, applets, card_api, java_lang, jdk, programs, scratch};
use norn_card_linker::{ClassFile, ClassShape, Flags, Refusal, World, verify};

const BUILDS: [Build; 4] = [Build::BootClassPath, Build::Release(8), Build::Release(11), Build::Release(25)];

fn world(classes: &[Compiled]) -> World {
    let mut world = World::default();
    for class in classes {
        world.add(class.read().shape).unwrap();
    }
    world
}

/// Reads and verifies a class among others that are taken as they are.
fn check(class: &Compiled, others: &World) -> Result<(), Refusal> {
    let class = ClassFile::read(&class.bytes, &class.path.display().to_string())?;
    verify(&class, &others.with(class.shape.clone()))
}

#[test]
fn a_cards_own_java_lang_is_taken() {
    let (_, lang) = java_lang();
    let world = world(&lang);
    assert_eq!(lang.len(), 21);
    for class in &lang {
        verify(&class.read(), &world).unwrap_or_else(|refusal| panic!("{refusal}"));
    }
}

#[test]
fn applets_are_taken_however_they_are_compiled() {
    let (lang_room, lang) = java_lang();
    let (api_room, api) = card_api(&lang_room);
    let mut world = world(&lang);
    for class in &api {
        world.add(class.read().shape).unwrap();
    }
    for class in &api {
        verify(&class.read(), &world).unwrap_or_else(|refusal| panic!("{refusal}"));
    }
    for build in [Build::BootClassPath, Build::Release(8)] {
        let packages = applets(build, &lang_room, &api_room);
        assert_eq!(packages.len(), 4);
        // The purse stays: the loyalty applet names its interface.
        let mut world = world.clone();
        for (_, classes) in packages {
            assert!(!classes.is_empty());
            for class in &classes {
                world.add(class.read().shape).unwrap();
            }
            for class in &classes {
                check(class, &world).unwrap_or_else(|refusal| panic!("{build:?}: {refusal}"));
            }
        }
    }
}

#[test]
fn what_javac_emits_within_the_subset_is_taken() {
    let (room, lang) = java_lang();
    for build in BUILDS {
        let classes = programs(&["Arithmetic", "Objects"], build, &room);
        let mut world = world(&lang);
        for class in &classes {
            world.add(class.read().shape).unwrap();
        }
        for class in &classes {
            verify(&class.read(), &world).unwrap_or_else(|refusal| panic!("{build:?}: {refusal}"));
        }
        assert!(classes.len() >= 8, "{build:?}");
    }
}

/// The classes of `Refused.java` with a text that their refusal has.
const REFUSED: [(&str, &str); 23] = [
    ("Floats", "floating point; count in the smallest unit"),
    ("Doubles", "floating point; count in the smallest unit"),
    ("Longs", "long; use int"),
    ("LongField", "field: a card has no long; use int"),
    ("LongParameter$Hidden", "run(J)V: a card has no long; use int"),
    ("Chars", "char; use byte or short"),
    ("CharArrays", "char; use byte[] or short[]"),
    ("Strings", "string constants; use a static final byte[]"),
    ("Concatenation", "invokedynamic: string concatenation"),
    ("Lambdas", "invokedynamic: string concatenation, lambdas"),
    ("Synchronized", "threads, so no synchronized; leave it out"),
    ("SynchronizedMethod", "run()V: a card has no threads; leave synchronized out"),
    ("Matrix", "arrays of arrays; use one array"),
    ("Grid", "arrays of arrays; use one array"),
    ("MatrixField", "field: a card has no arrays of arrays; use one array"),
    ("Colour", "enum; use static final byte constants"),
    ("Asserts", "no assert"),
    ("Defaults", "methods with code in an interface; put the code into a class"),
    ("Output", "java.lang.System is in none of the packages"),
    ("Boxes", "a card has no boxes"),
    ("Reflection", "class literals, so no assert"),
    ("Threads", "a card has no threads"),
    ("Text", "NAME: java.lang.String is in none of the packages that are linked or imported; a card has no strings"),
];

#[test]
fn what_a_card_lacks_is_refused_with_its_place() {
    let (room, lang) = java_lang();
    let source = include_str!("programs/Refused.java");
    let classes = programs(&["Refused"], Build::Release(25), &room);
    let lang = world(&lang);
    for (name, expected) in REFUSED {
        let file = format!("Refused${name}.class");
        let class = classes.iter().find(|class| class.path.ends_with(&file)).expect(name);
        let refusal = check(class, &lang).expect_err(name);
        let text = refusal.to_string();
        assert!(text.contains(expected) && text.starts_with("programs.Refused$"), "{name}: {text}");
        assert_eq!(refusal.line.map(usize::from), marked_line(source, name), "{name}: {text}");
    }
    let marked = REFUSED.iter().filter(|(name, _)| marked_line(source, name).is_some());
    assert_eq!(marked.count(), source.matches(" // here").count(), "each mark is in a class that is tried");
}

/// The line with the mark, in a class of a name.
fn marked_line(source: &str, class: &str) -> Option<usize> {
    let class = class.split('$').next().unwrap();
    let starts = |line: &str| line.starts_with("    ") && line.contains(&format!(" {class} "));
    let lines = (1..).zip(source.lines()).skip_while(|(_, line)| !starts(line));
    lines
        .take_while(|(_, line)| *line != "    }")
        .find(|(_, line)| line.ends_with(" // here"))
        .map(|(number, _)| number)
}

/// Code of `Broken.java` in hexadecimal digits, what takes its place, and what the refusal says. `..` is any byte, and
/// in the replacement the byte that was there.
const BROKEN: [(&str, &str, &str); 25] = [
    ("1A 11 03EA 60 AC", "00 11 03EA 60 AC", "the operand stack is empty"),
    ("1A 11 03EA 60 AC", "1A 11 03EA 59 AC", "more than the 2 cells of the operand stack"),
    ("1A 11 03EA 60 AC", "1A 11 03EA 60 00", "the code runs on after its end"),
    ("1A 11 03EA 60 AC", "1D 11 03EA 60 AC", "the method has no local variable 3"),
    ("1A 11 03EA 60 AC", "2A 11 03EA 60 AC", "local variable 0 holds int"),
    ("1A 11 03EA 60 AC", "1A 11 03EA 60 B0", "it returns another kind of value than it declares"),
    ("1A 11 03EA 60 AC", "1A 11 03EA 60 B1", "it returns a value and declares none, or the other way round"),
    ("1A 11 03EA 60 AC", "01 11 03EA 60 AC", "null where int is expected"),
    ("1A 11 03EA 60 AC", "1A 11 03EA 60 CB", "there is no bytecode 0xcb"),
    ("11 03EB A4 ....", "11 03EB A4 0004", "the target 8 has no frame"),
    ("11 03EB A4 ....", "11 03EB A4 FFFE", "the target 2 has no frame"),
    ("11 03EB A4 ....", "11 03EB A4 7FFF", "outside the code"),
    ("11 03EB A4 .... 04 AC", "11 03EB A4 .... 04 00", "1 cells are on the stack where 0 are expected"),
    ("B2 .... 11 03EC", "B4 .... 11 03EC", "`shared` is taken for static, or for not static"),
    ("2A B4 .... 11 03ED", "00 B2 .... 11 03ED", "`field` is taken for static, or for not static"),
    ("11 03EF B8", "11 03EF B6", "`sum` is taken for static, or for not static"),
    ("11 03EF B8", "11 03EF B7", "`sum` is taken for static, or for not static"),
    ("1A 3C 11 03F0", "00 00 11 03F0", "an unusable cell where int is expected"),
    ("59 B7 .... B0", "00 000000 B0", "before its constructor where java.lang.Object is expected"),
    ("59 B7 .... B0", "59 3B 0000 B0", "is stored in local variable 0"),
    ("59 B7 .... B0", "57 01 0000 B7", "bytes are missing"),
    ("2A B7 .... 2A 11 03E9", "00 000000 2A 11 03E9", "a constructor returns and has called no other"),
    ("2A BF", "01 BE", "the code runs on after its end"),
    ("BC 0A B0", "BC 08 B0", "[B where [I is expected"),
    ("2A 03 33 11 03F5", "2A 03 35 11 03F5", "[B where an array is expected"),
];

/// The bytes of hexadecimal digits; none for `..`.
fn pattern(text: &str) -> Vec<Option<u8>> {
    let digits: Vec<char> = text.chars().filter(|digit| *digit != ' ').collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(&String::from_iter(pair), 16).ok()).collect()
}

/// A class file with the code at the one place where it is replaced.
fn patched(original: &[u8], code: &str, replacement: &str) -> Vec<u8> {
    let (code, replacement) = (pattern(code), pattern(replacement));
    assert_eq!(code.len(), replacement.len());
    let fits = |at: &usize| original[*at..].iter().zip(&code).all(|(have, want)| want.is_none_or(|want| *have == want));
    let found: Vec<_> = (0..=original.len() - code.len()).filter(fits).collect();
    assert_eq!(found.len(), 1, "{code:x?}");
    let mut bytes = original.to_vec();
    for (byte, new) in bytes[found[0]..].iter_mut().zip(replacement) {
        *byte = new.unwrap_or(*byte);
    }
    bytes
}

#[test]
fn each_rule_of_the_verifier_refuses_what_breaks_it() {
    let (room, lang) = java_lang();
    let classes = programs(&["Broken"], Build::BootClassPath, &room);
    let [below, broken] = &classes[..] else { panic!("two classes") };
    let world = world(&lang).with(below.read().shape);
    check(broken, &world).unwrap();
    for (code, replacement, expected) in BROKEN {
        let bytes = patched(&broken.bytes, code, replacement);
        let text = check(&Compiled { bytes, path: broken.path.clone() }, &world).expect_err(expected).to_string();
        assert!(text.contains(expected), "{code} as {replacement}: {text}");
    }
    final_fields_are_written_by_constructors_alone(broken, &world);
    shapes_count_for_verification(broken, below.read().shape, &world);
}

/// `write` sets the field that the constructor sets.
fn final_fields_are_written_by_constructors_alone(broken: &Compiled, world: &World) {
    let at = |code: [u8; 3]| broken.bytes.windows(3).position(|bytes| bytes == code).unwrap();
    let (constructor, write) = (at([0x11, 0x03, 0xE9]), at([0x11, 0x03, 0xEE]));
    let mut bytes = broken.bytes.clone();
    // Both are followed by `putfield`; `write` adds before.
    bytes.copy_within(constructor + 4..constructor + 6, write + 5);
    let text = check(&Compiled { bytes, path: broken.path.clone() }, world).unwrap_err().to_string();
    assert!(text.contains("`fixed` is final and written outside <init>"), "{text}");
}

/// Changes of the class above make the class below one that is refused.
fn shapes_count_for_verification(broken: &Compiled, below: ClassShape, world: &World) {
    const PUBLIC: u16 = 0x0001;
    const PRIVATE: u16 = 0x0002;
    const STATIC: u16 = 0x0008;
    const FINAL: u16 = 0x0010;
    const INTERFACE: u16 = 0x0600;
    type Change = fn(&mut ClassShape);
    let changes: [(&str, Change); 9] = [
        ("it cannot extend programs.Below", |shape| shape.flags = Flags(FINAL)),
        ("it cannot extend programs.Below", |shape| shape.flags = Flags(INTERFACE | PUBLIC)),
        ("`below` of programs.Below may not be used", |shape| shape.fields[0].flags = Flags(PRIVATE)),
        ("`below` is taken for static", |shape| shape.fields[0].flags = Flags(STATIC)),
        ("has no field `below`", |shape| shape.fields[0].descriptor = "S".to_owned()),
        ("`<init>` of programs.Below may not be used", |shape| shape.methods[0].flags = Flags(PRIVATE)),
        ("has no constructor", |shape| shape.methods[0].descriptor = "(I)V".to_owned()),
        ("`open` cannot take the place", |shape| shape.methods[1].flags = Flags(FINAL)),
        ("among its own ancestors", |shape| shape.parent = Some("programs/Broken".to_owned())),
    ];
    for (expected, change) in changes {
        let mut changed = below.clone();
        change(&mut changed);
        let text = check(broken, &world.with(changed)).expect_err(expected).to_string();
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

/// One to three bytes of a class changed; the class's own name stays.
fn mutant(original: &[u8], random: &mut fastrand::Rng) -> Vec<u8> {
    let mut bytes = original.to_vec();
    for _ in 0..random.usize(1..=3) {
        let at = random.usize(..bytes.len());
        match random.u8(..4) {
            0 => bytes[at] = random.u8(..),
            1 => bytes[at] ^= 1 << random.u8(..8),
            2 => bytes[at] = bytes[at].wrapping_add(1),
            _ => bytes[at] = bytes[random.usize(..bytes.len())],
        }
    }
    bytes
}

#[test]
fn no_mutant_is_taken_that_the_jdk_refuses() {
    const MUTANTS: usize = 15_000;
    let (room, lang) = java_lang();
    let classes = programs(&["Arithmetic", "Objects"], Build::Release(8), &room);
    let mut others = world(&lang);
    for class in &classes {
        others.add(class.read().shape).unwrap();
    }
    for run in norn_conformance::seeds(1..2, "-p norn-card-linker --test suite verifier::no_mutant") {
        let mut random = run.random();
        let taken = scratch("mutants");
        let mut counts = (0, 0);
        for number in 0..MUTANTS {
            let original = &classes[random.usize(..classes.len())];
            let bytes = mutant(&original.bytes, &mut random);
            let name = original.path.file_stem().unwrap().to_str().unwrap();
            let Ok(class) = ClassFile::read(&bytes, name) else { continue };
            counts.0 += 1;
            let is_taken = verify(&class, &others.with(class.shape.clone())).is_ok();
            if class.shape.name == format!("programs/{name}") && is_taken {
                counts.1 += 1;
                fs::write(taken.join(format!("programs.{name}@{number}")), &bytes).unwrap();
            }
        }
        assert!(counts.0 > MUTANTS / 10 && counts.1 > MUTANTS / 50, "{counts:?}: too few for the test to say much");
        check_with_the_jdk(&classes[0].path, &taken, counts.1, run.replay());
        fs::remove_dir_all(&taken).unwrap();
    }
}

fn check_with_the_jdk(class: &Path, taken: &Path, count: usize, replay: &str) {
    let originals: PathBuf = class.ancestors().nth(2).unwrap().into();
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/Loads.java");
    let paths = [&program, &originals, taken].map(|path| path.to_str().unwrap().to_owned());
    let output = jdk(&["java", "-Xverify:all", &paths[0], &paths[1], &paths[2]]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(text.lines().count(), count, "{}", String::from_utf8_lossy(&output.stderr));
    let mut verdicts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in text.lines() {
        verdicts.entry(line.split(' ').nth(1).unwrap()).or_default().push(line);
    }
    let wrong = ["VerifyError", "IncompatibleClassChangeError", "IllegalAccessError", "ClassCircularityError"];
    for kind in wrong {
        assert!(!verdicts.contains_key(kind), "{:#?}\nreplay: {replay}", verdicts[kind]);
    }
    // What else the JDK refuses is in attributes that nothing here reads: sources, lines, inner classes.
    assert!(verdicts["taken"].len() * 2 > count, "{verdicts:#?}");
}
