//! The settings of an agent that concern its program.

use serde_json::{Map, Value};

/// What an agent's adapter configuration says about its program. Its directory,
/// its environment and its time limits are not the program's concern and not
/// read here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramSettings {
    /// `command`: the program to start instead of the one in `PATH`.
    pub command: Option<String>,
    /// `extraArgs`: further arguments, after those that workforce chooses.
    pub extra_args: Vec<String>,
    /// `model`: the program's own default where it is left out. opencode and pi
    /// take `PROVIDER/MODEL`.
    pub model: Option<String>,
    /// `promptTemplate`: the text of the prompt.
    pub prompt_template: Option<String>,
    /// `effort`: how hard Claude Code thinks, such as `high`.
    pub effort: Option<String>,
    /// `chrome`: whether Claude Code may use a browser.
    pub chrome: bool,
    /// `maxTurnsPerRun`: after how many turns Claude Code gives up.
    pub max_turns_per_run: Option<u32>,
    /// `dangerouslySkipPermissions`: whether the program acts without asking.
    ///
    /// Nobody is there to answer, so what would be asked is refused, and an
    /// agent that may not act does no work. Left out, it is yes wherever the
    /// program allows it, and no for Claude Code as root, which refuses it.
    /// Where it is no, Claude Code and Gemini CLI get a list of tools that they
    /// may use, a shell among them; what else they ask for is refused.
    /// [`CommandLine::unrestricted`](crate::CommandLine::unrestricted) says what
    /// came of it, to be shown.
    pub dangerously_skip_permissions: Option<bool>,
    /// `modelReasoningEffort`: how hard Codex thinks, such as `high`.
    pub model_reasoning_effort: Option<String>,
    /// `search`: whether Codex may search the web.
    pub search: bool,
    /// `dangerouslyBypassApprovalsAndSandbox`: whether Codex acts without asking
    /// and without its sandbox; yes where it is left out.
    pub dangerously_bypass_approvals_and_sandbox: Option<bool>,
}

/// A setting that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` must be {expected}")]
pub struct SettingsError {
    /// The key in the adapter configuration.
    pub key: &'static str,
    /// What its value must be.
    pub expected: &'static str,
}

impl ProgramSettings {
    /// Reads the settings out of an adapter configuration. A key that is
    /// missing, or `null`, is left out; a key that none of them has is ignored.
    ///
    /// # Errors
    /// Names the first key whose value cannot be used.
    pub fn read(configuration: &Map<String, Value>) -> Result<Self, SettingsError> {
        let reader = Reader(configuration);
        Ok(Self {
            command: reader.text("command")?,
            extra_args: reader.texts("extraArgs")?,
            model: reader.word("model")?,
            prompt_template: reader.text("promptTemplate")?,
            effort: reader.word("effort")?,
            chrome: reader.flag("chrome")?.unwrap_or(false),
            max_turns_per_run: reader.count("maxTurnsPerRun")?,
            dangerously_skip_permissions: reader.flag("dangerouslySkipPermissions")?,
            model_reasoning_effort: reader.word("modelReasoningEffort")?,
            search: reader.flag("search")?.unwrap_or(false),
            dangerously_bypass_approvals_and_sandbox: reader
                .flag("dangerouslyBypassApprovalsAndSandbox")?,
        })
    }
}

struct Reader<'a>(&'a Map<String, Value>);

impl Reader<'_> {
    fn value(&self, key: &str) -> Option<&Value> {
        self.0.get(key).filter(|value| !value.is_null())
    }

    fn text(&self, key: &'static str) -> Result<Option<String>, SettingsError> {
        const EXPECTED: &str = "a text that is not empty";
        self.one(key, EXPECTED, |value| {
            let text = value.as_str().filter(|text| is_argument(text))?;
            (!text.is_empty()).then(|| text.to_owned())
        })
    }

    /// A text that becomes an argument after an option.
    fn word(&self, key: &'static str) -> Result<Option<String>, SettingsError> {
        // One that began with `-` would be read as another option.
        const EXPECTED: &str = "a word of 1 to 200 characters that does not begin with `-`";
        self.one(key, EXPECTED, |value| {
            let word = value.as_str()?;
            let is_word = !word.is_empty()
                && word.len() <= 200
                && !word.starts_with('-')
                && !word.contains(|c: char| c.is_control() || c.is_whitespace() || c == '"');
            is_word.then(|| word.to_owned())
        })
    }

    fn texts(&self, key: &'static str) -> Result<Vec<String>, SettingsError> {
        const EXPECTED: &str = "a list of texts";
        let texts = self.one(key, EXPECTED, |value| {
            value
                .as_array()?
                .iter()
                .map(|text| text.as_str().filter(|text| is_argument(text)))
                .map(|text| text.map(str::to_owned))
                .collect()
        })?;
        Ok(texts.unwrap_or_default())
    }

    fn flag(&self, key: &'static str) -> Result<Option<bool>, SettingsError> {
        self.one(key, "true or false", Value::as_bool)
    }

    fn count(&self, key: &'static str) -> Result<Option<u32>, SettingsError> {
        self.one(key, "a whole number from 1", |value| {
            let count = u32::try_from(value.as_u64()?).ok()?;
            (count > 0).then_some(count)
        })
    }

    fn one<T>(
        &self,
        key: &'static str,
        expected: &'static str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<Option<T>, SettingsError> {
        self.value(key)
            .map(|value| read(value).ok_or(SettingsError { key, expected }))
            .transpose()
    }
}

/// No program can be started with a NUL among its arguments.
fn is_argument(text: &str) -> bool {
    !text.contains('\0')
}
