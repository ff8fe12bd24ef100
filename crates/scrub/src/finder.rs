use std::collections::VecDeque;
use std::sync::Arc;

use aho_corasick::automaton::StateID;

use super::escapes::{Escapes, Meant, Row};
use super::forms::LEAVING_OUT;
use super::search::Search;

/// The most bytes of line breaks and indentation between two characters of
/// base64.
const LONGEST_BREAK: usize = 64;

/// The patterns, one set for each reading of the text.
#[derive(Default)]
pub(super) struct Searches {
    /// For the text as it is written.
    pub(super) written: Option<Search>,
    /// For the text as it is meant, without escapes.
    pub(super) meant: Option<Search>,
    /// For the text as it is meant, without line breaks.
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
    /// Where the latest bytes begin that may still become a find.
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

    /// Reads the next byte; `note` gets the start and the end of each find.
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

    /// Ends the text.
    pub(super) fn finish(&mut self, note: &mut impl FnMut(usize, usize)) {
        let (searches, unescaped) = (&self.searches, &mut self.unescaped);
        self.escapes.finish(self.at, &mut |meant| {
            unescaped.read(searches, meant, note);
        });
    }

    /// Every find that begins before this place has been noted.
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
        // The end of almost every line could begin a value, and would be held
        // back. So a value that begins this shortly before a line break is
        // looked for without its first characters.
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
