//! Class files for tests, compiled by the JDK that `tools/java25` finds.
#![allow(dead_code, reason = "no test uses all of it")]

pub mod heap;
pub mod program;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use norn_card_linker::ClassFile;

/// How a developer's build compiles for a card.
#[derive(Clone, Copy, Debug)]
pub enum Build {
    /// `-source 8 -target 8 -bootclasspath`: javac knows a card's `java.lang` alone.
    BootClassPath,
    /// `--release`: javac knows the JDK's `java.lang`, and what a card lacks is found later.
    Release(u8),
}

/// A class file with the path that javac gave it.
pub struct Compiled {
    pub path: PathBuf,
    pub bytes: Vec<u8>,
}

impl Compiled {
    pub fn read(&self) -> ClassFile {
        ClassFile::read(&self.bytes, &self.path.display().to_string()).unwrap_or_else(|refusal| panic!("{refusal}"))
    }
}

fn room(name: &str) -> PathBuf {
    let room = Path::new(env!("CARGO_TARGET_TMPDIR")).join("card-linker").join(name);
    let _ = fs::remove_dir_all(&room);
    fs::create_dir_all(&room).unwrap();
    room
}

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs a command of the JDK.
pub fn jdk(arguments: &[&str]) -> Output {
    Command::new(project().join("tools/java25")).args(arguments).output().unwrap()
}

fn files_below(directory: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_below(&path, ending));
        } else if path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Compiles sources into a room of the test's own; its name has to be the test's.
fn compile_into(room: &Path, sources: &[PathBuf], options: &[&str]) -> Vec<Compiled> {
    let sources = sources.iter().map(|path| path.to_str().unwrap());
    let fixed = ["javac", "-Xlint:none", "-nowarn", "-d", room.to_str().unwrap()];
    let output = jdk(&fixed.into_iter().chain(options.iter().copied()).chain(sources).collect::<Vec<_>>());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let read = |path: PathBuf| Compiled { bytes: fs::read(&path).unwrap(), path };
    files_below(room, ".class").into_iter().map(read).collect()
}

const FOR_CARDS: [&str; 5] = ["-source", "8", "-target", "8", "-bootclasspath"];

/// A card's `java.lang`, for the test of a name, and where its classes are.
pub fn java_lang(test: &str) -> (PathBuf, Vec<Compiled>) {
    let room = room(&format!("{test}-lang"));
    let empty = room.join("none");
    let options = [&FOR_CARDS[..], &[empty.to_str().unwrap()]].concat();
    let sources = files_below(&project().join("java/card-api/src/lang"), ".java");
    let classes = compile_into(&room, &sources, &options);
    (room, classes)
}

/// The rest of a card's API, for the test of a name, and where its classes are.
pub fn card_api(test: &str, lang: &Path) -> (PathBuf, Vec<Compiled>) {
    let room = room(&format!("{test}-api"));
    let sources = files_below(&project().join("java/card-api/src/main"), ".java");
    let classes = compile_into(&room, &sources, &[&FOR_CARDS[..], &[lang.to_str().unwrap()]].concat());
    (room, classes)
}

/// The package of an applet, compiled against a card's API and other packages for the test of a name.
pub fn applet(test: &str, name: &str, build: Build, lang: &Path, paths: &[&Path]) -> (PathBuf, Vec<Compiled>) {
    let room = room(&format!("{test}-{name}-{build:?}"));
    let sources = files_below(&project().join("java/applets/src").join(name), ".java");
    let path = |paths: &[&Path]| paths.iter().map(|path| path.to_str().unwrap()).collect::<Vec<_>>().join(":");
    let classes = match build {
        Build::BootClassPath => {
            compile_into(&room, &sources, &[&FOR_CARDS[..], &[&path(&[&[lang], paths].concat())]].concat())
        }
        Build::Release(release) => {
            compile_into(&room, &sources, &["--release", &release.to_string(), "-cp", &path(paths)])
        }
    };
    (room, classes)
}

/// The applets by the name of their package, each compiled in a room of its own.
pub fn applets(test: &str, build: Build, lang: &Path, api: &Path) -> Vec<(&'static str, Vec<Compiled>)> {
    let (purse, classes) = applet(test, "purse", build, lang, &[api]);
    let mut found = vec![("purse", classes)];
    for (name, paths) in [("loyalty", &[api, &purse][..]), ("signer", &[api]), ("tag", &[api])] {
        found.push((name, applet(test, name, build, lang, paths).1));
    }
    found
}

/// The test programs of some names, compiled for the test of a name.
pub fn programs(test: &str, names: &[&str], build: Build, lang: &Path) -> Vec<Compiled> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let sources: Vec<_> = names.iter().map(|name| directory.join(format!("{name}.java"))).collect();
    let room = room(&format!("{test}-{build:?}"));
    match build {
        Build::BootClassPath => compile_into(&room, &sources, &[&FOR_CARDS[..], &[lang.to_str().unwrap()]].concat()),
        // From 25 on, constructors of inner classes would check the outer object by `java.util.Objects`.
        Build::Release(release) => {
            compile_into(&room, &sources, &["-XDnullCheckOuterThis=false", "--release", &release.to_string()])
        }
    }
}

/// Sources of a test, a path and a text each, compiled against a card's `java.lang` and other classes, and where the
/// classes are.
pub fn sources(test: &str, texts: &[(&str, &str)], paths: &[&Path]) -> (PathBuf, Vec<Compiled>) {
    let from = room(&format!("{test}-sources"));
    let write = |(path, text): &(&str, &str)| {
        let path = from.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    };
    let files: Vec<PathBuf> = texts.iter().map(write).collect();
    let into = room(&format!("{test}-classes"));
    let paths: Vec<&str> = paths.iter().map(|path| path.to_str().unwrap()).collect();
    let classes = compile_into(&into, &files, &[&FOR_CARDS[..], &[&paths.join(":")]].concat());
    (into, classes)
}
