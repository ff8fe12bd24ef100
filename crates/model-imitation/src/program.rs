//! The real programs: where they are.

mod connection;

use std::path::{Path, PathBuf};

/// The environment variable that names the folder in which the programs are installed, each as
/// `<name>/<version>/node_modules/.bin/<name>`. Without it, that folder is `target/agents` at the
/// root of the workspace.
pub const PROGRAMS_VARIABLE: &str = "WORKFORCE_TEST_AGENTS";

/// What `cargo xtask agents` reads too.
const PROGRAMS: &str = include_str!("../programs.txt");

/// An agent program that can talk to the imitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// The Gemini CLI.
    Gemini,
    /// opencode.
    Opencode,
    /// pi.
    Pi,
}

impl Program {
    /// Every program.
    pub const ALL: [Self; 5] = [
        Self::Claude,
        Self::Codex,
        Self::Gemini,
        Self::Opencode,
        Self::Pi,
    ];

    /// The name of its command.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Pi => "pi",
        }
    }

    /// The version that tests run.
    #[must_use]
    pub fn version(self) -> &'static str {
        self.row()[2]
    }

    /// Whether every run of the tests is to have it.
    fn is_required(self) -> bool {
        self.row()[3] == "always"
    }

    fn row(self) -> [&'static str; 4] {
        let rows = PROGRAMS.lines().filter_map(|line| {
            let mut words = line.split_whitespace();
            Some([words.next()?, words.next()?, words.next()?, words.next()?])
        });
        let mut rows = rows.filter(|row| row[0] == self.name());
        let Some(row) = rows.next() else {
            panic!("programs.txt lacks {}", self.name());
        };
        row
    }
}

/// The executable of `program` in its [version](Program::version), when it is installed.
///
/// A program of Node.js finds the `node` that belongs to it in the folder of its executable, if it
/// needs one of its own: put that folder first in PATH.
#[must_use]
pub fn installed(program: Program) -> Option<PathBuf> {
    let folder = match std::env::var_os(PROGRAMS_VARIABLE) {
        Some(folder) if !folder.is_empty() => PathBuf::from(folder),
        _ => own_folder()?,
    };
    let executable = executable(&folder, program);
    executable.is_file().then_some(executable)
}

/// As [`installed`]; a test returns early when there is none, and is told of on standard error as
/// left out.
///
/// # Panics
///
/// With `CI=true`, when it is one of the programs that every run of the tests is to have.
#[must_use]
pub fn installed_for_test(program: Program) -> Option<PathBuf> {
    let found = installed(program);
    if found.is_none() {
        let (name, version) = (program.name(), program.version());
        assert!(
            !(workforce_skipped_tests::is_failure() && program.is_required()),
            "the tests need {name} {version}: cargo xtask agents"
        );
        workforce_skipped_tests::tell(&format!("{name} {version} is not installed"));
    }
    found
}

fn executable(folder: &Path, program: Program) -> PathBuf {
    let name = program.name();
    folder
        .join(name)
        .join(program.version())
        .join("node_modules/.bin")
        .join(name)
}

fn own_folder() -> Option<PathBuf> {
    // Cargo sets it for what it runs. What it was at build time may be outdated.
    let package = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    let mut folders = package.ancestors().map(|it| it.join("target/agents"));
    folders.find(|it| it.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_has_its_line() {
        for program in Program::ALL {
            assert!(program.version().split('.').count() == 3, "{program:?}");
        }
        assert!(Program::Claude.is_required());
        assert!(!Program::Pi.is_required());
    }

    #[test]
    fn a_program_is_looked_for_by_its_version() {
        let version = Program::Codex.version();
        let expected = format!("/x/codex/{version}/node_modules/.bin/codex");
        assert_eq!(
            executable(Path::new("/x"), Program::Codex),
            Path::new(&expected)
        );
    }
}
