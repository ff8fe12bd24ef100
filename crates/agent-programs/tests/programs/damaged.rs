//! Real output that was damaged: what holds of every run holds of these too.

use workforce_agent_programs::{ProgramEvent, SessionId, UsageBaseline};

use crate::numbers::Numbers;
use crate::recording::{RUN, Recording, Told, names};

/// Reads each recording once as `damage` leaves it.
fn check(mut damage: impl FnMut(&mut Vec<u8>, &mut Numbers)) {
    let mut numbers = Numbers::new();
    for program in RUN {
        for case in names(program) {
            let mut recording = Recording::read(program, &case);
            damage(&mut recording.stdout, &mut numbers);
            check_run(&recording.told(), &case);
            check_run(&recording.told_after(UsageBaseline::UNKNOWN), &case);
        }
    }
}

#[track_caller]
fn check_run(told: &Told, case: &str) {
    let conclusion = &told.conclusion;
    let total = conclusion.total.unwrap_or_default();
    let cost = conclusion.cost.unwrap_or_default();
    assert_eq!(told.sum(), (total, cost), "{case}");
    assert_eq!(
        told.message().is_empty(),
        told.outcome() == "succeeded",
        "{case}"
    );
    // No recorded run uses as many, and no damage makes it more.
    assert!(total.sum() < 100_000_000_000_000, "{case}: {total:?}");
    for event in &told.events {
        if let ProgramEvent::SessionStarted { id, .. } = event {
            assert!(SessionId::parse(id.as_str()).is_ok());
        }
    }
}

#[test]
fn bytes_that_changed() {
    check(|bytes, numbers| {
        for _ in 0..bytes.len() / 500 {
            let place = numbers.below(bytes.len());
            bytes[place] = u8::try_from(numbers.below(256)).unwrap();
        }
    });
}

#[test]
fn digits_that_changed() {
    check(|bytes, numbers| {
        for byte in bytes.iter_mut().filter(|byte| byte.is_ascii_digit()) {
            if numbers.below(4) == 0 {
                *byte = b"0123456789-.e"[numbers.below(13)];
            }
        }
    });
}

#[test]
fn lines_that_came_in_another_order_or_twice_or_not_at_all() {
    check(|bytes, numbers| {
        let lines: Vec<_> = bytes.split(|byte| *byte == b'\n').collect();
        let picked = lines.iter().map(|_| lines[numbers.below(lines.len())]);
        *bytes = picked.collect::<Vec<_>>().join(&b'\n');
    });
}

#[test]
fn an_end_that_is_missing() {
    check(|bytes, numbers| bytes.truncate(numbers.below(bytes.len() + 1)));
}

/// The last event of one program in the output of another means nothing, and
/// breaks nothing.
#[test]
fn output_of_another_program() {
    for reader in RUN {
        for writer in RUN.into_iter().filter(|writer| *writer != reader) {
            let mut recording = Recording::read(writer, "full");
            recording.program = reader;
            let told = recording.told();
            check_run(&told, "full");
            assert_ne!(told.total(), Some([0, 0, 0, 0]), "{reader} {writer}");
        }
    }
}
