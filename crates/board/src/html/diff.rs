//! What git says of two trees, as tables of lines.

mod colours;
mod patch;
mod words;

use askama::Template;
use askama::filters::HtmlSafe;

use super::output::Output;
use colours::Painter;
use patch::{Kind, Line, Patch};

/// The heaviest differences on a page, as markup.
const HEAVIEST: usize = 64 * 1024;
/// The markup of a row around its text.
const AROUND: usize = 150;
/// A file with more text than this has no colours.
const COLOURED: usize = 200 * 1024;
/// The longest line that is shown, in bytes.
const LONGEST: usize = 2000;

/// The differences of all files, or of one.
#[derive(Default)]
pub(crate) struct Diff {
    pub(crate) files: Vec<File>,
    /// Lines that are new, and lines that are gone.
    pub(crate) added: usize,
    pub(crate) removed: usize,
}

/// The differences of a file.
#[derive(Template)]
#[template(path = "parts/diff.html")]
pub(crate) struct File {
    /// Its place among the files.
    pub(crate) place: usize,
    pub(crate) path: String,
    pub(crate) added: usize,
    pub(crate) removed: usize,
    /// What is said of it beside its lines.
    note: String,
    rows: Vec<Row>,
    /// Whether its lines are shown elsewhere.
    is_left_out: bool,
    /// Where its lines, or more of them, are shown.
    more: Option<String>,
}

impl HtmlSafe for File {}

struct Row {
    class: &'static str,
    old: String,
    new: String,
    code: Code,
}

/// A line of text with its colours, as markup.
#[derive(Default)]
struct Code(String);

impl HtmlSafe for Code {}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which of the differences are wanted.
#[derive(Clone, Copy, Default)]
pub(crate) struct Wanted {
    /// The place of a file; `None` for all.
    pub(crate) file: Option<usize>,
    /// Its first line.
    pub(crate) from: usize,
}

impl Diff {
    /// Reads a patch. What does not fit on a page is shown under `link` with the place of the file
    /// and of the line.
    pub(crate) fn read(text: &str, wanted: Wanted, link: &str) -> Self {
        let patches = patch::read(text);
        let mut room = HEAVIEST;
        let files = patches.iter().enumerate().map(|(place, patch)| {
            let is_wanted = wanted.file.is_none_or(|file| file == place);
            let from = wanted.file.map_or(0, |_| wanted.from);
            let mut file = File::of(place, patch);
            let fits = wanted.file.is_some() || weight(patch) <= room;
            if is_wanted && fits {
                file.show(patch, from, link);
                room = room.saturating_sub(weight(patch));
            } else {
                file.is_left_out = true;
                file.more = Some(format!("{link}file={place}#f{place}"));
            }
            file
        });
        let files: Vec<_> = files.collect();
        Self {
            added: files.iter().map(|file| file.added).sum(),
            removed: files.iter().map(|file| file.removed).sum(),
            files,
        }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

/// How much markup a file takes at the least.
fn weight(patch: &Patch<'_>) -> usize {
    patch.lines.iter().map(weight_of).sum()
}

fn weight_of(line: &Line<'_>) -> usize {
    // Colours make it longer.
    AROUND + line.text.len().min(LONGEST) * 2
}

impl File {
    fn of(place: usize, patch: &Patch<'_>) -> Self {
        let count = |kind| patch.lines.iter().filter(|line| line.kind == kind).count();
        Self {
            place,
            path: Output::new(&patch.path).text().to_owned(),
            added: count(Kind::Added),
            removed: count(Kind::Removed),
            note: patch.note.clone(),
            rows: Vec::new(),
            is_left_out: false,
            more: None,
        }
    }

    /// Takes as many lines as fit on a page, from one on.
    fn show(&mut self, patch: &Patch<'_>, from: usize, link: &str) {
        let size: usize = patch.lines.iter().map(|line| line.text.len()).sum();
        let mut painter = Painter::of(&patch.path, size <= COLOURED);
        let marks = words::changed(&patch.lines);
        let mut heavy = 0;
        for (number, line) in patch.lines.iter().enumerate() {
            if heavy > HEAVIEST {
                let (place, rest) = (self.place, patch.lines.len() - number);
                self.note = format!("{rest} more lines");
                self.more = Some(format!("{link}file={place}&from={number}#f{place}"));
                return;
            }
            let mark = marks.get(number).cloned().flatten();
            let code = painter.paint(line, mark.as_ref());
            if number >= from {
                heavy += AROUND + code.len();
                self.rows.push(Row::of(line, code));
            }
        }
    }
}

impl Row {
    fn of(line: &Line<'_>, code: String) -> Self {
        let number = |number: Option<u32>| number.map(|it| it.to_string()).unwrap_or_default();
        Self {
            class: match line.kind {
                Kind::Hunk => "hunk",
                Kind::Same => "",
                Kind::Added => "add",
                Kind::Removed => "rem",
            },
            old: number(line.old),
            new: number(line.new),
            code: Code(code),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn markup(patch: &str) -> String {
        let diff = Diff::read(patch, Wanted::default(), "/x?");
        let files = diff
            .files
            .iter()
            .map(|file| file.render().unwrap_or_default());
        files.collect()
    }

    const RUST: &str = "diff --git a/src/a.rs b/src/a.rs\nindex 1..2 100644\n--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,3 +1,4 @@ mod a\n fn main() {\n-    let a = 1;\n+    let a = 2;\n+    // <b>\n }\n";

    #[test]
    fn lines_have_numbers_words_and_colours() {
        let diff = Diff::read(RUST, Wanted::default(), "/x?");
        assert_eq!((diff.added, diff.removed), (2, 1));
        let markup = markup(RUST);
        for shown in [
            "src/a.rs",
            "@@ -1,3 +1,4 @@ mod a",
            r#"<td class="l">2</td><td class="l"></td>"#,
            r#"<td class="l"></td><td class="l">3</td>"#,
            r#"<del class="k-n">1</del>"#,
            r#"<ins class="k-n">2</ins>"#,
            r#"<span class="k-k">let</span>"#,
            "&lt;b&gt;",
        ] {
            assert!(markup.contains(shown), "{shown}: {markup}");
        }
        assert!(!markup.contains("<b>"), "{markup}");
    }

    #[test]
    fn what_git_says_of_files_is_told() {
        for (patch, shown) in [
            (
                "diff --git a/a.png b/a.png\nindex 1..2\nBinary files a/a.png and b/a.png differ\n",
                "not text",
            ),
            (
                "diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n",
                "was a",
            ),
            (
                "diff --git a/a b/a\nnew file mode 100644\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x\n",
                "new",
            ),
            (
                "diff --git a/a b/a\ndeleted file mode 100644\n--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
                "deleted",
            ),
            (
                "diff --git \"a/\\303\\244<i>\" \"b/\\303\\244<i>\"\n--- \"a/\\303\\244<i>\"\n+++ \"b/\\303\\244<i>\"\n@@ -1 +1 @@\n-x\n+y\n",
                "ä",
            ),
            (
                "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1 @@\n--- a/b\n-diff --git a/c b/c\n+x\n\\ No newline at end of file\n",
                "-- a/b",
            ),
        ] {
            let markup = markup(patch);
            assert!(markup.contains(shown), "{shown}: {markup}");
            assert!(!markup.contains("<i>"), "{markup}");
            assert_eq!(Diff::read(patch, Wanted::default(), "").files.len(), 1);
        }
    }

    #[test]
    fn what_is_broken_or_huge_is_shown_all_the_same() {
        let line = "<&".repeat(500_000);
        let many = "+let a = \"x\"; // <&>\n".repeat(20_000);
        let head = "diff --git a/a.rs b/a.rs\n--- a/a.rs\n+++ b/a.rs\n";
        for patch in [
            format!("{head}@@ -1 +1 @@\n-{line}\n+{line}x\n"),
            format!("{head}@@ -0,0 +1,20000 @@\n{many}"),
            format!("{head}@@ -1,4 +1,99999999999 @@\n x"),
            "diff --git".to_owned(),
            "@@ -1 +1 @@\n+x".to_owned(),
            format!("{RUST}{}", RUST.replace("a.rs", "b.rs").repeat(200)),
        ] {
            let markup = markup(&patch);
            assert!(markup.len() < 190_000, "{}", markup.len());
        }
    }

    #[test]
    fn a_long_file_is_shown_in_parts() {
        let lines: String = (0..3000)
            .map(|number| format!("+line {number}\n"))
            .collect();
        let patch =
            format!("diff --git a/a b/a\n--- /dev/null\n+++ b/a\n@@ -0,0 +1,3000 @@\n{lines}");
        let all = Diff::read(&patch, Wanted::default(), "/x?");
        assert!(all.files.iter().all(|file| file.is_left_out));
        let (mut from, mut seen) = (0, 0);
        loop {
            let wanted = Wanted {
                file: Some(0),
                from,
            };
            let diff = Diff::read(&patch, wanted, "/x?");
            let file = diff
                .files
                .first()
                .map(|file| (file.rows.len(), file.more.clone()));
            let (rows, more) = file.unwrap_or_default();
            seen += rows;
            let Some(more) = more else { break };
            let (_, rest) = more.split_once("&from=").unwrap_or_default();
            from = rest.trim_end_matches("#f0").parse().unwrap_or(usize::MAX);
        }
        assert_eq!(seen, 3001);
    }
}
