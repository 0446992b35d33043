//! What linked programs return and throw is what the JDK says, for every bytecode that javac emits within a card's
//! subset, and for random programs. Programs that loop, recurse or are damaged are stopped.

use crate::javac;

use std::collections::BTreeSet;
use std::fmt::Write;

use javac::program::{Program, VALUES, program};
use norn_card_package::{check, opcode as op};
use norn_card_vm::{End, Stop};
use norn_conformance::seeds;

/// Every opcode in the code of a program.
fn opcodes(of: &Program) -> BTreeSet<u8> {
    let image = &of.program.image[..];
    let source = &mut &*image;
    let mut found = BTreeSet::new();
    for number in 0..of.headers[1].methods {
        let method = of.headers[1].method(source, number).unwrap();
        let mut at = method.code as usize;
        while at < method.handlers_at() as usize {
            let count = |place: usize| usize::from(u16::from_le_bytes([image[at + place], image[at + place + 1]]));
            found.insert(image[at]);
            at += op::length(image[at]).unwrap() as usize
                + match image[at] {
                    op::TABLE_SWITCH => 2 * count(7),
                    op::LOOKUP_SWITCH => 6 * count(3),
                    _ => 0,
                };
        }
    }
    found
}

const EVERY: &str = include_str!("programs/Every.java");

#[test]
fn every_bytecode_does_what_the_jdk_does() {
    let program = program(&[("programs/Every.java", EVERY)]);
    let expected = program.in_the_jdk(&["programs.Every"]);
    let count = program.compare(program.heap(), &expected, "");
    assert!(count >= 2_000, "{count} results");
    // Those that javac emits for long and double alone, or never.
    let never = [op::NOP, op::POP2, op::DUP2_X1, op::DUP2_X2, op::SWAP];
    let missing: Vec<u8> =
        (0..=255).filter(|code| op::length(*code).is_some()).filter(|code| !opcodes(&program).contains(code)).collect();
    let missing: Vec<_> = missing.into_iter().filter(|code| !never.contains(code)).collect();
    assert!(missing.is_empty(), "bytecodes that no program has: {missing:02X?}");
}

/// A random program of methods over ints, shorts, bytes and arrays.
struct Writer {
    random: fastrand::Rng,
    text: String,
}

fn pick(random: &mut fastrand::Rng, choices: &[&'static str]) -> &'static str {
    choices[random.usize(..choices.len())]
}

impl Writer {
    fn expression(&mut self, depth: u32) -> String {
        if depth == 0 || self.random.u8(..8) == 0 {
            return match self.random.u8(..5) {
                0 => self.random.i32(-5..6).to_string(),
                1 => self.random.i32(-70_000..70_000).to_string(),
                _ => pick(&mut self.random, &["a", "b", "c", "d", "s", "y", "field", "o.f", "o.g"]).to_owned(),
            };
        }
        let left = self.expression(depth - 1);
        let right = self.expression(depth - 1);
        match self.random.u8(..12) {
            0 => format!("(short) ({left})"),
            1 => format!("(byte) ({left})"),
            2 => format!("xs[{left} & 7]"),
            3 => format!("ys[{left} & 15]"),
            4 => format!(
                "({left} {} {right} ? {left} : {right})",
                pick(&mut self.random, &["<", "<=", ">", ">=", "==", "!="])
            ),
            5 => format!("-({left})"),
            6 => format!("o.call({left})"),
            _ => {
                format!(
                    "({left} {} {right})",
                    pick(&mut self.random, &["+", "-", "*", "/", "%", "<<", ">>", ">>>", "&", "|", "^"])
                )
            }
        }
    }

    fn statements(&mut self, depth: u32, count: usize) {
        (0..count).for_each(|_| self.statement(depth));
    }

    fn statement(&mut self, depth: u32) {
        let value = self.expression(2);
        let other = self.expression(1);
        let simple = match self.random.u8(..8) {
            0 => format!("xs[{other} & 7] {} {value};", pick(&mut self.random, &["=", "+=", "^="])),
            1 => format!("ys[{other} & 15] = (byte) ({value});"),
            2 => format!("s = (short) ({value});"),
            3 => format!("y {} {value};", pick(&mut self.random, &["+=", "-=", "^="])),
            4 => format!(
                "{} {};",
                pick(&mut self.random, &["a", "field", "o.f", "xs[1]"]),
                pick(&mut self.random, &["++", "--"])
            ),
            _ => format!(
                "{} {value};",
                pick(&mut self.random, &["a =", "b =", "c =", "d =", "field +=", "o.f =", "o.g ^="])
            ),
        };
        if depth == 0 {
            self.text += &simple;
            return;
        }
        match self.random.u8(..7) {
            0 => {
                let _ =
                    write!(self.text, "if ({value} {} {other}) {{", pick(&mut self.random, &["<", ">=", "==", "!="]));
                self.statements(depth - 1, 2);
                self.text += "} else {";
                self.statements(depth - 1, 1);
                self.text += "}";
            }
            1 => {
                let counter = format!("i{}", self.random.u32(..));
                let _ = write!(self.text, "for (int {counter} = 0; {counter} < 4; {counter}++) {{");
                self.statements(depth - 1, 2);
                self.text += "}";
            }
            2 => {
                self.text += "try {";
                self.statements(depth - 1, 2);
                let handlers = [
                    "catch (ArithmeticException e) { c++; ",
                    "catch (RuntimeException e) { d += 3; ",
                    "catch (ArrayIndexOutOfBoundsException e) { a ^= 5; ",
                    "finally { b += 9; ",
                ];
                let name = format!(" e{})", self.random.u32(..));
                let _ = write!(self.text, "}} {}", pick(&mut self.random, &handlers).replace(" e)", &name));
                self.statements(depth - 1, 1);
                self.text += "}";
            }
            3 => {
                let _ =
                    write!(self.text, "switch ({value} {}) {{ case 0:", pick(&mut self.random, &["& 3", "% 100", ""]));
                self.statements(depth - 1, 1);
                self.text += "break; case 2:";
                self.statements(depth - 1, 1);
                self.text += pick(&mut self.random, &["case 3: a++; default:", "break; case 77: b--; default:"]);
                self.statements(depth - 1, 1);
                self.text += "}";
            }
            _ => self.text += &simple,
        }
        self.text += "\n";
    }

    fn program(&mut self, methods: usize) {
        self.text += "package programs; public class Random { private static short field;
            public static class O { int f; byte g = 3; public int call(int a) { f += a; return f / 3 - g; } }
            public static class P extends O { public int call(int a) { g++; return super.call(a) ^ a; } }\n";
        for number in 0..methods {
            let _ = write!(
                self.text,
                "public static int m{number}(int a, int b) {{ int c = 3, d = 7; short s = 1; byte y = -2;
                int[] xs = new int[8]; byte[] ys = new byte[12]; O o = a > b ? new O() : new P();\n"
            );
            self.statements(3, 6);
            self.text += "int sum = ((a * 31 + b) * 31 + c) * 31 + d + s * 5 + y + o.f + o.g + field;
                for (int x : xs) sum = sum * 31 + x; for (int x : ys) sum = sum * 31 + x; return sum; }\n";
        }
        self.text += "}";
    }
}

#[test]
fn random_programs_do_what_the_jdk_does() {
    for run in seeds(0..2, "-p norn-card-linker --test suite bytecode::random_programs") {
        let mut writer = Writer { random: run.random(), text: String::new() };
        writer.program(60);
        let files = [("programs/Random.java", &*writer.text)];
        let program = program(&files);
        let expected = program.in_the_jdk(&["programs.Random"]);
        let count = program.compare(program.heap(), &expected, run.replay());
        let values = expected.lines().filter(|line| !line.contains("java.lang")).count();
        assert!(count == 6_000 && values > 600, "{values} of {count} are values: {}", run.replay());
    }
}

const ENDLESS: &str = "package programs; public class Endless {
    public static int loop(int a, int b) { try { while (true) { a++; } } catch (Exception e) { return 1; } }
    public static int deep(int a, int b) { try { return deep(a + 1, b) + 1; } catch (Exception e) { return 1; } }
    public static int plain(int a, int b) { return a + b; } }";

#[test]
fn programs_without_end_are_stopped() {
    let program = program(&[("programs/Endless.java", ENDLESS)]);
    let image = &program.program.image;
    let run = |name, cells: &mut [i32]| {
        let mut heap = program.heap();
        let mut exceptions = program.exceptions(&mut heap);
        program.run((&mut heap, &mut exceptions), image, cells, program.method("programs.Endless", name), &[2, 3])
    };
    assert_eq!(run("loop", &mut [0; 64]), Err(Stop::Limit));
    assert_eq!(run("deep", &mut [0; 256]), Err(Stop::Stack));
    assert_eq!(run("plain", &mut [0; 64]), Ok(End::Returned(Some(5))));
    // Arguments, two cells of operand stack and a link above the first frame.
    let needed = (0..64).find(|length| run("plain", &mut vec![0; *length]).is_ok());
    assert_eq!(needed, Some(3 + 2 + 3 + 2));
    for length in 0..10 {
        assert_eq!(run("plain", &mut vec![0; length]), Err(Stop::Stack), "{length} cells");
    }
}

#[test]
fn damaged_programs_end() {
    let program = program(&[("programs/Every.java", EVERY)]);
    let class = program.program.exports.classes.iter().find(|class| class.shape.name == "programs/Every").unwrap();
    let methods: Vec<u16> =
        class.methods.iter().filter(|((_, descriptor), _)| descriptor == "(II)I").map(|(_, number)| *number).collect();
    let run = seeds(0..1, "-p norn-card-linker --test suite bytecode::damaged_programs").next().unwrap();
    let mut random = run.random();
    let (mut taken, mut stopped) = (0, 0);
    for _ in 0..1_500 {
        let mut image = program.program.image.clone();
        for _ in 0..random.usize(1..3) {
            let at = random.usize(64..image.len());
            image[at] = if random.bool() { random.u8(..) } else { image[at] ^ 1 << random.u8(..8) };
        }
        // The machine itself has to bear what the checker refuses, too.
        taken += usize::from(check(&mut &image[..]).is_ok());
        let mut heap = program.heap();
        let mut exceptions = program.exceptions(&mut heap);
        for _ in 0..4 {
            let method = methods[random.usize(..methods.len())];
            let arguments = [VALUES[random.usize(..10)], VALUES[random.usize(..10)]];
            let end = program.run((&mut heap, &mut exceptions), &image, &mut [0; 300], method, &arguments);
            stopped += usize::from(!matches!(end, Ok(_) | Err(Stop::Limit)));
        }
    }
    assert!(taken > 200 && stopped > 200, "{taken} images taken, {stopped} runs stopped: {}", run.replay());
}
