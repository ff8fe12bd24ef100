use super::fence::{self, Fenced, HEADING};
use super::{BESIDE_TITLE, IssueLine, MAX_LINE};

/// A part of a prompt that is being written.
#[derive(Debug, Default)]
pub(super) struct Draft {
    text: String,
    cut: bool,
}

impl Draft {
    /// Begins a section.
    pub(super) fn section(&mut self, title: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(HEADING);
        self.text.push_str(title);
        self.text.push_str("\n\n");
    }

    /// Adds a line of workforce's own words.
    pub(super) fn line(&mut self, words: &str) {
        self.text.push_str(words);
        self.text.push('\n');
    }

    /// Adds what was fenced.
    pub(super) fn push_fenced(&mut self, fenced: &Fenced) {
        self.cut |= fenced.cut;
        self.text.push_str(&fenced.text);
    }

    /// Adds the mark of what is left out.
    pub(super) fn push_mark(&mut self, bytes: usize) {
        self.cut = true;
        fence::push_mark(&mut self.text, bytes);
    }

    /// A text in a line, to be used within the words of workforce.
    pub(super) fn inline(&mut self, text: &str, room: usize) -> String {
        let line = fence::one_line(text, room);
        self.cut |= line.cut;
        line.text
    }

    /// A title or a name in a line, which cannot end its quotation marks.
    pub(super) fn name(&mut self, text: &str) -> String {
        self.inline(text, MAX_LINE).replace('"', "'")
    }

    /// Adds an issue as an item of a list.
    pub(super) fn item(&mut self, issue: &IssueLine) {
        let identifier = self.inline(&issue.identifier, BESIDE_TITLE / 2);
        let title = self.name(&issue.title);
        let (status, priority) = (issue.status, issue.priority);
        self.line(&format!(
            "- {identifier} ({status}, {priority}): \"{title}\""
        ));
    }

    /// Whether something was left out.
    pub(super) const fn is_cut(&self) -> bool {
        self.cut
    }

    /// The text.
    pub(super) fn into_text(self) -> String {
        self.text
    }
}
