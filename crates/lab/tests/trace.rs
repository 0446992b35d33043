//! `norn-lab trace` and `norn-lab run paging --data` on the command line: a trace of an installed program, what a
//! replay of it says, and what is refused. Recording takes valgrind, which tools/ensure-test-programs installs.

use std::process::Command;

use norn_desk::Desk;

#[test]
fn a_program_is_recorded_and_replayed() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn-lab"));
    let recorded = desk.run("trace record --out echo.runs.zst -- echo four words are said");
    assert_eq!(recorded.code, 0, "{}", recorded.errors);
    assert!(
        recorded.output.starts_with("echo.runs.zst: ") && recorded.output.contains(" instructions, "),
        "{}",
        recorded.output
    );
    assert!(recorded.errors.contains("four words are said"), "what the program says is on stderr: {}", recorded.errors);

    let again = desk.run("trace record --out again.runs --instructions 50 -- echo four words are said");
    assert!(again.output.contains(", 50 instructions, "), "{}", again.output);
    let status = desk.run("trace record --out false.runs -- false");
    assert_eq!((status.code, status.output.contains("ended with exit status: 1")), (0, true), "{}", status.output);

    let replayed = desk.succeed("trace replay echo.runs.zst");
    assert!(replayed.contains("32 frames of 64 bytes over k9f1208q0b, LRU: "), "{replayed}");
    let misses = |text: &str| -> u64 {
        let before = text.split(" misses").next().unwrap();
        before.rsplit(' ').next().unwrap().parse().unwrap()
    };
    let fewer = desk.succeed("trace replay echo.runs.zst --frames 2");
    assert!(misses(&fewer) > misses(&replayed) && misses(&replayed) > 0, "{fewer}{replayed}");
    desk.fail("trace record --out echo.runs.zst -- echo", &["echo.runs.zst", "never overwritten"]);
}

/// What a program's child executes is no part of its trace.
#[test]
fn a_forked_child_is_left_out() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn-lab"));
    let loops = "i=0; while [ $i -lt 400 ]; do i=$((i + 1)); done";
    desk.write("alone", loops);
    desk.write("child", format!("({loops}); true"));
    let instructions = |script: &str| -> u64 {
        let said = desk.succeed(&format!("trace record --out {script}.runs -- sh {script}"));
        said.split(" instructions").next().unwrap().rsplit(' ').next().unwrap().parse().unwrap()
    };
    let (alone, with_child) = (instructions("alone"), instructions("child"));
    assert!(
        2 * with_child < alone,
        "{with_child} instructions of a program whose child loops, {alone} of one that does"
    );
}

#[test]
fn without_valgrind_it_says_what_to_install() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn-lab"));
    let program = std::path::Path::new("/bin/true").canonicalize().unwrap();
    let mut norn = Command::new(env!("CARGO_BIN_EXE_norn-lab"));
    norn.args(["trace", "record", "--out", "t.runs", "--"])
        .arg(program)
        .env("PATH", desk.path(""))
        .current_dir(desk.path(""));
    let output = norn.output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("valgrind is not installed: `apt install valgrind`"), "{errors}");
    assert!(!desk.path("t.runs").exists());
}

#[test]
fn mistakes_are_named() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn-lab"));
    desk.fail("trace record --out t.runs -- no-such-program", &["no-such-program", "PATH"]);
    desk.fail("trace record --out t.runs", &["PROGRAM"]);
    desk.write("script", "#!/bin/sh\n");
    desk.fail("trace record --out t.runs -- ./script", &["./script", "not a program with a code section"]);

    let run = |address: u32, bytes: u16| [&address.to_le_bytes()[..], &bytes.to_le_bytes(), &[1, 0]].concat();
    desk.write("cut.runs", &run(0, 8)[..7]);
    desk.fail("trace replay cut.runs", &["cut.runs", "truncated: 7 bytes are not whole records of 8"]);
    desk.write("none.runs", "");
    desk.fail("trace replay none.runs", &["none.runs", "no records"]);
    desk.write("cut.runs.zst", [0x28, 0xB5, 0x2F, 0xFD, 0]);
    desk.fail("trace replay cut.runs.zst", &["cut.runs.zst"]);
    desk.fail("trace replay nowhere.runs", &["nowhere.runs"]);
    desk.write("good.runs", [run(0, 8), run(100, 50)].concat());
    desk.fail("trace replay good.runs --frames 0", &["good.runs", "a cache of 0 frames"]);
    desk.fail("trace replay good.runs --page 96", &["cache pages of 96 bytes do not divide the part's pages of 512"]);
    desk.fail("trace replay good.runs --page 1024", &["1024", "512"]);
    desk.write("large.runs", run(1 << 30, 8));
    desk.fail("trace replay large.runs", &["large.runs", "code of 1073741832 bytes does not fit the part's 67108864"]);
}

#[test]
fn a_quick_run_takes_the_beginnings_of_traces_or_says_that_there_are_none() {
    let desk = Desk::of(env!("CARGO_BIN_EXE_norn-lab"));
    let quick = "run paging-tables paging-codes --quick --threads 1 --out out";
    desk.fail(&format!("{quick} --data nowhere"), &["nowhere"]);
    std::fs::create_dir(desk.path("empty")).unwrap();
    let made_up = desk.run(&format!("{quick} --data empty"));
    assert_eq!(made_up.code, 0, "{}", made_up.errors);
    assert!(made_up.output.contains("empty has no NAME.runs"), "{}", made_up.output);

    std::fs::create_dir(desk.path("data")).unwrap();
    let run = |number: u32| [&(number * 40 % 9000).to_le_bytes()[..], &[30, 0], &[9, 0]].concat();
    desk.write("data/mine.runs", (0..30_000).flat_map(run).collect::<Vec<u8>>());
    let mine = desk.run("run paging-codes --quick --threads 1 --out mine --data data");
    assert_eq!(mine.code, 0, "{}", mine.errors);
    assert!(mine.output.contains("mine-beginning: ") && !mine.output.contains("has no NAME.runs"), "{}", mine.output);
    let inputs = "run paging-inputs --quick --threads 2 --out inputs --data data";
    let made_up = desk.run(inputs);
    assert!(made_up.output.contains("data has no PROGRAM with two traces or more"), "{}", made_up.output);
    std::fs::create_dir(desk.path("data/program")).unwrap();
    for input in [1, 2] {
        let runs = (0..6_000).flat_map(|number| run(number * input)).collect::<Vec<u8>>();
        desk.write(&format!("data/program/{input}.runs"), runs);
    }
    let program = desk.run(inputs);
    assert!(program.output.contains("\n| program | ") && !program.output.contains("made-up"), "{}", program.output);
    desk.write("data/mine.runs", [1, 2, 3]);
    desk.fail("run paging-codes --quick --threads 1 --out mine --data data", &["mine.runs", "truncated: 3 bytes"]);
}
