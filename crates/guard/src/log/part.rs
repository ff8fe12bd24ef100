use std::path::{Path, PathBuf};

/// A file of a run's log. All of them lie beside each other, under the name of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogPart {
    /// The output as it came.
    Text,
    /// The end of an output that is longer than its cap, while it is written.
    Tail,
    /// When and to which stream it was written.
    Notes,
    /// The notes, until they are whole.
    NewNotes,
    /// The packed text, which takes the place of the text.
    Packed,
    /// The packed text, until it is whole.
    Packing,
}

impl LogPart {
    const ALL: [Self; 6] = [
        Self::Text,
        Self::Tail,
        Self::Notes,
        Self::NewNotes,
        Self::Packed,
        Self::Packing,
    ];

    const fn suffix(self) -> &'static str {
        match self {
            Self::Text => "",
            Self::Tail => ".tail",
            Self::Notes => ".times",
            Self::NewNotes => ".times.new",
            Self::Packed => ".z",
            Self::Packing => ".packing",
        }
    }

    /// The path of this part of the log whose text is at `log`.
    pub(super) fn beside(self, log: &Path) -> PathBuf {
        let mut name = log.as_os_str().to_owned();
        name.push(self.suffix());
        name.into()
    }

    /// Takes the name of such a file apart: `<run>.log` and the ending of the part. The run is
    /// whatever stands there.
    #[must_use]
    pub fn of_name(name: &str) -> Option<(&str, Self)> {
        let (run, suffix) = name.split_once(".log")?;
        let part = Self::ALL.into_iter().find(|it| it.suffix() == suffix)?;
        Some((run, part))
    }
}
