//! The faults of `java/crash/faults` are patches, which `tools/crash-faults` puts back into the tree to show that the
//! harness finds them. A change of the lines that a patch is about must change the patch, too.

use std::fs;

use crate::{none, root, sources_below};

/// The lines that the hunks of a patch replace, context included, with the file that each is in.
fn replaced(patch: &str) -> Vec<(String, String)> {
    let (mut hunks, mut file) = (Vec::<(String, String)>::new(), String::new());
    for line in patch.lines() {
        if let Some(path) = line.strip_prefix("--- a/") {
            file = path.to_owned();
        } else if line.starts_with("@@ ") {
            hunks.push((file.clone(), String::new()));
        } else if let (Some((_, lines)), Some(old)) = (hunks.last_mut(), line.strip_prefix([' ', '-'])) {
            *lines += &format!("{old}\n");
        }
    }
    hunks
}

#[test]
fn faults_apply() {
    let patches = sources_below(&root().join("java/crash/faults"), ".patch");
    assert!(patches.len() > 5, "the faults are where they were");
    let mut offences = Vec::new();
    for (path, patch) in patches {
        let hunks = replaced(&patch);
        assert!(!hunks.is_empty(), "{} changes nothing", path.display());
        for (file, lines) in hunks {
            let text = fs::read_to_string(root().join(&file)).unwrap_or_default();
            if !text.contains(&lines) {
                offences.push(format!("{}: {file} has not these lines:\n{lines}", path.display()));
            }
        }
    }
    none("faults that do not apply any more; make their patches anew for the code as it is", offences);
}

#[test]
fn a_hunk_names_its_file_and_what_it_replaces() {
    let patch = "Text.\n\ndiff --git a/A b/A\n--- a/A\n+++ b/A\n@@ -1,3 +1,3 @@ f\n x\n-y\n+z\n  w\n";
    assert_eq!(replaced(patch), [("A".to_owned(), "x\ny\n w\n".to_owned())]);
}
