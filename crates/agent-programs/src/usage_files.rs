//! Files in which a program tells what it uses while it runs.

use crate::home_path::HomePath;
use crate::session_id::SessionId;

/// Where a program tells, in lines of JSON, what each call of the model used. There is
/// one file for each session, which grows while a run works in it; a run that goes on
/// with a session appends to it. Its lines are for
/// [`Stream::UsageFile`](crate::Stream::UsageFile).
#[derive(Debug)]
pub struct UsageFiles {
    /// The folder in which they lie.
    pub folder: HomePath,
    /// Below it come folders of years, of months in them and so on, so many levels deep.
    /// Their names are numbers.
    pub depth: usize,
    /// What the name of a file begins with.
    pub(crate) prefix: &'static str,
    /// What follows the id of its session in the name.
    pub(crate) suffix: &'static str,
}

impl UsageFiles {
    /// Whether a file of this name is that of the session.
    #[must_use]
    pub fn is_of(&self, name: &str, session: &SessionId) -> bool {
        name.strip_prefix(self.prefix)
            .and_then(|rest| rest.strip_suffix(self.suffix))
            .and_then(|rest| rest.strip_suffix(session.as_str()))
            .is_some_and(|rest| rest.ends_with('-'))
    }
}

#[cfg(test)]
mod tests {
    use crate::program::AgentProgram;

    use super::*;

    #[test]
    fn a_file_is_told_by_the_id_of_its_session() {
        let files = AgentProgram::Codex.definition().usage_files.as_ref();
        let files = files.unwrap();
        let id = "01a2088f-0de3-7d23-975b-858a5fb35bf5";
        let session = SessionId::parse(id).unwrap();
        let name = format!("rollout-2026-11-23T13-18-42-{id}.jsonl");
        assert!(files.is_of(&name, &session));
        assert!(!files.is_of(&format!("{name}.zst"), &session));
        assert!(!files.is_of(&format!("x{name}"), &session));
        assert!(!files.is_of(&format!("rollout-x{id}.jsonl"), &session));
        let end = SessionId::parse("858a5fb35bf").unwrap();
        assert!(!files.is_of(&name, &end));
    }
}
