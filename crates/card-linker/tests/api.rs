//! The API has the specification's constants and no others, and the example applets are linked against it, package by
//! package, however they are compiled.

mod javac;

use std::collections::BTreeMap;

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
    let (lang, _) = java_lang("constants");
    let found = constants(&read(&card_api("constants", &lang).1));
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

/// Packages of the applets: names of package, identifiers of package and applet, class.
const APPLETS: [(&str, &[u8], &[u8], &str); 4] = [
    ("purse", &[0xF0, 0, 0, 0, 2], &[0xF0, 0, 0, 0, 2, 1], "purse/Purse"),
    ("loyalty", &[0xF0, 0, 0, 0, 3], &[0xF0, 0, 0, 0, 3, 1], "loyalty/Loyalty"),
    ("signer", &[0xF0, 0, 0, 0, 4], &[0xF0, 0, 0, 0, 4, 1], "signer/Signer"),
    ("tag", &[0xD2, 0x76, 0, 0, 0x85], &[0xD2, 0x76, 0, 0, 0x85, 1, 1], "tag/Tag"),
];

#[test]
fn applets_are_linked_package_by_package() {
    let (lang, mut classes) = java_lang("apart");
    let (main, rest) = card_api("apart", &lang);
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
        for ((name, classes), (wanted, package, applet, class)) in
            applets("apart", build, &lang, &main).iter().zip(APPLETS)
        {
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
