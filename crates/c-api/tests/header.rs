//! The header that is checked in is the one that the sources say. `NORN_WRITE_HEADER=1` writes it instead.

use std::fs;
use std::path::{Path, PathBuf};

fn crate_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The header of the sources, files in the order in which a reader wants them.
fn generated() -> String {
    let config = cbindgen::Config::from_file(crate_file("cbindgen.toml")).unwrap();
    let files = [
        "error",
        "device",
        "heap",
        "object",
        "array",
        "root",
        "transaction",
        "collect",
        "check",
        "index",
        "entry",
        "cursor",
        "nand",
        "ftl",
        "realtime",
        "pager",
        "conformance",
    ];
    let builder = cbindgen::Builder::new().with_config(config);
    let sources = files.iter().fold(builder, |builder, file| builder.with_src(crate_file(&format!("src/{file}.rs"))));
    let mut text = Vec::new();
    sources.generate().expect("the sources are such that C can call them").write(&mut text);
    String::from_utf8(text).unwrap()
}

#[test]
fn the_header_is_that_of_the_sources() {
    let path = crate_file("include/norn.h");
    let text = generated();
    if std::env::var_os("NORN_WRITE_HEADER").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let known = fs::read_to_string(&path).unwrap_or_default();
    let different = text.lines().zip(known.lines()).find(|(new, old)| new != old);
    assert!(
        text == known,
        "include/norn.h is not what the sources say, first {different:?}: NORN_WRITE_HEADER=1 cargo test -p norn-c-api"
    );
}

#[test]
fn every_function_that_c_can_call_is_in_the_header() {
    let text = generated();
    let mut count = 0;
    for entry in fs::read_dir(crate_file("src")).unwrap() {
        let source = fs::read_to_string(entry.unwrap().path()).unwrap();
        for line in source.split("#[unsafe(no_mangle)]").skip(1) {
            let name = line.split("fn ").nth(1).unwrap().split('(').next().unwrap();
            assert!(text.contains(&format!(" {name}(")) || text.contains(&format!("*{name}(")), "{name}");
            count += 1;
        }
    }
    assert!(count > 30, "the functions are where they were: {count}");
}
