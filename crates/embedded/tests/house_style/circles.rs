//! Import circles: files of a crate, or Java packages of a module, that lead back to themselves by what they import.
//!
//! Where files import each other in a circle, none of them can be read, tested or changed alone. So no crate and no
//! Java module has a circle.
//!
//! An import is a `use`, or a path in the code, that names another file of the crate; for Java the name of another
//! package. What a crate's root or a `mod.rs` hands on with `pub use` it imports. Comments, strings and unit tests do
//! not count.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::{root, sources, sources_below};

/// Who imports whom, and one name of each import.
#[derive(Default)]
struct Imports(BTreeMap<String, BTreeMap<String, String>>);

impl Imports {
    fn add(&mut self, from: &str, to: &str, name: String) {
        self.0.entry(to.to_owned()).or_default();
        let imported = self.0.entry(from.to_owned()).or_default();
        if from != to {
            imported.entry(to.to_owned()).or_insert(name);
        }
    }

    /// All that `from` imports, directly or not.
    fn reach(&self, from: &str) -> BTreeSet<&str> {
        let (mut reached, mut waiting) = (BTreeSet::new(), vec![from]);
        while let Some(at) = waiting.pop() {
            for to in self.0[at].keys() {
                if reached.insert(&**to) {
                    waiting.push(to);
                }
            }
        }
        reached
    }

    /// Those that reach themselves.
    fn in_circles(&self) -> BTreeSet<&str> {
        self.0.keys().map(|name| &**name).filter(|name| self.reach(name).contains(name)).collect()
    }

    /// The imports that close circles, a line each.
    fn shown(&self) -> String {
        let mut lines = String::new();
        for from in self.in_circles() {
            for (to, name) in self.0[from].iter().filter(|(to, _)| self.reach(to).contains(from)) {
                lines += &format!("  {from} imports {to} ({name})\n");
            }
        }
        lines
    }
}

/// Asserts that no crate or module has files or packages in circles.
fn expect_no_circles(what: &str, all: BTreeMap<String, Imports>) {
    assert!(!all.is_empty(), "the sources are where they were");
    let mut offences = Vec::new();
    for (name, imports) in all {
        let (count, total) = (imports.in_circles().len(), imports.0.len());
        println!("{name}: {count} of {total} {what} in circles");
        if count > 0 {
            offences.push(format!("{name}: {count} {what} import each other in circles:\n{}", imports.shown()));
        }
    }
    assert!(offences.is_empty(), "{}", offences.join("\n"));
}

#[test]
fn files_of_a_crate_do_not_import_each_other_in_circles() {
    let mut crates: BTreeMap<String, Vec<(Vec<String>, String)>> = BTreeMap::new();
    for (path, text) in sources() {
        let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        if let Some(at) = parts.iter().position(|part| part == "src") {
            crates.entry(parts[at - 1].clone()).or_default().push((module_of(&parts[at + 1..]), text));
        }
    }
    let imports = |files: Vec<(Vec<String>, String)>| imports_of_files(&files);
    let all = crates.into_iter().map(|(name, files)| (name, imports(files))).collect();
    expect_no_circles("files", all);
}

#[test]
fn java_packages_do_not_import_each_other_in_circles() {
    let mut modules: BTreeMap<String, Vec<(PathBuf, String)>> = BTreeMap::new();
    for (path, text) in sources_below(&root().join("java"), ".java") {
        let module = path.iter().nth(1).unwrap().to_string_lossy().into_owned();
        if path.iter().any(|part| part == "main") {
            modules.entry(module).or_default().push((path, text));
        }
    }
    let all = modules.into_iter().map(|(name, files)| (name, imports_of_packages(&files))).collect();
    expect_no_circles("packages", all);
}

/// The module that a file below `src` is: nothing for a crate's root.
fn module_of(path: &[String]) -> Vec<String> {
    let mut module = path.to_vec();
    let file = module.pop().unwrap();
    match Path::new(&file).file_stem().unwrap().to_str().unwrap() {
        "lib" | "main" | "mod" => {}
        name => module.push(name.to_owned()),
    }
    module
}

fn imports_of_files(files: &[(Vec<String>, String)]) -> Imports {
    let modules: BTreeSet<&[String]> = files.iter().map(|(module, _)| &**module).collect();
    let name = |module: &[String]| if module.is_empty() { "the root".to_owned() } else { module.join("::") };
    let mut imports = Imports::default();
    for (module, text) in files {
        for (inside, path) in paths_of(text) {
            let here = [&**module, &inside].concat();
            let Some(absolute) = absolute(&path, &here, &modules) else {
                continue;
            };
            let file = (0..=absolute.len()).rev().map(|len| &absolute[..len]).find(|prefix| modules.contains(prefix));
            imports.add(&name(module), &name(file.unwrap_or_default()), path.join("::"));
        }
    }
    imports
}

/// A path from the crate's root; `None` for one of another crate, or of what was imported.
fn absolute(path: &[String], here: &[String], modules: &BTreeSet<&[String]>) -> Option<Vec<String>> {
    let supers = path.iter().take_while(|part| *part == "super").count();
    match path[0].as_str() {
        "crate" => Some(path[1..].to_vec()),
        "self" => Some([here, &path[1..]].concat()),
        "super" => Some([&here[..here.len().saturating_sub(supers)], &path[supers..]].concat()),
        first => {
            let child = [here, &[first.to_owned()]].concat();
            modules.contains(&*child).then(|| [here, path].concat())
        }
    }
}

/// Every path in a file, imports among them, with the modules inside the file in which it is.
fn paths_of(text: &str) -> Vec<(Vec<String>, Vec<String>)> {
    let tokens = tokens_of(text);
    let token = |at: usize| tokens.get(at).map_or("", |token| &**token);
    let (mut paths, mut inside, mut depth, mut at) = (Vec::new(), Vec::<(String, usize)>::new(), 0, 0);
    while at < tokens.len() {
        match token(at) {
            "mod" if token(at + 2) == "{" => {
                inside.push((token(at + 1).to_owned(), depth));
                (depth, at) = (depth + 1, at + 2);
            }
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                inside.pop_if(|(_, outside)| *outside == depth);
            }
            // What an `impl Trait + use<T>` captures is no import.
            "use" if token(at + 1) != "<" => {
                at = use_tree(&tokens, at + 1, &[], &mut |path| paths.push((names(&inside), path)))
            }
            name if token(at + 1) == "::" && is_name(name) => {
                let mut path = vec![name.to_owned()];
                while token(at + 1) == "::" && is_name(token(at + 2)) {
                    path.push(token(at + 2).to_owned());
                    at += 2;
                }
                paths.push((names(&inside), path));
            }
            _ => {}
        }
        at += 1;
    }
    paths.retain(|(inside, _)| !inside.iter().any(|module| module == "tests"));
    paths
}

fn names(inside: &[(String, usize)]) -> Vec<String> {
    inside.iter().map(|(name, _)| name.clone()).collect()
}

fn is_name(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// Takes the paths of a `use` from token `at` on; returns where it ends.
fn use_tree(tokens: &[String], mut at: usize, before: &[String], take: &mut impl FnMut(Vec<String>)) -> usize {
    let mut path = before.to_vec();
    while at < tokens.len() {
        match tokens[at].as_str() {
            "::" | "*" => {}
            "as" => at += 1,
            "{" => {
                loop {
                    at = use_tree(tokens, at + 1, &path, &mut *take);
                    if tokens.get(at).is_none_or(|token| token != ",") {
                        break;
                    }
                }
                path.clear();
            }
            "," | "}" | ";" => break,
            name => path.push(name.to_owned()),
        }
        at += 1;
    }
    if path.len() > before.len() || before.is_empty() && !path.is_empty() {
        take(path);
    }
    at
}

/// The names and signs of a source, without comments, strings and characters.
fn tokens_of(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let len = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '"' => string_len(rest),
            '\'' => character_len(rest),
            'r' if rest[1..].starts_with(['"', '#']) => raw_string_len(rest),
            _ if is_name(rest) => rest.find(|next: char| !next.is_alphanumeric() && next != '_').unwrap_or(rest.len()),
            ':' if rest.starts_with("::") => 2,
            _ => first.len_utf8(),
        };
        let token = &rest[..len.max(1)];
        if is_name(token) && !token.contains('"') || "::{},;*<".contains(token) {
            tokens.push(token.to_owned());
        }
        rest = &rest[token.len()..];
    }
    tokens
}

fn string_len(text: &str) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            '"' if !escaped => return at + 1,
            _ => escaped = character == '\\' && !escaped,
        }
    }
    text.len()
}

/// The length of a character, or of the quote of a lifetime.
fn character_len(text: &str) -> usize {
    let mut characters = text.char_indices().skip(1);
    match characters.next() {
        Some((_, '\\')) => text[2..].char_indices().skip(1).find(|(_, next)| *next == '\'').map_or(1, |(at, _)| at + 3),
        _ => characters.next().filter(|(_, next)| *next == '\'').map_or(1, |(at, _)| at + 1),
    }
}

fn raw_string_len(text: &str) -> usize {
    let hashes = text[1..].chars().take_while(|&next| next == '#').count();
    if !text[1 + hashes..].starts_with('"') {
        return 1;
    }
    let end = format!("\"{}", "#".repeat(hashes));
    text[2 + hashes..].find(&end).map_or(text.len(), |at| 2 + hashes + at + end.len())
}

fn imports_of_packages(files: &[(PathBuf, String)]) -> Imports {
    let package_of = |tokens: &[String]| {
        let at = tokens.iter().position(|token| token == "package")?;
        Some(tokens[at + 1..].iter().take_while(|token| *token != ";").cloned().collect::<Vec<_>>())
    };
    let parsed: Vec<_> = files.iter().map(|(_, text)| java_tokens_of(text)).collect();
    let packages: BTreeSet<Vec<String>> = parsed.iter().filter_map(|tokens| package_of(tokens)).collect();
    let mut imports = Imports::default();
    for tokens in &parsed {
        let Some(here) = package_of(tokens) else {
            continue;
        };
        for named in tokens.split(|token| !is_name(token)).filter(|named| named.len() > 1) {
            // The longest of the project's packages that the name begins with.
            let package = (1..named.len()).rev().map(|len| &named[..len]).find(|prefix| packages.contains(*prefix));
            if let Some(package) = package {
                imports.add(&here.join("."), &package.join("."), named.join("."));
            }
        }
    }
    imports
}

/// The tokens of a Java source, in which a dotted name is some tokens in a row, and another sign is between any two
/// names.
fn java_tokens_of(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut dotted = false;
    for token in tokens_of(&text.replace('.', "::")) {
        match token.as_str() {
            "::" => dotted = true,
            _ => {
                if !dotted && token != "package" && tokens.last().is_some_and(|last| last != "package") {
                    tokens.push(";".to_owned());
                }
                dotted = false;
                tokens.push(token);
            }
        }
    }
    tokens
}

#[test]
fn circles_are_found_in_uses_and_in_paths() {
    let file = |module: &str, text: &str| {
        let module = if module.is_empty() { vec![] } else { module.split("::").map(str::to_owned).collect() };
        (module, text.to_owned())
    };
    let mut files = vec![
        file("", "mod a; mod b; mod c; pub use a::{One, deep::Two as Other};"),
        file(
            "a",
            "//! crate::b
             use crate::{b::{Three, Four}, c};
             fn f<'a>(x: &'a str) -> impl Iterator + use<'a> { g('\"', \"crate::c::X\") }",
        ),
        file("a::deep", "use super::super::c::Five;"),
        file("b", "mod tests { use crate::a::One; }\n/* use crate::a::One; */"),
        file("c", "mod inner { fn f() { super::super::b::g(r#\"crate::a::deep\"#) } }"),
    ];
    let imports = imports_of_files(&files);
    assert_eq!(imports.in_circles(), BTreeSet::new(), "{}", imports.shown());
    assert_eq!(imports.reach("a::deep"), BTreeSet::from(["b", "c"]));
    files[3].1 += "fn g() { let x = crate::a::deep::Two::new(); }";
    let imports = imports_of_files(&files);
    assert_eq!(imports.in_circles(), BTreeSet::from(["a::deep", "b", "c"]), "{}", imports.shown());

    let java = |text: &str| (PathBuf::new(), text.to_owned());
    let mut files = vec![
        java("package dev.norn.a; import dev.norn.b.inner.One; class Two { String three = \"dev.norn.c.Four\"; }"),
        java("package dev.norn.b.inner; import static dev.norn.c.Four.five; class One {}"),
        java("package dev.norn.c; // dev.norn.a\nclass Four { java.util.List<String> six; }"),
    ];
    assert_eq!(imports_of_packages(&files).in_circles(), BTreeSet::new());
    files[2].1 += "class Seven { static { dev.norn.a.Two.eight(); } }";
    let all = BTreeSet::from(["dev.norn.a", "dev.norn.b.inner", "dev.norn.c"]);
    assert_eq!(imports_of_packages(&files).in_circles(), all);
}
