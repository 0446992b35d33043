//! Compiles this crate to WebAssembly, for the page that the host's build of it puts together.
//!
//! The nested cargo has a target directory of its own, and takes none of what the outer one was asked for: neither
//! flags nor a wrapper of the compiler. Without Rust's library for that target the host's build succeeds, and
//! `page::page` says how to get it. A program that does not compile fails the build.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "wasm32-unknown-unknown";
/// Small and without unwinding.
const PROFILE: [&str; 5] = [
    "profile.release.opt-level='s'",
    "profile.release.lto='fat'",
    "profile.release.codegen-units=1",
    "profile.release.panic='abort'",
    "profile.release.strip=true",
];
/// What the outer cargo was asked for.
const OUTER: [&str; 7] = [
    "CARGO_ENCODED_RUSTFLAGS",
    "RUSTFLAGS",
    "RUSTDOCFLAGS",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "CLIPPY_ARGS",
    "CARGO_BUILD_TARGET",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(has_program)");
    if env::var("TARGET").is_ok_and(|target| target == TARGET) {
        return;
    }
    if !has_library() {
        println!("cargo::warning=norn explore will make no page: run rustup target add {TARGET}, and build again");
        return;
    }
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    let program = compile(&out.join("page"));
    fs::copy(program, out.join("program.wasm")).expect("the program can be copied");
    println!("cargo::rustc-cfg=has_program");
}

/// Whether there is Rust's library for the target.
fn has_library() -> bool {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let library = Command::new(rustc).args(["--print", "target-libdir", "--target", TARGET]).output();
    library.is_ok_and(|library| Path::new(String::from_utf8_lossy(&library.stdout).trim()).exists())
}

/// The path of the compiled program.
fn compile(directory: &Path) -> PathBuf {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--locked", "--release", "--lib", "--target", TARGET, "--target-dir"]);
    cargo.arg(directory).current_dir(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    for setting in PROFILE {
        cargo.args(["--config", setting]);
    }
    for name in OUTER {
        cargo.env_remove(name);
    }
    let status = cargo.status().expect("cargo runs");
    assert!(status.success(), "the page's program does not compile for {TARGET}: {status}");
    let program = directory.join(TARGET).join("release/norn_explorer.wasm");
    // What it was compiled from, as the compiler lists it.
    let listed = fs::read_to_string(program.with_extension("d")).expect("the compiler lists its sources");
    let sources = listed.split_once(": ").map_or("", |(_, sources)| sources).trim();
    sources.split(' ').for_each(|source| println!("cargo::rerun-if-changed={source}"));
    program
}
