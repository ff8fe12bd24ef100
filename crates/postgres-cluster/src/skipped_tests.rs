//! Tells of the tests that were left out.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::thread;

/// The environment variable that names the file in which each test that was left out notes why and
/// its name in a line, with a tab between them. Tests that are left out for want of something else
/// than a PostgreSQL server note themselves there too.
pub const LEFT_OUT_VARIABLE: &str = "WORKFORCE_TEST_LEFT_OUT";

const REASON: &str = "there is no PostgreSQL server";

/// Says that the test of this thread, or a part of it, is left out.
pub(crate) fn tell() {
    let thread = thread::current();
    let test = thread.name().unwrap_or("a test");
    let path = std::env::var_os(LEFT_OUT_VARIABLE);
    // Past the capture of what a test prints: it passes, and nobody would see it.
    if let Err(error) = tell_of(test, &mut io::stderr(), path.as_deref().map(Path::new)) {
        panic!("failed to note that {test} was left out: {error}");
    }
}

fn tell_of(test: &str, to: &mut dyn Write, noted_in: Option<&Path>) -> io::Result<()> {
    to.write_all(format!("LEFT OUT: {test}: {REASON}\n").as_bytes())?;
    if let Some(path) = noted_in {
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        // At once, since many tests write here at a time.
        file.write_all(format!("{REASON}\t{test}\n").as_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_test_that_is_left_out_says_so_and_is_noted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("left out");
        let mut told = Vec::new();

        tell_of("postgres::one", &mut told, Some(&path)).unwrap();
        tell_of("postgres::other", &mut told, Some(&path)).unwrap();
        tell_of("postgres::unnoted", &mut told, None).unwrap();

        let told = String::from_utf8(told).unwrap();
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines[1].starts_with("LEFT OUT: postgres::other:"), "{told}");
        let noted = std::fs::read_to_string(&path).unwrap();
        let expected = ["one", "other"].map(|it| format!("{REASON}\tpostgres::{it}\n"));
        assert_eq!(noted, expected.concat());
    }
}
