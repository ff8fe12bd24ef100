//! The parts of the documentation that come from the code.
//!
//! A part stands between `<!-- generated:NAME -->` and `<!-- /generated -->`, each on a line of its
//! own. To add one, put the two lines in a file of `docs/`, a line in [`SECTIONS`], and run
//! `cargo xtask codegen`.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::reference;

/// The name of a part that is a whole file, which needs no markers.
const WHOLE_FILE: &str = "";

/// One generated part of one file.
struct Section {
    /// The path from the root of the repository.
    file: &'static str,
    /// The name in the opening marker, or [`WHOLE_FILE`].
    name: &'static str,
    /// Makes the text between the markers.
    render: fn() -> String,
}

/// Every generated part.
const SECTIONS: &[Section] = &[
    Section {
        file: "openapi.json",
        name: WHOLE_FILE,
        render: reference::openapi,
    },
    Section {
        file: "docs/errors.md",
        name: "errors",
        render: reference::errors,
    },
    Section {
        file: "docs/endpoints.md",
        name: "access-rules",
        render: reference::access_rules,
    },
    Section {
        file: "docs/endpoints.md",
        name: "common-errors",
        render: reference::common_errors,
    },
    Section {
        file: "docs/endpoints.md",
        name: "endpoints",
        render: reference::endpoints,
    },
    Section {
        file: "docs/lifecycles.md",
        name: "issue-agents",
        render: reference::issue_agents,
    },
    Section {
        file: "docs/lifecycles.md",
        name: "issue-board",
        render: reference::issue_board,
    },
    Section {
        file: "docs/lifecycles.md",
        name: "approval",
        render: reference::approval,
    },
    Section {
        file: "docs/lifecycles.md",
        name: "run",
        render: reference::run,
    },
    Section {
        file: "docs/lifecycles.md",
        name: "wake",
        render: reference::wake,
    },
    Section {
        file: "docs/lifecycles.md",
        name: "agent",
        render: reference::agent,
    },
    Section {
        file: "docs/lifecycles.md",
        name: "company",
        render: reference::company,
    },
];

const CLOSING_MARKER: &str = "<!-- /generated -->";

/// Writes every part of [`SECTIONS`] in the repository at `root` that is out of date.
pub(crate) fn write(root: &Path) -> Result<()> {
    for Stale { file, content, .. } in stale(root, SECTIONS)? {
        fs::write(root.join(file), content).with_context(|| format!("failed to write {file}"))?;
        println!("wrote {file}");
    }
    tell_up_to_date();
    Ok(())
}

/// Fails, and names them, when parts of [`SECTIONS`] are out of date.
pub(crate) fn check(root: &Path) -> Result<()> {
    let stale = stale(root, SECTIONS)?;
    if !stale.is_empty() {
        let hints: Vec<_> = stale.iter().map(|stale| stale.hint.as_str()).collect();
        bail!(
            "generated text is out of date; run `cargo xtask codegen`\n{}",
            hints.join("\n")
        );
    }
    tell_up_to_date();
    Ok(())
}

fn tell_up_to_date() {
    println!("{} generated parts are up to date", SECTIONS.len());
}

/// A file whose content is not what the code says.
struct Stale {
    file: &'static str,
    /// What the file should hold.
    content: String,
    /// Where the two first differ, for people.
    hint: String,
}

fn stale(root: &Path, sections: &[Section]) -> Result<Vec<Stale>> {
    let mut files: Vec<_> = sections.iter().map(|section| section.file).collect();
    files.sort_unstable();
    files.dedup();
    let mut stale = Vec::new();
    for file in files {
        let old = fs::read_to_string(root.join(file))
            .with_context(|| format!("failed to read {file}"))?;
        let mut content = old.clone();
        for section in sections.iter().filter(|section| section.file == file) {
            let generated = (section.render)();
            content = match section.name {
                WHOLE_FILE => generated,
                name => replace(&content, name, &generated)
                    .with_context(|| format!("failed to generate a part of {file}"))?,
            };
        }
        if content != old {
            let hint = first_difference(file, &old, &content);
            stale.push(Stale {
                file,
                content,
                hint,
            });
        }
    }
    Ok(stale)
}

/// `text` with `generated` between the markers of `name`.
fn replace(text: &str, name: &str, generated: &str) -> Result<String> {
    let opening = format!("<!-- generated:{name} -->");
    let mut parts = text.split(&opening);
    let (Some(before), Some(rest), None) = (parts.next(), parts.next(), parts.next()) else {
        bail!("`{opening}` must stand there exactly once");
    };
    let Some((old, after)) = rest.split_once(CLOSING_MARKER) else {
        bail!("`{opening}` has no `{CLOSING_MARKER}`");
    };
    if old.contains("<!-- generated:") {
        bail!("`{opening}` has no `{CLOSING_MARKER}` before the next part");
    }
    // The blank lines keep Markdown from taking a table for a part of the comment.
    Ok(format!(
        "{before}{opening}\n\n{}\n\n{CLOSING_MARKER}{after}",
        generated.trim()
    ))
}

fn first_difference(file: &str, old: &str, new: &str) -> String {
    let (mut old_lines, mut new_lines) = (old.lines(), new.lines());
    let mut number = 0;
    loop {
        number += 1;
        match (old_lines.next(), new_lines.next()) {
            (Some(old), Some(new)) if old == new => {}
            (None, None) => return format!("{file}: the ends of lines differ"),
            (old, new) => {
                let shown = |line: Option<&str>| line.unwrap_or("(end of file)").to_owned();
                return format!("{file}:{number}\n  - {}\n  + {}", shown(old), shown(new));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Page\n<!-- generated:colours -->\nold\n<!-- /generated -->\n\nBy hand.\n";
    const SECTION: Section = Section {
        file: "docs/page.md",
        name: "colours",
        render: || "red\nblue\n".to_owned(),
    };

    fn repository(page: &str) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("docs")).unwrap();
        fs::write(root.path().join("docs/page.md"), page).unwrap();
        root
    }

    #[test]
    fn generated_text_of_this_repository_is_up_to_date() {
        check(&crate::root()).unwrap();
    }

    #[test]
    fn only_the_text_between_the_markers_is_replaced() {
        assert_eq!(
            replace(PAGE, "colours", "red\nblue\n").unwrap(),
            "# Page\n<!-- generated:colours -->\n\nred\nblue\n\n<!-- /generated -->\n\nBy hand.\n"
        );
    }

    #[test]
    fn a_stale_page_is_shown_by_its_first_different_line_and_is_fresh_once_written() {
        let root = repository(PAGE);

        let found = stale(root.path(), &[SECTION]).unwrap();

        assert_eq!(found.len(), 1);
        assert_eq!(found[0].hint, "docs/page.md:3\n  - old\n  + ");
        fs::write(root.path().join(found[0].file), &found[0].content).unwrap();
        assert!(stale(root.path(), &[SECTION]).unwrap().is_empty());
    }

    #[test]
    fn missing_repeated_and_unclosed_markers_are_refused() {
        for page in [
            "",
            "<!-- generated:colours -->",
            "<!-- generated:colours --><!-- generated:other --><!-- /generated -->",
            &PAGE.repeat(2),
        ] {
            assert!(replace(page, "colours", "red").is_err(), "{page}");
        }
    }
}
