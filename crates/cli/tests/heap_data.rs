//! Proves that a heap is the same after `heap export` and `heap import`, with either engine, that types of a document
//! are used both ways, that what is wrong with a document is named, and that the format is as its chapter says.

use crate::purses;

use std::fs;

use norn_desk::{Desk, line};
use norn_flash_sim::{NorSim, catalogue};
use norn_heap::{Layout, ObjectHeap};
use norn_heap_image::mount;
use purses::make_purses;

fn desk() -> Desk {
    Desk::of(env!("CARGO_BIN_EXE_norn"))
}

/// What is shown of a heap, without how it is kept and the part.
fn heap_shown(desk: &Desk, image: &str) -> String {
    let shown = desk.succeed(&format!("heap show {image} --fields"));
    let heap = shown.split("\nengine ").next().unwrap().lines().map(|line| {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        // The last column is what an object is kept in.
        if words.iter().any(|word| ["Kind", "object", "array"].contains(word)) {
            words.pop();
        }
        words.join(" ") + "\n"
    });
    let mut lines: Vec<String> = heap.collect();
    // Roots are shown in any order.
    let roots = lines.iter().position(|line| line == "\n").unwrap();
    lines[..roots].sort();
    lines.concat()
}

/// What a terminal would obey was printed in a form that is no JSON.
#[test]
fn a_printed_export_says_what_one_in_a_file_says() {
    let desk = desk();
    let class = r#"{ "name": "c", "fields": [{ "name": "t", "type": "text8" }] }"#;
    let object = r#""a": { "class": "c", "fields": { "t": "q\u007f\u202er" } }"#;
    let roots = r#"{ "ro\u202eot": "a", "k\u007f": "a", "z\u0085\\": "a" }"#;
    desk.write(
        "c.json",
        format!(r#"{{ "classes": [{class}], "objects": {{ {object} }}, "roots": {roots} }}"#).as_bytes(),
    );
    desk.succeed("heap import c.json a.img");
    desk.succeed("heap export a.img file.json --types c.json");
    let printed = desk.succeed("heap export a.img --types c.json");
    assert!(!printed.contains(['\u{7f}', '\u{85}', '\u{202e}']), "{printed:?}");
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!(value(&printed), value(&fs::read_to_string(desk.path("file.json")).unwrap()));
}

#[test]
fn a_heap_is_the_same_after_an_export_and_an_import() {
    let desk = desk();
    make_purses(&desk, "a.img", Some(catalogue::test_part(16, 4096)), Some((3, 100)));
    let mut device = NorSim::open_image(&desk.path("a.img")).unwrap();
    let mut heap = mount(&mut device).unwrap();
    let mixed = heap.create(Layout::fields(&[1, 2, 3, 4, 8, 9]).with_header(&[0, 0xFF])).unwrap();
    heap.put_field(mixed, 4, &[0xFF; 8]).unwrap();
    heap.set_root(b"\xFFroot", Some(mixed)).unwrap();
    let long = heap.create_array(700, 3, b"").unwrap();
    heap.array_store(long, 699, b"end").unwrap();
    drop(device);
    let exported = desk.succeed("heap export a.img");
    desk.write("a.json", &exported);
    for (name, options) in [
        ("b", "--part test-16x4096 --engine tinystore"),
        ("c", "--part test-32x4096 --engine tinystore --array-threshold 40"),
        ("d", "--part stm32l4:64 --engine tinystore"),
    ] {
        let said = desk.succeed(&format!("heap import a.json {name}.img {options}"));
        assert!(said.contains("objects 5, arrays 3, roots 4"), "{said}");
        let (found, expected) = (heap_shown(&desk, &format!("{name}.img")), heap_shown(&desk, "a.img"));
        let differs = found.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
        assert_eq!((differs, found.lines().count()), (None, expected.lines().count()), "{options}");
        assert_eq!(line(&desk.succeed(&format!("heap check {name}.img")), "violations"), "0");
        assert_eq!(desk.succeed(&format!("heap export {name}.img --types a.json")), exported);
    }
    // The log-structured heap has no slot 0.
    desk.fail("heap import a.json e.img", &["a.json: the engine cannot give #0."]);
    assert!(!desk.path("e.img").exists());
    desk.succeed("heap export a.img b.json");
    assert_eq!(fs::read_to_string(desk.path("b.json")).unwrap(), exported);
    desk.fail("heap export a.img b.json", &["b.json: there is such a file; it is never overwritten"]);
}

const TYPED: &str = r#"{
  "classes": [
    { "name": "person", "header": "01", "fields": [
      { "name": "name", "type": "text8" }, { "name": "boss", "type": "ref" }, { "name": "balance", "type": "i32" } ] },
    { "name": "place", "header": "02", "fields": [
      { "name": "name", "type": "text8" }, { "name": "east", "type": "f32" }, { "name": "north", "type": "f32" } ] }
  ],
  "objects": {
    "ann": { "class": "person", "fields": { "name": "Ann", "balance": -70 } },
    "bob": { "class": "person", "fields": { "name": "Bob", "boss": "ann", "balance": 2147483647 } },
    "here": { "class": "place", "fields": { "name": "hall", "east": 8.25 } },
    "rows": { "array": "u16", "elements": [1, 65535] },
    "raw": { "array": "u8", "header": "ff", "elements": "00ff10" }
  },
  "roots": { "first": "bob", "rows": "rows" }
}"#;

#[test]
fn types_are_used_both_ways() {
    let desk = desk();
    desk.write("typed.json", TYPED);
    for engine in ["log", "tinystore"] {
        let image = format!("{engine}.img");
        let said = desk.succeed(&format!("heap import typed.json {image} --part test-16x2048 --engine {engine}"));
        assert!(said.contains(&format!("on test-16x2048, engine {engine}: objects 3, arrays 2, roots 2")), "{said}");
        let exported = desk.succeed(&format!("heap export {image} --types typed.json"));
        for part in [
            r##""#2.1": {
      "class": "person",
      "fields": {
        "name": "Bob",
        "boss": "#1.1",
        "balance": 2147483647"##,
            r#""balance": -70"#,
            r#""boss": null"#,
            r#""east": 8.25"#,
            r#""elements": "00ff10""#,
            r##""first": "#2.1""##,
        ] {
            assert!(exported.contains(part), "{part} is not in {exported}");
        }
        let untyped = desk.succeed(&format!("heap export {image}"));
        assert!(untyped.contains(r#""type": "u64""#) && !untyped.contains("person"), "{untyped}");
        desk.write("again.json", &exported);
        desk.succeed(&format!("heap import again.json again-{image} --part test-16x2048 --engine {engine}"));
        assert_eq!(desk.succeed(&format!("heap export again-{image} --types again.json")), exported);
    }
}

#[test]
fn what_is_wrong_with_a_document_is_named() {
    let desk = desk();
    let document = |objects: &str, roots: &str| {
        format!(
            r#"{{ "classes": [{{ "name": "a",
                 "fields": [{{ "name": "x", "type": "u8" }}, {{ "name": "y", "type": "ref" }}] }}],
               "objects": {{ {objects} }}, "roots": {{ {roots} }} }}"#
        )
    };
    let wide = |fields: usize| {
        let fields: Vec<String> = (0..fields).map(|at| format!(r#"{{ "name": "{at}", "type": "u8" }}"#)).collect();
        format!(
            r#"{{ "classes": [{{ "name": "a", "fields": [{}] }}], "objects": {{ "o": {{ "class": "a" }} }} }}"#,
            fields.join(",")
        )
    };
    for (text, said) in [
        ("{".to_owned(), "EOF while parsing an object at line 1 column 1"),
        (
            r#"{ "object": {} }"#.to_owned(),
            r#"a member "object": there are only error_detection, classes, objects, roots"#,
        ),
        (document(r#""o": { "class": "b" }"#, ""), r#"object o: no class is called "b""#),
        (document(r#""o": { "class": "a", "fields": { "z": 1 } }"#, ""), r#"object o: class a has no field "z""#),
        (
            document(r#""o": { "class": "a", "fields": { "x": 256 } }"#, ""),
            "object o, field x: 256 is not a value of type u8",
        ),
        (
            document(r#""o": { "class": "a", "fields": { "y": "p" } }"#, ""),
            r#"object o, field y: no object is called "p""#,
        ),
        (document(r#""o": { "array": "u7", "elements": [] }"#, ""), r#"object o, array: "u7" is not a type"#),
        (document(r#""o": { "array": "u16", "elements": "00" }"#, ""), "object o: elements are an array of values"),
        (
            r#"{ "classes": [{ "name": "a", "fields": [{ "name": "x", "type": "u8" }] },
                             { "name": "a", "fields": [{ "name": "y", "type": "u8" }] }] }"#
                .to_owned(),
            "two classes are called \"a\"",
        ),
        (document(r#""o": { "class": "a" }"#, r#""r": "o", "hex:72": "o""#), "root r: the name is there twice"),
        (document(r#""o": { "class": "a" }, "o": { "class": "a" }"#, ""), r#"objects: "o" is there twice at line 3"#),
        (
            document(r#""o": { "class": "a", "fields": { "x": 1, "x": 2 } }"#, ""),
            r#"object o, fields: "x" is there twice at line 3"#,
        ),
        (
            document(r#""o": { "array": "f32", "elements": [1e39] }"#, ""),
            "object o, elements[0]: 1e+39 is not a value of type f32",
        ),
        (document(r##""#70000.1": { "class": "a" }"##, ""), "object #70000.1: not a reference such as #3.1"),
        (document("", r#""r": "o""#), r#"root r: no object is called "o""#),
        (document("", r##""r": "#1.1""##), r##"root r: no object is called "#1.1""##),
        // Arrays of the members' values, in their order, were taken for objects.
        (
            "[false, [], {}, {}]".to_owned(),
            "an array in place of an object with error_detection, classes, objects, roots",
        ),
        (
            r#"{ "classes": [["a", null, []]] }"#.to_owned(),
            "classes[0]: an array in place of an object with name, header, fields",
        ),
        (
            r#"{ "classes": [{ "name": "a", "fields": [["x", "u8"]] }] }"#.to_owned(),
            "classes[0], fields[0]: an array in place of an object with name, type",
        ),
        (
            document(r#""o": ["a", null, {}]"#, ""),
            "object o: an array in place of an object with class, header, fields",
        ),
        (document(r#""o": { "class": "a", "fields": [1] }"#, ""), "object o, fields: an array in place of an object"),
        (document(r#""o": { "class": 7 }"#, ""), "object o, class: a number in place of a string"),
        (document(r#""o": { "array": "u8", "elements": true }"#, ""), "object o: elements are an array of values"),
        (document(r#""o": { "array": "u8" }"#, ""), r#"object o: the member "elements" is missing"#),
        (document("", r#""r": null"#), "root r: null in place of a string"),
        // Errors of JSON itself say in which object they are.
        (document(r#""o": { "class": "a" }, "p": { "class" }"#, ""), "object p, class: expected `:` at line 3"),
        (
            document(r#""o": { "class": "a", "fields": { "x": 01 } }"#, ""),
            "object o, field x: invalid number at line 3",
        ),
        (
            document(r#""o": { "array": "u8", "elements": [1, x] }"#, ""),
            "object o, elements[1]: expected value at line 3",
        ),
        (
            r#"{ "classes": [{}, { "name": "a" "fields": [] }] }"#.to_owned(),
            "classes[1]: expected `,` or `}` at line 1",
        ),
        // What the heap refuses is where the document has it.
        (document(r#""o": { "array": "u8", "elements": [] }"#, ""), "object o: an object or array needs at least one"),
        (
            document(r#""o": { "class": "a" }"#, &format!(r#""{}": "o""#, "r".repeat(33))),
            "root rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr: a name of 33 bytes: from 1 to 32",
        ),
        (document(r#""o": { "class": "a" }"#, r#""hex:0g": "o""#), r#"root hex:0g: "0g" is not hexadecimal"#),
        // Classes that no object is of, too.
        (wide(256), "class a: 256 fields: a class has from 1 to 255"),
        (wide(0), "class a: 0 fields: a class has from 1 to 255"),
        (
            document(r##""#1.1": { "class": "a" }, "#1.2": { "class": "a" }"##, ""),
            "object #1.2: slot 1 is that of #1.1",
        ),
        (document(r#""o": { "array": "text01", "elements": [] }"#, ""), r#"object o, array: "text01" is not a type"#),
        (
            r#"{ "classes": [{ "name": "a", "header": "01", "fields": [{ "name": "x", "type": "u8" }] }],
                 "objects": { "o": { "class": "a", "header": "02" } } }"#
                .to_owned(),
            "object o, header: it is not the header of class a, 01",
        ),
        (document(r#""o": { "class": "a" }"#, r#""": "o""#), r#"root "": a name of 0 bytes: from 1 to 32"#),
        (document(r#""o": { "class": "a" }"#, r#""hex:": "o""#), r#"root "": a name of 0 bytes: from 1 to 32"#),
        // Messages are of one line, and not as long as what they are about.
        ("[".repeat(300), "[0][0], [0][0], [0]: nested too deeply at line 1 column 128"),
        (
            document("\"o\": { \"class\": \"a\", \"fields\": { \"\\u001b[31m\\nx\": 1 } }", ""),
            r#"object o: class a has no field "\u001b[31m\nx""#,
        ),
        (format!("{{ \"{}\": 1 }}", "x".repeat(1_000_000)), &format!("a member \"{}…\": there", "x".repeat(80))),
        (
            document(
                &format!("\"o\": {{ \"class\": \"a\", \"fields\": {{ \"x\": \"{}\" }} }}", "x".repeat(1_000_000)),
                "",
            ),
            &format!("object o, field x: \"{}… is not a value", "x".repeat(79)),
        ),
        (document(r#""o": { "class": "a", "header": "0" }"#, ""), r#"object o, header: "0" is not hexadecimal"#),
    ] {
        desk.write("a.json", &text);
        let answer = desk.run("heap import a.json a.img --part test-8x2048 --engine tinystore");
        assert_eq!((answer.code, answer.errors.lines().count()), (2, 1), "{}", answer.errors);
        assert!(
            answer.errors.starts_with("norn: a.json: ") && answer.errors.contains(said),
            "{said}: {}",
            answer.errors
        );
        assert!(answer.errors.len() < 400 && !desk.path("a.img").exists(), "{}", answer.errors);
    }
    // Bytes that are no text.
    for (bytes, said) in [
        (&b"{ \"objects\":\n { \"\xff\": {} } }"[..], "byte 0xff at line 2 column 5 is not UTF-8\n"),
        (b"\xff\xfe{\0}\0", "byte 0xff at line 1 column 1 is not UTF-8: the file is UTF-16, save it as UTF-8"),
    ] {
        desk.write("a.json", bytes);
        desk.fail("heap import a.json a.img --part test-16x2048", &["norn: a.json: ", said]);
    }
    desk.write("a.json", "\u{feff}{}");
    desk.succeed("heap import a.json empty.img --part test-16x2048");
    // The number is 0, and -0.0 of floats.
    desk.write(
        "a.json",
        document(r#""o": { "class": "a", "fields": { "x": -0 } }, "p": { "array": "f32", "elements": [-0] }"#, ""),
    );
    desk.succeed("heap import a.json zeros.img --part test-16x2048");
    let zeros = desk.succeed("heap show zeros.img --fields");
    assert!(zeros.contains("     0  00\n") && zeros.contains("     0  00000080\n"), "{zeros}");
    desk.write("a.json", document(r#""o": { "array": "u64", "elements": [1, 2] }"#, ""));
    desk.succeed("heap import a.json a.img --part test-8x2048 --engine tinystore");
    desk.fail("heap import a.json a.img --part test-8x2048 --engine tinystore", &["a.img", "never overwritten"]);
    let row = vec!["1"; 3000].join(",");
    desk.write("large.json", document(&format!(r#""o": {{ "array": "u64", "elements": [{row}] }}"#), ""));
    desk.fail("heap import large.json b.img --part test-8x2048 --engine tinystore", &["large.json: object o: "]);
    desk.fail("heap export a.img --types a.img", &["norn: a.img: "]);
}

/// Such a class has a mistake in it mostly.
#[test]
fn classes_that_fit_no_object_are_named() {
    let desk = desk();
    desk.write("typed.json", TYPED);
    desk.succeed("heap import typed.json a.img --part test-16x2048");
    desk.write(
        "types.json",
        r#"{ "classes": [
        { "name": "person", "fields": [
          { "name": "n", "type": "text8" }, { "name": "b", "type": "ref" }, { "name": "m", "type": "i32" } ] },
        { "name": "place", "header": "02", "fields": [
          { "name": "n", "type": "text8" }, { "name": "e", "type": "f32" }, { "name": "s", "type": "f32" } ] },
        { "name": "short", "header": "01", "fields": [{ "name": "n", "type": "text8" }] } ] }"#,
    );
    let exported = desk.run("heap export a.img --types types.json");
    assert_eq!(exported.code, 0, "{}", exported.errors);
    assert_eq!(
        exported.errors,
        "norn: types.json: class place: an earlier class takes its objects: they have the same widths\n\
         norn: types.json: class short: no object has fields of 8 bytes and the header 01\n"
    );
    assert_eq!(desk.run("--quiet heap export a.img --types types.json").errors, "");
    assert_eq!(desk.run("heap export a.img --types typed.json").errors, "");
}

/// The examples of the format's chapter: one as it is exported, and one of the same heap that was written by hand.
#[test]
fn the_documented_examples_are_of_one_heap() {
    let chapter = include_str!("../../../docs/format/heap-json.md");
    let blocks = chapter.split("```json\n").skip(1).map(|block| block.split("```").next().unwrap());
    let [exported, written] = blocks.collect::<Vec<_>>()[..] else { panic!("two examples") };
    assert_eq!(fs::read_to_string(norn_desk::example("accounts.json")).unwrap(), written);
    let desk = desk();
    desk.write("exported.json", exported);
    desk.write("written.json", written);
    for engine in ["log", "tinystore"] {
        for name in ["exported", "written"] {
            let image = format!("{name}-{engine}.img");
            desk.succeed(&format!("heap import {name}.json {image} --part test-32x2048 --engine {engine}"));
            assert_eq!(desk.succeed(&format!("heap export {image} --types exported.json")), exported, "{image}");
        }
    }
}
