use std::collections::VecDeque;
use std::sync::Arc;

use aho_corasick::automaton::StateID;

use super::escapes::{Escapes, Meant, Row};
use super::forms::LEAVING_OUT;
use super::search::Search;

/// Line breaks and indentation between two characters of base64 are at most so
/// long.
const LONGEST_BREAK: usize = 64;

/// What is looked for, by how the text is read.
#[derive(Default)]
pub(super) struct Searches {
    /// In the text as it is written.
    pub(super) written: Option<Search>,
    /// In the text as it is meant, without escapes.
    pub(super) meant: Option<Search>,
    /// In the same without line breaks.
    pub(super) unbroken: Option<Search>,
}

/// Reads a text byte by byte and tells where values stand in it. Each reading
/// looks at every byte once.
pub(super) struct Finder {
    searches: Arc<Searches>,
    /// How much of the text was read.
    at: usize,
    escapes: Escapes,
    written: Track,
    unescaped: Unescaped,
}

/// How far the readings of what is meant have come.
struct Unescaped {
    meant: Track,
    unbroken: Track,
    /// How long the line break is that was just read.
    broken_for: usize,
}

/// How far one reading has come.
#[derive(Default)]
struct Track {
    state: StateID,
    /// Where those bytes stand that may be the beginning of a find.
    starts: VecDeque<usize>,
}

impl Finder {
    pub(super) fn new(searches: Arc<Searches>) -> Self {
        Self {
            at: 0,
            escapes: Escapes::default(),
            written: Track::new(searches.written.as_ref()),
            unescaped: Unescaped::new(&searches),
            searches,
        }
    }

    /// Reads the next byte; `note` is told of the start and the end of what is
    /// found.
    pub(super) fn push(&mut self, byte: u8, note: &mut impl FnMut(usize, usize)) {
        let Self {
            searches,
            escapes,
            unescaped,
            ..
        } = self;
        let (start, end) = (self.at, self.at + 1);
        self.at = end;
        let written = Meant { byte, start, end };
        self.written.push(searches.written.as_ref(), written, note);
        let row = escapes.push(byte, start, &mut |meant| {
            unescaped.read(searches, meant, note);
        });
        if row == Row::TooLong {
            *unescaped = Unescaped::new(searches);
        }
    }

    /// No more comes.
    pub(super) fn finish(&mut self, note: &mut impl FnMut(usize, usize)) {
        let (searches, unescaped) = (&self.searches, &mut self.unescaped);
        self.escapes.finish(self.at, &mut |meant| {
            unescaped.read(searches, meant, note);
        });
    }

    /// No find begins before this that was not told of.
    pub(super) fn bound(&self) -> usize {
        let unescaped = [&self.unescaped.meant, &self.unescaped.unbroken];
        let tracks = unescaped.into_iter().chain([&self.written]);
        let begun = tracks.filter_map(|track| track.starts.front().copied());
        begun.chain(self.escapes.pending()).min().unwrap_or(self.at)
    }
}

impl Unescaped {
    fn new(searches: &Searches) -> Self {
        Self {
            meant: Track::new(searches.meant.as_ref()),
            unbroken: Track::new(searches.unbroken.as_ref()),
            broken_for: 0,
        }
    }

    fn read(&mut self, searches: &Searches, meant: Meant, note: &mut impl FnMut(usize, usize)) {
        self.meant.push(searches.meant.as_ref(), meant, note);
        let search = searches.unbroken.as_ref();
        let is_break = matches!(meant.byte, b'\r' | b'\n')
            || (self.broken_for > 0 && matches!(meant.byte, b' ' | b'\t'));
        if !is_break {
            self.broken_for = 0;
            self.unbroken.push(search, meant, note);
            return;
        }
        self.broken_for += 1;
        // Almost every line ends like something that could be the beginning of
        // a value, and would be held back. What begins so shortly before a
        // line break is looked for without its beginning.
        if self.unbroken.starts.len() <= LEAVING_OUT || self.broken_for > LONGEST_BREAK {
            self.unbroken = Track::new(search);
        }
    }
}

impl Track {
    fn new(search: Option<&Search>) -> Self {
        Self {
            state: search.map(Search::start).unwrap_or_default(),
            starts: VecDeque::new(),
        }
    }

    fn push(&mut self, search: Option<&Search>, meant: Meant, note: &mut impl FnMut(usize, usize)) {
        let Some(search) = search else {
            return;
        };
        self.state = search.next(self.state, meant.byte);
        self.starts.push_back(meant.start);
        let found = search.longest(self.state);
        if found > 0 {
            note(self.starts[self.starts.len() - found], meant.end);
        }
        let begun = search.depth(self.state);
        self.starts.drain(..self.starts.len() - begun);
    }
}
