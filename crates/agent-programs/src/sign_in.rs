//! Whether somebody has signed in to a program, as far as that is seen from outside.

use std::ffi::OsStr;
use std::path::PathBuf;

use crate::home_path::HomePath;

/// How it is seen that somebody has signed in.
#[derive(Debug)]
pub struct SignIn {
    /// Variables any of which is enough.
    pub keys: &'static [&'static str],
    /// Where a login is kept; `None` when that is not known.
    pub login: Option<HomePath>,
    /// Variables that send the program to a cloud, which has logins of its own.
    pub elsewhere: &'static [&'static str],
    /// Those of `keys` that stand for a flat plan; the others are billed by use.
    pub plan_keys: &'static [&'static str],
    /// Whether a login stands for a flat plan.
    pub login_is_plan: bool,
}

/// What the environment of a program tells of its login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignInHint {
    /// It has a key, in this variable.
    Key(&'static str),
    /// It is signed in when this file is there and not empty.
    File(PathBuf),
    /// It is not seen.
    Unknown,
}

impl SignIn {
    /// Whether its provider bills somebody who signed in like this by a flat plan, as
    /// far as that is seen from outside.
    #[must_use]
    pub fn is_flat_plan(&self, hint: &SignInHint) -> bool {
        match hint {
            SignInHint::Key(key) => self.plan_keys.contains(key),
            SignInHint::File(_) => self.login_is_plan,
            SignInHint::Unknown => false,
        }
    }

    /// What an environment tells. An empty variable is none.
    pub fn look<'a>(&self, variable: impl Fn(&str) -> Option<&'a OsStr>) -> SignInHint {
        let value = |name: &str| variable(name).filter(|value| !value.is_empty());
        if let Some(key) = self.keys.iter().find(|key| value(key).is_some()) {
            return SignInHint::Key(key);
        }
        if self.elsewhere.iter().any(|name| value(name).is_some()) {
            return SignInHint::Unknown;
        }
        let file = self.login.as_ref().and_then(|login| login.find(variable));
        file.map_or(SignInHint::Unknown, SignInHint::File)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::AgentProgram;

    #[track_caller]
    fn check(program: AgentProgram, environment: &[(&str, &str)], expected: &SignInHint) {
        let variable = |name: &str| {
            let found = environment.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsStr::new(*value))
        };
        let sign_in = &program.definition().signed_in_by;
        assert_eq!(
            &sign_in.look(variable),
            expected,
            "{program} {environment:?}"
        );
    }

    fn file(path: &str) -> SignInHint {
        SignInHint::File(path.into())
    }

    #[test]
    fn a_key_is_enough() {
        let home = ("HOME", "/home/ada");
        for (program, key) in [
            (AgentProgram::Claude, "CLAUDE_CODE_OAUTH_TOKEN"),
            (AgentProgram::Codex, "CODEX_API_KEY"),
            (AgentProgram::Gemini, "GEMINI_API_KEY"),
            (AgentProgram::Opencode, "OPENROUTER_API_KEY"),
            (AgentProgram::Pi, "ANTHROPIC_API_KEY"),
            (AgentProgram::Cursor, "CURSOR_API_KEY"),
        ] {
            check(program, &[home, (key, "sesame")], &SignInHint::Key(key));
        }
    }

    #[test]
    fn an_empty_key_and_that_of_another_program_are_none() {
        let login = file("/home/ada/.codex/auth.json");
        for key in [("CODEX_API_KEY", ""), ("OPENAI_API_KEY", "sesame")] {
            check(AgentProgram::Codex, &[("HOME", "/home/ada"), key], &login);
        }
    }

    #[test]
    fn without_a_key_a_login_is_looked_for_in_the_home() {
        for (program, path) in [
            (AgentProgram::Claude, "/home/ada/.claude/.credentials.json"),
            (AgentProgram::Codex, "/home/ada/.codex/auth.json"),
            (AgentProgram::Gemini, "/home/ada/.gemini/oauth_creds.json"),
            (
                AgentProgram::Opencode,
                "/home/ada/.local/share/opencode/auth.json",
            ),
            (AgentProgram::Pi, "/home/ada/.pi/agent/auth.json"),
        ] {
            check(program, &[("HOME", "/home/ada")], &file(path));
        }
    }

    #[test]
    fn a_variable_moves_the_login() {
        for (program, variable, path) in [
            (
                AgentProgram::Claude,
                "CLAUDE_CONFIG_DIR",
                "/x/.credentials.json",
            ),
            (AgentProgram::Codex, "CODEX_HOME", "/x/auth.json"),
            (
                AgentProgram::Opencode,
                "XDG_DATA_HOME",
                "/x/opencode/auth.json",
            ),
        ] {
            let moved = [("HOME", "/home/ada"), (variable, "/x")];
            check(program, &moved, &file(path));
            check(program, &[(variable, "/x")], &file(path));
        }
    }

    #[test]
    fn a_plan_is_told_from_a_key() {
        let is_plan = |program: AgentProgram, name: &str, value: &str| {
            let sign_in = &program.definition().signed_in_by;
            let variable = |asked: &str| (asked == name).then(|| OsStr::new(value));
            sign_in.is_flat_plan(&sign_in.look(variable))
        };
        assert!(!is_plan(AgentProgram::Claude, "ANTHROPIC_API_KEY", "x"));
        assert!(is_plan(
            AgentProgram::Claude,
            "CLAUDE_CODE_OAUTH_TOKEN",
            "x"
        ));
        assert!(is_plan(AgentProgram::Claude, "HOME", "/home/ada"));
        assert!(!is_plan(
            AgentProgram::Claude,
            "CLAUDE_CODE_USE_BEDROCK",
            "1"
        ));
        assert!(!is_plan(AgentProgram::Codex, "CODEX_API_KEY", "x"));
        assert!(is_plan(AgentProgram::Codex, "HOME", "/home/ada"));
        assert!(!is_plan(AgentProgram::Pi, "HOME", "/home/ada"));
    }

    #[test]
    fn what_is_not_seen_is_not_known() {
        let home = ("HOME", "/home/ada");
        check(AgentProgram::Cursor, &[home], &SignInHint::Unknown);
        check(AgentProgram::Claude, &[], &SignInHint::Unknown);
        let cloud = ("CLAUDE_CODE_USE_BEDROCK", "1");
        check(AgentProgram::Claude, &[home, cloud], &SignInHint::Unknown);
    }
}
