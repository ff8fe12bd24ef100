/// An open code fence: closed by a line of at least as many of its marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fence {
    mark: char,
    length: usize,
}

impl Fence {
    /// The fence that a line opens.
    pub(super) fn opened_by(line: &str) -> Option<Self> {
        let content = line.trim_start();
        let mark = content.chars().next().filter(|&c| c == '`' || c == '~')?;
        let length = run_length(content, mark);
        let info = &content[length..];
        (length >= 3 && !(mark == '`' && info.contains('`'))).then_some(Self { mark, length })
    }

    /// Whether a line closes the fence.
    pub(super) fn is_closed_by(self, line: &str) -> bool {
        let content = line.trim();
        let length = run_length(content, self.mark);
        length >= self.length && length == content.len()
    }
}

fn run_length(text: &str, mark: char) -> usize {
    text.len() - text.trim_start_matches(mark).len()
}
