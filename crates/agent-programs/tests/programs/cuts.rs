//! However the bytes are cut, the same is read.

use workforce_agent_programs::UsageBaseline;

use crate::numbers::Numbers;
use crate::recording::{RUN, Recording, names};

fn check(mut length: impl FnMut() -> usize) {
    for program in RUN {
        for case in names(program) {
            let recording = Recording::read(program, &case);
            let pieces = recording.told_in_pieces(UsageBaseline::NEW_SESSION, &mut length);
            assert_eq!(pieces, recording.told(), "{program} {case}");
        }
    }
}

#[test]
fn byte_by_byte() {
    check(|| 1);
}

#[test]
fn in_pieces_of_any_length() {
    let mut lengths = Numbers::new();
    for _ in 0..3 {
        check(|| lengths.below(700));
    }
}

#[test]
fn with_the_line_breaks_of_windows_and_without_the_last_one() {
    for program in RUN {
        let mut recording = Recording::read(program, "full");
        let told = recording.told();
        let text = String::from_utf8(recording.stdout).unwrap();
        recording.stdout = text.trim_end().replace('\n', "\r\n").into_bytes();
        assert_eq!(recording.told(), told, "{program}");
    }
}
