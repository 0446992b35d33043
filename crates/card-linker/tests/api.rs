//! The API has the specification's constants and no others, and the example applets are linked against it, package by
//! package, however they are compiled.

use crate::javac;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use javac::{Build, Compiled, applets, card_api, java_lang};
use norn_card_linker::class_file::Constant;
use norn_card_linker::{Aid, ClassFile, ClassLayout, ExportTable, LinkConfig, Natives, Version, link};
use norn_card_package::check;

fn read(classes: &[Compiled]) -> Vec<ClassFile> {
    classes.iter().map(Compiled::read).collect()
}

fn config(name: &[u8], natives: Natives, applets: &[(&[u8], &str)]) -> LinkConfig {
    let applet = |(name, class): &(&[u8], &str)| (Aid::new(name).unwrap(), (*class).to_owned());
    LinkConfig {
        aid: Aid::new(name).unwrap(),
        version: Version { major: 1, minor: 0 },
        applets: applets.iter().map(applet).collect(),
        requires: Vec::new(),
        natives,
        previous: None,
    }
}

const API: [u8; 5] = [0xF0, 0, 0, 0, 1];

/// The constants of public classes, as the list has them.
fn constants(classes: &[ClassFile]) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for class in classes.iter().filter(|class| class.shape.flags.is_public()) {
        for (field, initial) in class.shape.fields.iter().zip(&class.initial) {
            let is_constant = field.flags.is_static() && field.flags.is_final() && !field.flags.is_private();
            let Some(entry) = initial.filter(|_| is_constant) else { continue };
            let Ok(Constant::Int(value)) = class.pool.get(entry) else { panic!("{}: no int", field.name) };
            let kind = match &*field.descriptor {
                "B" => "byte",
                "S" => "short",
                "Z" => "boolean",
                other => panic!("{}: {other}", field.name),
            };
            let name = format!("{}.{}", class.shape.name.replace('/', "."), field.name);
            found.insert(name, format!("{kind} {value}"));
        }
    }
    found
}

#[test]
fn constants_are_those_of_the_specification() {
    let (lang, _) = java_lang();
    let found = constants(&read(&card_api(&lang).1));
    let lines = include_str!("constants.txt").lines().filter(|line| !line.starts_with(['#', '-']));
    let listed: BTreeMap<String, String> = lines
        .map(|line| match line.split(' ').collect::<Vec<_>>()[..] {
            [kind, name, value] => (name.to_owned(), format!("{kind} {value}")),
            _ => panic!("{line}"),
        })
        .collect();
    assert!(listed.len() > 300);
    for (name, value) in &listed {
        assert_eq!(found.get(name), Some(value), "{name}");
    }
    for name in found.keys() {
        assert!(listed.contains_key(name), "{name} is none of the specification's");
    }
}

/// Why classes are left out, by the start of their names.
const LEFT_OUT: [(&str, &str); 10] = [
    ("javacard/framework/service/", "a framework for remote calls (RMI), which this card does not have"),
    ("javacard/security/DH", "Diffie-Hellman over integers: numbers as long as RSA's, for what ECDH does in a tenth"),
    ("javacard/security/DSA", "DSA: withdrawn by FIPS 186-5"),
    ("javacard/security/KoreanSEEDKey", "SEED: a national cipher"),
    ("javacard/security/SignatureMessageRecovery", "signatures of ISO 9796-2, whose attacks are known"),
    ("javacardx/biometry", "biometry: a card needs an algorithm that compares fingers or faces"),
    ("javacardx/crypto/AEADCipher", "GCM and CCM: not among the algorithms of this card"),
    ("javacardx/external/", "another chip's memory, which this card does not have"),
    ("javacardx/framework/string/", "texts in UTF-8: optional, and as much code as all of TLV"),
    ("javacardx/security/SensitiveResult", "results kept twice against faults, which nothing here defends from"),
];

/// What the API has of the specification's classes and methods, as a table.
fn coverage(classes: &[ClassFile]) -> String {
    let mut there: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for class in classes.iter().filter(|class| class.shape.flags.is_public()) {
        let methods = class.shape.methods.iter().map(|method| format!("{} {}", method.name, method.descriptor));
        there.insert(&class.shape.name, methods.collect());
    }
    let mut listed: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in include_str!("members.txt").lines().filter(|line| !line.starts_with('#')) {
        let (class, method) = line.split_once(' ').unwrap();
        listed.entry(class).or_default().push(method);
    }
    let mut text = "# What the card's API has\n\nOf the classes and methods of Java Card 3.0.5, classic edition, that \
                    applets see; RMI apart. A test makes this\ntable, and compares the values of constants. Which \
                    names of algorithms are carried out, the classes' documentation says.\n\n| class | methods | \
                    missing, or why |\n|---|---|---|\n"
        .to_owned();
    let (mut of_all, mut missing_of_all) = (0, 0);
    for (class, methods) in &listed {
        of_all += methods.len();
        let name = class.replace(['/', '$'], ".");
        let Some(found) = there.get(class) else {
            missing_of_all += methods.len();
            let reason = LEFT_OUT.iter().find(|(start, _)| class.starts_with(start));
            let (_, reason) = reason.unwrap_or_else(|| panic!("{class} is not there: LEFT_OUT says why"));
            text += &format!("| `{name}` | not there | {reason} |\n");
            continue;
        };
        let missing: Vec<&str> = methods.iter().filter(|method| !found.contains(**method)).copied().collect();
        missing_of_all += missing.len();
        let names: Vec<String> = missing.iter().map(|method| format!("`{}`", method.replace(' ', ""))).collect();
        text +=
            &format!("| `{name}` | {} of {} | {} |\n", methods.len() - missing.len(), methods.len(), names.join(" "));
    }
    text + &format!("\n{} of {of_all} methods are there.\n", of_all - missing_of_all)
}

#[test]
fn the_table_of_what_is_there_is_up_to_date() {
    let (lang, _) = java_lang();
    let made = coverage(&read(&card_api(&lang).1));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/card-api.md");
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    if written != made && std::env::var_os("NORN_WRITE").is_some() {
        std::fs::write(&path, &made).unwrap();
    } else {
        assert!(written == made, "docs/card-api.md is of another API: NORN_WRITE=1 makes it again");
    }
}

/// Packages of the applets: names of package, identifiers of package and applet, class.
const APPLETS: [(&str, &[u8], &[u8], &str); 4] = [
    ("purse", &[0xF0, 0, 0, 0, 2], &[0xF0, 0, 0, 0, 2, 1], "purse/Purse"),
    ("loyalty", &[0xF0, 0, 0, 0, 3], &[0xF0, 0, 0, 0, 3, 1], "loyalty/Loyalty"),
    ("signer", &[0xF0, 0, 0, 0, 4], &[0xF0, 0, 0, 0, 4, 1], "signer/Signer"),
    ("tag", &[0xD2, 0x76, 0, 0, 0x85], &[0xD2, 0x76, 0, 0, 0x85, 1, 1], "tag/Tag"),
];

#[test]
fn applets_are_linked_package_by_package() {
    let (lang, mut classes) = java_lang();
    let (main, rest) = card_api(&lang);
    classes.extend(rest);
    let api = link(&read(&classes), &[], &config(&API, Natives::OfTheApi, &[]));
    let api = api.unwrap_or_else(|error| panic!("{error}"));
    let hidden = |class: &ClassLayout| {
        ["Keys", "Stored", "Algorithms", "BlockCipher"].map(|name| class.shape.name.contains(name))
    };
    assert!(!api.exports.classes.iter().any(|class| hidden(class).contains(&true)), "what carries algorithms out");
    println!("API: {} bytes", api.image.len());
    let mut images: Vec<Vec<Vec<u8>>> = Vec::new();
    for build in [Build::BootClassPath, Build::Release(8), Build::Release(25)] {
        let mut exports: Vec<ExportTable> = vec![api.exports.clone()];
        images.push(Vec::new());
        for ((name, classes), (wanted, package, applet, class)) in applets(build, &lang, &main).iter().zip(APPLETS) {
            assert_eq!(*name, wanted);
            let config = config(package, Natives::Refused, &[(applet, class)]);
            let linked = link(&read(classes), &exports, &config).unwrap_or_else(|error| panic!("{build:?}: {error}"));
            let header = check(&mut &linked.image[..]).unwrap();
            assert_eq!(header.imports, if *name == "loyalty" { 2 } else { 1 }, "{build:?}: {name}");
            println!("{build:?}: {name}: {} bytes", linked.image.len());
            exports.push(linked.exports);
            images.last_mut().unwrap().push(linked.image);
        }
    }
    assert_eq!(images[0], images[1], "javac's two ways give the same");
}
