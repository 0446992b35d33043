//! `norn-lab trace layout`: a program is recorded on two inputs, linked again in the order that those give, and
//! recorded on a third. Takes gcc, gold and valgrind, which tools/ensure-test-programs installs.

use std::fmt::Write as _;
use std::process::Command;

use norn_desk::Desk;
use object::{Object, ObjectSymbol};

/// Functions of the program, of which it calls every fourth, in an order that its argument decides.
const FUNCTIONS: u32 = 160;
const CALLED_EVERY: u32 = 4;

fn program() -> String {
    let mut text = "#include <stdlib.h>\nstatic unsigned state;\n".to_owned();
    for number in 0..FUNCTIONS {
        let _ = writeln!(
            text,
            "__attribute__((noinline)) void f{number}(unsigned x) {{ for (int i = 0; i < 3; i++) state = state * \
             {}u + (x ^ (state >> {})) + {number}; }}",
            2 * number + 3,
            number % 13 + 3
        );
    }
    let all: Vec<String> = (0..FUNCTIONS).map(|number| format!("f{number}")).collect();
    let called: Vec<&str> = all.iter().step_by(CALLED_EVERY as usize).map(|name| &**name).collect();
    let _ = writeln!(text, "void (*volatile all[])(unsigned) = {{ {} }};", all.join(", "));
    let _ = writeln!(text, "void (*called[])(unsigned) = {{ {} }};", called.join(", "));
    text + "int main(int count, char **words) {\n  unsigned random = atoi(words[count - 1]);\n  for (int i = 0; i < \
            2000; i++) {\n    random = random * 1664525u + 1013904223u;\n    called[(random >> 16) % (sizeof called / \
            sizeof *called)](random);\n  }\n  return 0;\n}\n"
}

fn link(desk: &Desk, out: &str, linker: &[&str]) {
    let mut gcc = Command::new("gcc");
    gcc.args(["-O1", "-ffunction-sections", "-fuse-ld=gold", "-o", out, "program.c"]).args(linker);
    let output = gcc.current_dir(desk.path("")).output().expect("gcc, see tools/ensure-test-programs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Bytes from the first to the last of the functions that are called.
fn span(desk: &Desk, program: &str) -> u64 {
    let bytes = std::fs::read(desk.path(program)).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let number = |name: &str| name.strip_prefix('f').and_then(|number| number.parse::<u32>().ok());
    let called = |symbol: &object::Symbol| {
        symbol.name().ok().and_then(number).is_some_and(|number| number.is_multiple_of(CALLED_EVERY))
    };
    let starts: Vec<u64> = file.symbols().filter(called).map(|symbol| symbol.address()).collect();
    assert_eq!(starts.len() as u32, FUNCTIONS / CALLED_EVERY);
    starts.iter().max().unwrap() - starts.iter().min().unwrap()
}

fn loads(desk: &Desk, program: &str, argument: u32) -> u64 {
    desk.succeed(&format!("trace record --out {program}-{argument}.runs -- ./{program} {argument}"));
    let said = desk.succeed(&format!("trace replay {program}-{argument}.runs"));
    said.split(" loads").next().unwrap().rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn a_program_that_is_linked_in_its_order_loads_fewer_pages_on_another_input() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn-lab"));
    desk.write("program.c", program());
    link(&desk, "before", &[]);
    let on_training = [loads(&desk, "before", 1), loads(&desk, "before", 2)];
    let said = desk.succeed("trace layout --program before --out gold.order before-1.runs before-2.runs");
    assert!(said.starts_with("gold.order: "), "nothing is doubted: {said}");
    assert!(said.contains(&format!("load {} pages", on_training.iter().sum::<u64>())), "{said}");
    link(&desk, "after", &["-Wl,--section-ordering-file,gold.order"]);

    let (before, after) = (span(&desk, "before"), span(&desk, "after"));
    assert!(2 * after < before, "called functions span {after} bytes, and {before} before");
    let (before, after) = (loads(&desk, "before", 3), loads(&desk, "after", 3));
    assert!(2 * after < before, "{after} loads, and {before} before");

    desk.succeed("trace layout --linker lld --program before --out lld.order before-1.runs before-2.runs");
    let read = |name| std::fs::read_to_string(desk.path(name)).unwrap();
    let symbols = |order: String| -> Vec<String> {
        let lines = order.lines().filter(|line| line.starts_with(".text.f"));
        lines.map(|line| line[".text.".len()..].to_owned()).collect()
    };
    let lld: Vec<String> = read("lld.order").lines().filter(|line| line.starts_with('f')).map(str::to_owned).collect();
    assert!(lld.len() >= 40 && symbols(read("gold.order")).starts_with(&lld[..40]), "{lld:?}");
}

#[test]
fn mistakes_are_named() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn-lab"));
    desk.write("program.c", program());
    link(&desk, "stripped", &["-s"]);
    desk.write("one.runs", [0, 0, 0, 0, 8, 0, 1, 0]);
    let layout = |program: &str, trace: &str| format!("trace layout --program {program} --out o {trace}");
    desk.fail(&layout("stripped", "one.runs"), &["stripped", "no symbols of functions", "before strip"]);
    link(&desk, "whole", &[]);
    desk.write("other.runs", [0, 0, 0xF0, 0, 8, 0, 1, 0]);
    desk.fail(
        &layout("whole", "other.runs"),
        &[
            "other.runs",
            "a trace of another program: whole has 0x",
            "1 of 1 runs lie outside, from 0xf00000 to 0xf00007",
        ],
    );
    desk.fail(&layout("whole", "nowhere.runs"), &["nowhere.runs"]);
    desk.fail(&(layout("whole", "one.runs") + " --frames 0"), &["a cache of 0 frames"]);
    assert!(!desk.path("o").exists());
    desk.write("inner.runs", [4, 0, 0, 0, 4, 0, 1, 0]);
    let doubted = desk.succeed("trace layout --program whole --out doubted inner.runs");
    assert!(
        doubted.starts_with("warning: inner.runs: part of a trace, or not one of whole: it begins at 0x4, "),
        "{doubted}"
    );
    desk.succeed(&layout("whole", "one.runs"));
    desk.fail(&layout("whole", "one.runs"), &["o: there is such a file"]);
}
