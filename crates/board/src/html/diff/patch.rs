//! Reads the unified diff that git writes.

/// The differences of a file.
pub(super) struct Patch<'a> {
    pub(super) path: String,
    /// What git says of it beside its lines.
    pub(super) note: String,
    pub(super) lines: Vec<Line<'a>>,
}

/// A line of a patch.
pub(super) struct Line<'a> {
    pub(super) kind: Kind,
    /// Its number before and after.
    pub(super) old: Option<u32>,
    pub(super) new: Option<u32>,
    pub(super) text: &'a str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Where lines are left out.
    Hunk,
    Same,
    Added,
    Removed,
}

/// How many lines of a hunk are still to come, and their numbers.
#[derive(Clone, Copy, Default)]
struct Hunk {
    old: u32,
    new: u32,
    old_left: u64,
    new_left: u64,
}

/// The files of a patch. What stands before the first of them is nobody's.
pub(super) fn read(text: &str) -> Vec<Patch<'_>> {
    let mut patches: Vec<Patch<'_>> = Vec::new();
    let mut hunk = Hunk::default();
    for line in text.split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if hunk.is_open()
            && let Some(patch) = patches.last_mut()
            && let Some(line) = hunk.line(line)
        {
            patch.lines.push(line);
            continue;
        }
        hunk = Hunk::default();
        if let Some(names) = line.strip_prefix("diff --git ") {
            patches.push(Patch::named(names));
        } else if let Some(patch) = patches.last_mut() {
            if line.starts_with("@@ ") {
                hunk = Hunk::begun(line);
                patch.lines.push(Line {
                    kind: Kind::Hunk,
                    old: None,
                    new: None,
                    text: line,
                });
            } else {
                patch.head(line);
            }
        }
    }
    patches
}

impl Hunk {
    const fn is_open(self) -> bool {
        self.old_left > 0 || self.new_left > 0
    }

    /// Reads `@@ -1,3 +1,4 @@ mod a`.
    fn begun(line: &str) -> Self {
        let mut ranges = line.split(' ').skip(1).map(|range| {
            let range = range.trim_start_matches(['-', '+']);
            let (first, count) = range.split_once(',').unwrap_or((range, "1"));
            (first.parse().unwrap_or(1), count.parse().unwrap_or(0))
        });
        let (old, old_left) = ranges.next().unwrap_or_default();
        let (new, new_left) = ranges.next().unwrap_or_default();
        Self {
            old,
            new,
            old_left,
            new_left,
        }
    }

    /// A line of the hunk; `None` for what is none.
    fn line<'a>(&mut self, line: &'a str) -> Option<Line<'a>> {
        let mut chars = line.chars();
        let kind = match chars.next() {
            // Some tools leave out the blank of an empty line.
            Some(' ') | None => Kind::Same,
            Some('+') => Kind::Added,
            Some('-') => Kind::Removed,
            _ => return None,
        };
        let (old, new) = (kind != Kind::Added, kind != Kind::Removed);
        let read = Line {
            kind,
            old: old.then_some(self.old),
            new: new.then_some(self.new),
            text: chars.as_str(),
        };
        if old {
            self.old = self.old.saturating_add(1);
            self.old_left = self.old_left.saturating_sub(1);
        }
        if new {
            self.new = self.new.saturating_add(1);
            self.new_left = self.new_left.saturating_sub(1);
        }
        Some(read)
    }
}

impl Patch<'_> {
    /// Of `a/old b/new`, as far as that can be told; lines that follow say it exactly.
    fn named(names: &str) -> Self {
        let end = names.rfind(" b/").or_else(|| names.rfind(" \"b/"));
        let name = end.map_or(names, |end| names.split_at(end + 1).1);
        Self {
            path: path(name),
            note: String::new(),
            lines: Vec::new(),
        }
    }

    /// A line of the head of a file.
    fn head(&mut self, line: &str) {
        if let Some(name) = line.strip_prefix("+++ ") {
            if name != "/dev/null" {
                self.path = path(name);
            }
        } else if let Some(name) = line.strip_prefix("--- ") {
            if name != "/dev/null" {
                self.path = path(name);
            }
        } else if let Some(name) = line.strip_prefix("rename to ") {
            self.path = unquoted(name);
        } else if let Some(name) = line.strip_prefix("rename from ") {
            self.note = format!("was {}", unquoted(name));
        } else if line.starts_with("new file") {
            "new".clone_into(&mut self.note);
        } else if line.starts_with("deleted file") {
            "deleted".clone_into(&mut self.note);
        } else if line.starts_with("Binary files ") || line.starts_with("GIT binary patch") {
            "not text, so its lines are not shown".clone_into(&mut self.note);
        } else if let Some(mode) = line.strip_prefix("new mode ") {
            self.note = format!("its mode is {mode} now");
        }
    }
}

/// A path without the letter of its side.
fn path(name: &str) -> String {
    let name = unquoted(name.trim_end_matches('\t'));
    let plain = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/"));
    plain.map_or(name.clone(), str::to_owned)
}

/// A name that git may have put between quotes, with octal numbers for bytes.
fn unquoted(name: &str) -> String {
    let Some(inner) = name.strip_prefix('"').and_then(|it| it.strip_suffix('"')) else {
        return name.to_owned();
    };
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    if let Some(digit) = rest.next_if(|it| matches!(it, b'0'..=b'7')) {
                        value = value * 8 + u32::from(digit - b'0');
                    }
                }
                bytes.push(u8::try_from(value).unwrap_or(b'?'));
            }
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
