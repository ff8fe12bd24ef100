//! Reads a text as it was before it was written as JSON, once or several times.

/// A longer row of backslashes does not come from writing as JSON, which
/// doubles them each time.
const MOST_BACKSLASHES: usize = 64;
/// What stands for half of a character that has no other half.
const LONE_HALF: char = '\u{fffd}';

/// A byte of the text as it is meant, and the range that spells it in the text
/// as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Meant {
    pub(super) byte: u8,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Takes escapes back byte by byte. Backslashes are left out, alone or in rows.
/// So a text reads the same as it is, written as JSON, as `echo` repeats it, or
/// within other JSON.
#[derive(Debug, Default)]
pub(super) struct Escapes {
    seen: Seen,
    /// The first half of a character that takes two, and where it stands.
    half: Option<(u16, usize, usize)>,
}

#[derive(Clone, Copy, Debug, Default)]
enum Seen {
    #[default]
    Nothing,
    /// Backslashes from here on.
    Backslashes { from: usize },
    /// Backslashes, `u`, and some of its four digits.
    Number {
        from: usize,
        digits: [u8; 4],
        len: usize,
    },
}

/// What to do about a row of backslashes without end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// Nothing.
    Usual,
    /// What came before has nothing to do with what follows.
    TooLong,
}

impl Escapes {
    /// The whole of a text as it is meant.
    pub(super) fn taken_back(text: &str) -> String {
        let mut bytes = Vec::with_capacity(text.len());
        let mut escapes = Self::default();
        for (at, byte) in text.bytes().enumerate() {
            escapes.push(byte, at, &mut |meant| bytes.push(meant.byte));
        }
        escapes.finish(text.len(), &mut |meant| bytes.push(meant.byte));
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Takes the byte at a place of the text. `emit` gets each byte that is
    /// meant, as soon as that is known.
    pub(super) fn push(&mut self, byte: u8, at: usize, emit: &mut impl FnMut(Meant)) -> Row {
        match self.seen {
            Seen::Nothing if byte == b'\\' => self.seen = Seen::Backslashes { from: at },
            Seen::Nothing => self.put(byte, at, at + 1, emit),
            Seen::Backslashes { from } if byte == b'\\' => {
                if at - from >= MOST_BACKSLASHES {
                    *self = Self {
                        seen: Seen::Backslashes { from: at },
                        half: None,
                    };
                    return Row::TooLong;
                }
            }
            Seen::Backslashes { from } if byte == b'u' => {
                self.seen = Seen::Number {
                    from,
                    digits: [0; 4],
                    len: 0,
                };
            }
            Seen::Backslashes { from } => {
                self.seen = Seen::Nothing;
                self.put(control(byte), from, at + 1, emit);
            }
            Seen::Number {
                from,
                mut digits,
                len,
            } if byte.is_ascii_hexdigit() => {
                digits[len] = byte;
                if len + 1 < digits.len() {
                    let len = len + 1;
                    self.seen = Seen::Number { from, digits, len };
                } else {
                    self.seen = Seen::Nothing;
                    self.put_unit(unit(digits), from, at + 1, emit);
                }
            }
            Seen::Number { .. } => {
                self.give_up(at, emit);
                return self.push(byte, at, emit);
            }
        }
        Row::Usual
    }

    /// No more comes after `end`.
    pub(super) fn finish(&mut self, end: usize, emit: &mut impl FnMut(Meant)) {
        self.give_up(end, emit);
        self.put_half(emit);
    }

    /// Where the bytes begin whose meaning is not known yet.
    pub(super) fn pending(&self) -> Option<usize> {
        let seen = match self.seen {
            Seen::Nothing => None,
            Seen::Backslashes { from } | Seen::Number { from, .. } => Some(from),
        };
        self.half.map(|(_, from, _)| from).or(seen)
    }

    /// What looked like a number up to `end` is none.
    fn give_up(&mut self, end: usize, emit: &mut impl FnMut(Meant)) {
        if let Seen::Number { from, digits, len } = self.seen {
            let digits_at = end - len;
            self.put(b'u', from, digits_at, emit);
            for (at, digit) in (digits_at..end).zip(digits) {
                self.put(digit, at, at + 1, emit);
            }
        }
        self.seen = Seen::Nothing;
    }

    fn put(&mut self, byte: u8, start: usize, end: usize, emit: &mut impl FnMut(Meant)) {
        self.put_half(emit);
        emit(Meant { byte, start, end });
    }

    fn put_unit(&mut self, unit: u16, from: usize, end: usize, emit: &mut impl FnMut(Meant)) {
        let half = self.half.take();
        let units = half.iter().map(|(first, ..)| *first).chain([unit]);
        let whole = char::decode_utf16(units).next().and_then(Result::ok);
        match (half, whole) {
            (Some((_, start, _)), Some(whole)) => put_char(whole, start, end, emit),
            (None, Some(whole)) => put_char(whole, from, end, emit),
            (half, None) => {
                self.half = half;
                self.put_half(emit);
                if matches!(unit, 0xd800..=0xdbff) {
                    self.half = Some((unit, from, end));
                } else {
                    let alone = char::from_u32(unit.into()).unwrap_or(LONE_HALF);
                    put_char(alone, from, end, emit);
                }
            }
        }
    }

    fn put_half(&mut self, emit: &mut impl FnMut(Meant)) {
        if let Some((_, start, end)) = self.half.take() {
            put_char(LONE_HALF, start, end, emit);
        }
    }
}

fn put_char(character: char, start: usize, end: usize, emit: &mut impl FnMut(Meant)) {
    for byte in character.encode_utf8(&mut [0; 4]).bytes() {
        emit(Meant { byte, start, end });
    }
}

/// What a letter means after a backslash, in JSON or to `echo`.
const fn control(letter: u8) -> u8 {
    match letter {
        b'a' => 0x07,
        b'b' => 0x08,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 0x0b,
        other => other,
    }
}

fn unit(digits: [u8; 4]) -> u16 {
    digits.iter().fold(0, |unit, &digit| {
        let value = char::from(digit).to_digit(16).unwrap_or(0);
        unit << 4 | value as u16
    })
}
