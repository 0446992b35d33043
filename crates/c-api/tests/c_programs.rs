//! What a C programmer does with the library works: it is installed, programs are compiled by gcc and clang as strictly
//! as they can, run with the sanitizers, and a project outside of this tree is built with CMake and pkg-config, for
//! this machine and for a Cortex-M.
//!
//! The tools refuse names that they do not know before they build anything.
//!
//! The programs whose names end in `cuts` cut the power at every program and erase, from C. All say what they prove.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

const NOR: &str = "crates/c-api/tests/c/nor_simulator.c";
const NAND: &str = "crates/c-api/tests/c/nand_simulator.c";
const STRICT: [&str; 5] = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-g"];
const SANITIZED: [&str; 3] = ["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A directory for what a test makes.
fn room(name: &str) -> PathBuf {
    let room = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&room).unwrap();
    room
}

/// Runs a command, which has to succeed.
fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}: tools/ensure-test-programs"));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{out}\n{err}", output.status);
    output
}

/// Where the library is installed for a target; none is this machine.
fn install(target: Option<&str>) -> PathBuf {
    let prefix = room("installed").join(target.unwrap_or("host"));
    let mut command = Command::new(root().join("tools/install-c"));
    // A directory of its own: the one of this test may be locked.
    command.arg(&prefix).args(target).env("NORN_TARGET_DIR", room("c-library"));
    run(&mut command);
    prefix
}

static HOST: LazyLock<PathBuf> = LazyLock::new(|| install(None));

/// Compiles C or C++ sources, by their paths from the root, and links the library.
fn compile(compiler: &str, flags: &[&str], sources: &[&str], name: &str) -> PathBuf {
    let program = room("programs").join(format!("{name}-{compiler}"));
    let mut command = Command::new(compiler);
    command.current_dir(root()).args(STRICT).args(flags).arg("-I").arg(HOST.join("include"));
    command.args(sources).arg(HOST.join("lib/libnorn.a")).arg("-o").arg(&program);
    run(&mut command);
    program
}

/// Compiles a test program with simulated parts and the sanitizers, and runs it.
fn run_test_program(name: &str, parts: &[&str]) {
    for compiler in ["gcc", "clang"] {
        let flags = [&["-std=c99"], &SANITIZED[..]].concat();
        let source = format!("crates/c-api/tests/c/{name}.c");
        let sources = [&[&*source], parts].concat();
        let output = run(&mut Command::new(compile(compiler, &flags, &sources, name)));
        println!("{compiler}: {}", String::from_utf8_lossy(&output.stdout));
    }
}

#[test]
fn every_call_works_and_refuses_misuse() {
    run_test_program("heap_calls", &[NOR]);
}

#[test]
fn a_full_heap_takes_more_after_what_two_units_hold_was_deleted() {
    run_test_program("full_heap", &[]);
}

#[test]
fn what_was_committed_survives_power_cuts_at_every_operation() {
    run_test_program("power_cuts", &[NOR]);
}

#[test]
fn every_call_of_the_index_works_and_refuses_misuse() {
    run_test_program("index_calls", &[NOR]);
}

#[test]
fn what_an_index_acknowledged_survives_power_cuts_at_every_operation() {
    run_test_program("index_cuts", &[NOR]);
}

#[test]
fn every_call_of_the_block_device_works_and_refuses_misuse() {
    run_test_program("ftl_calls", &[NAND]);
}

#[test]
fn tasks_keep_their_deadlines_and_every_call_refuses_misuse() {
    run_test_program("realtime_calls", &[NAND]);
}

#[test]
fn what_a_block_device_acknowledged_survives_power_cuts_at_every_operation() {
    run_test_program("ftl_cuts", &[NAND]);
}

#[test]
fn code_is_read_as_it_was_written_and_every_call_of_the_pager_refuses_misuse() {
    run_test_program("pager_calls", &[NAND]);
}

#[test]
fn the_conformance_suite_finds_drivers_with_a_mistake() {
    run_test_program("conformance_calls", &[NOR, NAND]);
}

#[test]
fn a_mount_names_the_format_that_is_there() {
    run_test_program("other_formats", &[NOR, NAND]);
}

#[test]
fn the_header_is_cpp_too() {
    for compiler in ["g++", "clang++"] {
        run(&mut Command::new(compile(compiler, &["-std=c++11"], &["crates/c-api/tests/c/header.cpp"], "header")));
    }
}

/// Runs a tool, by its path from the root, that has to refuse its arguments, and returns what it says.
fn refusal_of(command: &[&str]) -> String {
    let output = Command::new(command[0]).current_dir(root()).args(&command[1..]).output().unwrap();
    assert!(!output.status.success(), "{command:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn tools_refuse_names_that_are_not_known_before_they_build() {
    let prefix = room("unknown-target");
    let said = refusal_of(&["tools/install-c", prefix.to_str().unwrap(), "thumbv9-none-eabi"]);
    assert!(said.contains("thumbv9-none-eabi is no target") && said.contains("thumbv7em-none-eabihf"), "{said}");
    let said = refusal_of(&["tools/firmware-test", "--only", "nothing"]);
    assert!(said.contains("'nothing'") && said.contains("sensor_log"), "{said}");
    for decoder in ["code_image", "log_heap", "nand_ftl", "sensor_log"] {
        let said = refusal_of(&["python3", "-B", &format!("tools/decoders/{decoder}.py")]);
        let names_what_is_missing = said.contains("the following arguments are required: IMAGE");
        assert!(said.starts_with(&format!("usage: {decoder}.py [-h]")) && names_what_is_missing, "{said}");
    }
}

/// Runs an example on a file, and returns what it says.
fn say(program: &Path, arguments: &[&str]) -> String {
    String::from_utf8(run(Command::new(program).args(arguments)).stdout).unwrap()
}

#[test]
fn the_examples_keep_what_they_were_told() {
    for compiler in ["gcc", "clang"] {
        let flags = [&["-std=c99"], &SANITIZED[..]].concat();
        let image = room("programs").join(format!("purse-{compiler}.img"));
        let _ = std::fs::remove_file(&image);
        let purse = compile(compiler, &flags, &["examples/c/purse.c", "examples/c/file_nor.c"], "purse");
        let image = image.to_str().unwrap();
        assert_eq!(say(&purse, &[image]), "balance 0\n");
        assert_eq!(say(&purse, &[image, "+500"]), "balance 500\n");
        assert_eq!(say(&purse, &[image, "-120"]), "balance 380\n");
        let refused = Command::new(&purse).args([image, "-381"]).output().unwrap();
        assert!(!refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("not enough"));
        assert_eq!(say(&purse, &[image]), "balance 380\npayment 1: +500\npayment 2: -120\n");

        let log = compile(compiler, &flags, &["examples/c/sensor_log.c", "examples/c/file_nor.c"], "sensor_log");
        let image = room("programs").join(format!("log-{compiler}.img"));
        let _ = std::fs::remove_file(&image);
        let image = image.to_str().unwrap();
        assert_eq!(say(&log, &[image, "add", "200"]), "200 readings\n");
        assert_eq!(say(&log, &[image, "add", "100"]), "300 readings\n");
        // Number 298 and 299, one a minute.
        assert_eq!(say(&log, &[image, "show", "2"]), "17880 -33\n17940 4\n");
        assert_eq!(say(&log, &[image, "mean", "17880", "17940"]), "mean -33 of 1\n");
    }
}

/// Compiles an example on a NAND part in a file. Returns it, and the path of a file that is not there.
fn example_on_nand(compiler: &str, name: &str) -> (PathBuf, String) {
    let flags = [&["-std=c99"], &SANITIZED[..]].concat();
    let image = room("programs").join(format!("{name}-{compiler}.img"));
    let _ = std::fs::remove_file(&image);
    let sources = [&*format!("examples/c/{name}.c"), "examples/c/file_nand.c"];
    (compile(compiler, &flags, &sources, name), image.to_str().unwrap().to_owned())
}

#[test]
fn the_examples_on_nand_keep_what_they_were_told() {
    for compiler in ["gcc", "clang"] {
        let (disk, image) = example_on_nand(compiler, "disk");
        assert_eq!(say(&disk, &[&image]), "3000 pages of 512 bytes on 128 good blocks\n");
        say(&disk, &[&image, "write", "7", "seven"]);
        say(&disk, &[&image, "write", "8", "eight"]);
        say(&disk, &[&image, "trim", "8"]);
        assert_eq!(say(&disk, &[&image, "read", "7"]), "seven\n");
        assert_eq!(say(&disk, &[&image, "read", "8"]), "\n");
        let refused = Command::new(&disk).args([&image, "read", "3000"]).output().unwrap();
        assert!(!refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("past the last"));

        let (deadline, image) = example_on_nand(compiler, "deadline");
        for _ in 0..2 {
            let said = say(&deadline, &[&image, "4000"]);
            assert!(said.starts_with("200 periods, 0 late; "), "{said}");
        }

        let (code, image) = example_on_nand(compiler, "code");
        say(&code, &[&image, "write", &"12+34*-.".repeat(300)]);
        let said = say(&code, &[&image, "run", "1"]);
        assert!(said.starts_with("-9\n-9\n") && said.ends_with("2400 bytes: 0 hits, 40 misses\n"), "{said}");
        say(&code, &[&image, "write", "9."]);
        assert_eq!(say(&code, &[&image, "run", "2"]), "9\n9\n2 bytes: 1 hits, 1 misses\n");
    }
}

/// Builds the outside project with CMake.
fn build_with_cmake(name: &str, prefix: &Path, flags: &[&str]) -> PathBuf {
    let (source, build) = (root().join("crates/c-api/tests/c/outside"), room(name));
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(&source).arg("-B").arg(&build).args(flags);
    run(configure.arg(format!("-Dnorn_DIR={}", prefix.join("lib/cmake/norn").display())));
    run(Command::new("cmake").arg("--build").arg(&build));
    build.join("outside")
}

#[test]
fn a_project_outside_finds_the_library() {
    run(&mut Command::new(build_with_cmake("outside-cmake", &HOST, &[])));

    let mut pkg_config = Command::new("pkg-config");
    pkg_config.args(["--cflags", "--libs", "norn"]).env("PKG_CONFIG_PATH", HOST.join("lib/pkgconfig"));
    let flags = String::from_utf8(run(&mut pkg_config).stdout).unwrap();
    let program = room("programs").join("outside-pkg-config");
    let mut command = Command::new("gcc");
    command.arg("-std=c99").arg(root().join("crates/c-api/tests/c/outside/main.c")).args(flags.split_whitespace());
    run(command.arg("-o").arg(&program));
    run(&mut Command::new(program));
}

#[test]
#[ignore = "takes a compiler and a target of Rust for Cortex-M: `make test-long`"]
fn a_project_for_cortex_m_links_the_library() {
    let prefix = install(Some("thumbv7em-none-eabi"));
    let chain = root().join("crates/c-api/tests/c/outside/cortex-m.cmake");
    let flag = format!("-DCMAKE_TOOLCHAIN_FILE={}", chain.display());
    let program = build_with_cmake("outside-cortex-m", &prefix, &[&flag]);
    let symbols = run(Command::new("arm-none-eabi-nm").arg(&program)).stdout;
    let symbols = String::from_utf8(symbols).unwrap();
    assert!(symbols.contains("T norn_heap_put_field"), "the heap is linked:\n{symbols}");
    assert!(!symbols.contains("norn_heap_collect"), "what is not called is left out:\n{symbols}");
    assert!(!symbols.contains("T malloc") && !symbols.contains(" U "), "nothing is allocated or missing:\n{symbols}");
}

/// What the guide's example leaves to a board: the functions of a part, here in RAM; and a main that starts it twice.
const BOARD: &str = r"
#include <string.h>
static uint8_t cells[64 * 2048];
static int flash_read(void *context, uint32_t address, void *buffer, uint32_t bytes) {
    (void)context;
    memcpy(buffer, &cells[address], bytes);
    return 0;
}
static int flash_program(void *context, uint32_t address, const void *data, uint32_t bytes) {
    (void)context;
    memcpy(&cells[address], data, bytes);
    return 0;
}
static int flash_erase(void *context, uint32_t address) {
    (void)context;
    memset(&cells[address], 0xFF, 2048);
    return 0;
}
int count_boots(uint32_t *boots);
int main(void) {
    uint32_t boots = 0;
    if (count_boots(&boots) != NORN_OK || boots != 1 || norn_heap_unmount(&heap) != NORN_OK) return 1;
    return count_boots(&boots) == NORN_OK && boots == 2 ? 0 : 2;
}
";

#[test]
fn the_example_of_the_guide_counts_boots() {
    let guide = std::fs::read_to_string(root().join("docs/guide/c.md")).unwrap();
    let example = guide.split("```c\n").nth(1).unwrap().split("```").next().unwrap();
    let source = room("programs").join("guide.c");
    std::fs::write(&source, format!("{example}{BOARD}")).unwrap();
    for compiler in ["gcc", "clang"] {
        let flags = [&["-std=c99"], &SANITIZED[..]].concat();
        run(&mut Command::new(compile(compiler, &flags, &[source.to_str().unwrap()], "guide")));
    }
}
