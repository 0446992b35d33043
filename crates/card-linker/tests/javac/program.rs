//! Programs linked with `java.lang`, run, and compared with the JDK.

use std::convert::Infallible;
use std::fmt::Debug;
use std::path::{Path, PathBuf};

use norn_card_linker::{Aid, ClassFile, LinkConfig, LinkedPackage, Natives, Version, link};
use norn_card_package::{Package, check};
use norn_card_vm::{End, Form, Machine, Objects, Packages, RUNTIME, Stop};

use super::heap::{Exceptions, Heap};
use super::{Compiled, java_lang, jdk, sources};

/// Bytecodes that a run may take.
const BYTECODES: u32 = 100_000;

/// What programs are called with.
pub const VALUES: [i32; 10] = [i32::MIN, -40000, -1, 0, 1, 2, 7, 255, 70000, i32::MAX];

/// `java.lang` and a program, linked.
pub struct Program {
    pub lang: LinkedPackage,
    pub program: LinkedPackage,
    pub headers: [Package; 2],
    /// Where its class files are.
    classes: PathBuf,
}

/// A package linked from classes.
fn linked(classes: &[Compiled], aid: u8, imports: &[&LinkedPackage]) -> LinkedPackage {
    let classes: Vec<ClassFile> = classes.iter().map(Compiled::read).collect();
    let imports: Vec<_> = imports.iter().map(|package| package.exports.clone()).collect();
    let config = LinkConfig {
        aid: Aid::new(&[0xF0, 0, 0, 0, aid]).unwrap(),
        version: Version { major: 1, minor: 0 },
        applets: Vec::new(),
        requires: Vec::new(),
        natives: Natives::Refused,
        previous: None,
    };
    link(&classes, &imports, &config).unwrap_or_else(|error| panic!("{error}"))
}

/// Compiles and links a program.
pub fn program(texts: &[(&str, &str)]) -> Program {
    let (lang_room, lang) = java_lang();
    let (classes, compiled) = sources(texts, &[&lang_room]);
    let lang = linked(&lang, 0, &[]);
    let program = linked(&compiled, 1, &[&lang]);
    let headers = [check(&mut &lang.image[..]).unwrap(), check(&mut &program.image[..]).unwrap()];
    Program { lang, program, headers, classes }
}

impl Program {
    /// What the JDK says of its classes of some names: a line for each method and each pair of values.
    pub fn in_the_jdk(&self, names: &[&str]) -> String {
        let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/Results.java");
        let path = ["java", "-XX:TieredStopAtLevel=1", "-cp", self.classes.to_str().unwrap(), driver.to_str().unwrap()];
        let values: Vec<String> = VALUES.iter().map(i32::to_string).collect();
        let values = [":"].into_iter().chain(values.iter().map(String::as_str));
        let output = jdk(&path.into_iter().chain(names.iter().copied()).chain(values).collect::<Vec<_>>());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Objects in memory, the packages' static fields among them.
    pub fn heap(&self) -> Heap {
        let mut heap = Heap::default();
        heap.install(0, &self.headers[0], &self.lang.image);
        heap.install(1, &self.headers[1], &self.program.image);
        heap
    }

    /// The number of a method of the program.
    pub fn method(&self, class: &str, name: &str) -> u16 {
        let class = class.replace('.', "/");
        let layout = self.program.exports.classes.iter().find(|layout| layout.shape.name == class).unwrap();
        layout.methods[&(name.to_owned(), "(II)I".to_owned())]
    }

    /// The exceptions of the machine.
    pub fn exceptions<O: Objects<Error: Debug>>(&self, objects: &mut O) -> Exceptions {
        Exceptions::prepare(&self.lang.exports, objects)
    }

    /// Runs a method of an image of the program.
    pub fn run<O: Objects<Error: Debug>>(
        &self,
        (heap, runtime): (&mut O, &mut Exceptions),
        image: &[u8],
        cells: &mut [i32],
        method: u16,
        arguments: &[i32],
    ) -> Result<End, Stop<O::Error, Infallible>> {
        let object = self.lang.exports.classes.iter().find(|class| class.shape.name == "java/lang/Object").unwrap();
        let packages = &mut [(self.headers[0], &self.lang.image[..], &[][..]), (self.headers[1], image, &[0][..])];
        let mut code = Packages { packages, object_class: (0, object.number) };
        let mut machine = Machine::new(heap, &mut code, runtime, cells, BYTECODES);
        machine.run(RUNTIME, (1, method), arguments)
    }

    /// The name of an object's class in Java.
    pub fn class_name<O: Objects<Error: Debug>>(&self, heap: &mut O, reference: i32) -> String {
        let Ok(Form::Object(class)) = heap.form(reference) else { panic!("an array is thrown") };
        let exports = [&self.lang.exports, &self.program.exports][usize::from(class.package)];
        let layout = exports.classes.iter().find(|layout| layout.number == class.class).unwrap();
        layout.shape.name.replace('/', ".")
    }

    /// Compares with each line of what the JDK says; returns how many.
    pub fn compare<O: Objects<Error: Debug>>(&self, mut heap: O, expected: &str, context: &str) -> usize {
        let mut exceptions = self.exceptions(&mut heap);
        let mut cells = [0; 512];
        for line in expected.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let arguments = [words[2].parse().unwrap(), words[3].parse().unwrap()];
            let method = self.method(words[0], words[1]);
            let found =
                match self.run((&mut heap, &mut exceptions), &self.program.image, &mut cells, method, &arguments) {
                    Ok(End::Returned(Some(value))) => value.to_string(),
                    Ok(End::Thrown(thrown)) => self.class_name(&mut heap, thrown),
                    other => format!("{other:?}"),
                };
            assert_eq!(found, words[4], "{line}: {context}");
        }
        expected.lines().count()
    }
}
