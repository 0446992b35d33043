//! Class files for tests, compiled by the JDK that `tools/java25` finds.
#![allow(dead_code, reason = "no test uses all of it")]

pub mod heap;
pub mod program;

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

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

/// Where classes of tests are.
fn classes() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("card-linker")
}

/// An empty directory for the test of a name alone.
pub fn scratch(name: &str) -> PathBuf {
    let directory = classes().join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    directory
}

/// Which JDK it is.
fn release() -> &'static [u8] {
    static RELEASE: OnceLock<Vec<u8>> = OnceLock::new();
    RELEASE.get_or_init(|| {
        let output = jdk(&["sh", "-c", "cat \"$JAVA_HOME/release\""]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    })
}

/// The directory that `make` fills, named by a hash of `what` goes into it. It is made once: all tests, in whatever
/// process, that ask for the same get the same, and leave it as it is.
fn made_once(what: impl Hash, make: impl FnOnce(&Path)) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    let directory = classes().join(format!("{:016x}", hasher.finish()));
    fs::create_dir_all(classes()).unwrap();
    let lock = File::create(directory.with_extension("lock")).unwrap();
    lock.lock().unwrap();
    if !directory.exists() {
        let unfinished = directory.with_extension("unfinished");
        let _ = fs::remove_dir_all(&unfinished);
        fs::create_dir_all(&unfinished).unwrap();
        make(&unfinished);
        fs::rename(&unfinished, &directory).unwrap();
    }
    directory
}

/// Compiles sources; where the classes are. That takes a JVM, seconds of a processor, and tests have most classes in
/// common.
fn compile(sources: &[PathBuf], options: &[&str]) -> (PathBuf, Vec<Compiled>) {
    let texts: Vec<_> = sources.iter().map(|path| (path, fs::read(path).unwrap())).collect();
    let directory = made_once((release(), options, texts), |directory| {
        let sources = sources.iter().map(|path| path.to_str().unwrap());
        let fixed = ["javac", "-J-XX:TieredStopAtLevel=1", "-Xlint:none", "-nowarn", "-d", directory.to_str().unwrap()];
        let output = jdk(&fixed.into_iter().chain(options.iter().copied()).chain(sources).collect::<Vec<_>>());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    });
    let read = |path: PathBuf| Compiled { bytes: fs::read(&path).unwrap(), path };
    let compiled = files_below(&directory, ".class").into_iter().map(read).collect();
    (directory, compiled)
}

const FOR_CARDS: [&str; 5] = ["-source", "8", "-target", "8", "-bootclasspath"];

/// A card's `java.lang`, and where its classes are.
pub fn java_lang() -> (PathBuf, Vec<Compiled>) {
    let nothing = classes().join("nothing");
    let sources = files_below(&project().join("java/card-api/src/lang"), ".java");
    compile(&sources, &[&FOR_CARDS[..], &[nothing.to_str().unwrap()]].concat())
}

/// The rest of a card's API, and where its classes are.
pub fn card_api(lang: &Path) -> (PathBuf, Vec<Compiled>) {
    let sources = files_below(&project().join("java/card-api/src/main"), ".java");
    compile(&sources, &[&FOR_CARDS[..], &[lang.to_str().unwrap()]].concat())
}

/// The package of an applet, compiled against a card's API and other packages.
pub fn applet(name: &str, build: Build, lang: &Path, paths: &[&Path]) -> (PathBuf, Vec<Compiled>) {
    let sources = files_below(&project().join("java/applets/src").join(name), ".java");
    let path = |paths: &[&Path]| paths.iter().map(|path| path.to_str().unwrap()).collect::<Vec<_>>().join(":");
    match build {
        Build::BootClassPath => compile(&sources, &[&FOR_CARDS[..], &[&path(&[&[lang], paths].concat())]].concat()),
        Build::Release(release) => compile(&sources, &["--release", &release.to_string(), "-cp", &path(paths)]),
    }
}

/// The applets by the name of their package.
pub fn applets(build: Build, lang: &Path, api: &Path) -> Vec<(&'static str, Vec<Compiled>)> {
    let (purse, classes) = applet("purse", build, lang, &[api]);
    let mut found = vec![("purse", classes)];
    for (name, paths) in [("loyalty", &[api, &purse][..]), ("signer", &[api]), ("tag", &[api])] {
        found.push((name, applet(name, build, lang, paths).1));
    }
    found
}

/// The test programs of some names.
pub fn programs(names: &[&str], build: Build, lang: &Path) -> Vec<Compiled> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let sources: Vec<_> = names.iter().map(|name| directory.join(format!("{name}.java"))).collect();
    match build {
        Build::BootClassPath => compile(&sources, &[&FOR_CARDS[..], &[lang.to_str().unwrap()]].concat()).1,
        // From 25 on, constructors of inner classes would check the outer object by `java.util.Objects`.
        Build::Release(release) => {
            compile(&sources, &["-XDnullCheckOuterThis=false", "--release", &release.to_string()]).1
        }
    }
}

/// Sources, a path and a text each, compiled against a card's `java.lang` and other classes, and where the classes are.
pub fn sources(texts: &[(&str, &str)], paths: &[&Path]) -> (PathBuf, Vec<Compiled>) {
    let directory = made_once(texts, |directory| {
        for (path, text) in texts {
            let path = directory.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
        }
    });
    let sources: Vec<PathBuf> = texts.iter().map(|(path, _)| directory.join(path)).collect();
    let paths: Vec<&str> = paths.iter().map(|path| path.to_str().unwrap()).collect();
    compile(&sources, &[&FOR_CARDS[..], &[&paths.join(":")]].concat())
}
