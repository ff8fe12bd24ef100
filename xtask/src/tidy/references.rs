//! References to the pages of the repository lead somewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use anyhow::Result;

use super::Violation;
use crate::repository::Repository;

/// The anchors of each page.
type Pages = BTreeMap<PathBuf, BTreeSet<String>>;

/// Every page and heading that a comment or a page refers to is there.
pub(super) fn lead_somewhere(repository: &Repository) -> Result<Vec<Violation>> {
    let mut pages = Pages::new();
    for path in repository.files(&["md"])? {
        let anchors = anchors(&repository.read(&path)?);
        pages.insert(path, anchors);
    }
    let mut violations = Vec::new();
    for path in repository.files(&["md", "rs", "sql"])? {
        let is_page = path.extension().is_some_and(|extension| extension == "md");
        for (index, line) in repository.read(&path)?.lines().enumerate() {
            let found = if is_page {
                of_page(&path, line)
            } else {
                of_comment(line)
            };
            for reference in found.iter().filter(|it| !leads(&pages, it)) {
                let message = format!("`{reference}` leads nowhere");
                violations.push(Violation::at_line(&path, index + 1, message));
            }
        }
    }
    Ok(violations)
}

fn leads(pages: &Pages, reference: &str) -> bool {
    let (page, anchor) = reference.split_once('#').unwrap_or((reference, ""));
    let anchors = pages.get(Path::new(page));
    anchors.is_some_and(|anchors| anchor.is_empty() || anchors.contains(anchor))
}

/// The anchors of a page's headings, as forges make them.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut is_code = false;
    let mut anchors = BTreeSet::new();
    for line in page.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
        }
        let heading = line.trim_start_matches('#');
        if !is_code && heading.len() < line.len() && heading.starts_with(' ') {
            let kept = heading.trim().to_lowercase();
            let kept = kept.chars().filter_map(|letter| match letter {
                ' ' => Some('-'),
                '-' | '_' => Some(letter),
                _ => letter.is_alphanumeric().then_some(letter),
            });
            anchors.insert(kept.collect());
        }
    }
    anchors
}

/// References of a comment, which begin at the root of the repository.
fn of_comment(line: &str) -> Vec<String> {
    const BEGINNING: &str = "docs/";
    let text = line.trim_start();
    if !text.starts_with("//") && !text.starts_with("--") {
        return Vec::new();
    }
    let is_end = |letter: char| !(letter.is_alphanumeric() || "/._-#".contains(letter));
    text.match_indices(BEGINNING)
        .filter_map(|(start, _)| text[start..].split(is_end).next())
        .map(|reference| reference.trim_end_matches('.').to_owned())
        .filter(|reference| reference.contains(".md"))
        .collect()
}

/// Links of a page to other pages and to its own headings, from the root of the repository.
fn of_page(path: &Path, line: &str) -> Vec<String> {
    let targets = line.split("](").skip(1);
    targets
        .filter_map(|rest| rest.split_once(')').map(|(target, _)| target))
        .filter(|target| target.starts_with('#') || target.contains(".md"))
        .filter(|target| !target.contains("://"))
        .map(|target| {
            if target.starts_with('#') {
                return format!("{}{target}", path.display());
            }
            let folder = path.parent().unwrap_or(Path::new(""));
            normal(&folder.join(target)).display().to_string()
        })
        .collect()
}

/// The path without steps up.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                normal.pop();
            }
            part => normal.push(part),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn references_that_lead_nowhere_are_found() {
        let root = tempfile::tempdir().unwrap();
        let files = [
            (
                "docs/issues.md",
                "# Issues\n\n## The board's moves\n\n```\n# none\n```\n",
            ),
            (
                "docs/b.md",
                "[a](issues.md#the-boards-moves) [b](../README.md)\n[c](c.md) [d](#none) [e](https://x.y/z.md)\n",
            ),
            ("README.md", "[issues](docs/issues.md#none)\n"),
            (
                "src/a.rs",
                "/// A (docs/issues.md#the-boards-moves).\n// Of docs/none.md#x.\nlet a = \"docs/none.md\";\n",
            ),
        ];
        for (file, content) in files {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let violations = lead_somewhere(&Repository::at(root.path())).unwrap();
        let mut lines: Vec<_> = violations.iter().map(ToString::to_string).collect();
        lines.sort();
        assert_eq!(
            lines,
            [
                "README.md:1: `docs/issues.md#none` leads nowhere",
                "docs/b.md:2: `docs/b.md#none` leads nowhere",
                "docs/b.md:2: `docs/c.md` leads nowhere",
                "src/a.rs:2: `docs/none.md#x` leads nowhere",
            ]
        );
    }
}
