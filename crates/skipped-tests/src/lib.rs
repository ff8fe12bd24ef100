//! Tells of the tests that were left out for want of a program.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;
use std::thread;

/// The environment variable that names the file in which each test that was left out notes why and
/// its name in a line, with a tab between them.
pub const LEFT_OUT_VARIABLE: &str = "WORKFORCE_TEST_LEFT_OUT";

/// Whether a missing program is a failure and not a reason to leave tests out.
#[must_use]
pub fn is_failure() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true")
}

/// Whether a program is installed; a test without it says that it is left out.
///
/// # Panics
///
/// It is missing where that [is a failure](is_failure).
#[track_caller]
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "a tool of the tests, and no agent"
)]
pub fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    if !found {
        assert!(!is_failure(), "the tests need {program}");
        tell(&format!("{program} is not installed"));
    }
    found
}

/// Says that the test of this thread, or a part of it, is left out.
///
/// # Panics
///
/// The file that [`LEFT_OUT_VARIABLE`] names cannot be written.
pub fn tell(reason: &str) {
    let thread = thread::current();
    let test = thread.name().unwrap_or("a test");
    let path = std::env::var_os(LEFT_OUT_VARIABLE);
    // Past the capture of what a test prints: it passes, and nobody would see it.
    if let Err(error) = tell_of(
        test,
        reason,
        &mut io::stderr(),
        path.as_deref().map(Path::new),
    ) {
        panic!("failed to note that {test} was left out: {error}");
    }
}

fn tell_of(
    test: &str,
    reason: &str,
    to: &mut dyn Write,
    noted_in: Option<&Path>,
) -> io::Result<()> {
    to.write_all(format!("LEFT OUT: {test}: {reason}\n").as_bytes())?;
    if let Some(path) = noted_in {
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        // At once, since many tests write here at a time.
        file.write_all(format!("{reason}\t{test}\n").as_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_is_left_out_says_so_and_is_noted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("left out");
        let mut told = Vec::new();

        tell_of("programs::one", "it rains", &mut told, Some(&path)).unwrap();
        tell_of("programs::unnoted", "it rains", &mut told, None).unwrap();

        let told = String::from_utf8(told).unwrap();
        assert!(
            told.starts_with("LEFT OUT: programs::one: it rains\n"),
            "{told}"
        );
        let noted = std::fs::read_to_string(&path).unwrap();
        assert_eq!(noted, "it rains\tprograms::one\n");
    }
}
