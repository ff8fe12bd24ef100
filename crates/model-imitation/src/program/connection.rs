//! What points a program at an imitation, and at nothing else.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::Program;
use crate::imitation::ModelImitation;

/// The API key that programs are given; the imitation takes any that is not bad.
const KEY: &str = "imitation-key";

/// The variable in which Codex, opencode and pi look for the key, since their settings say so.
const KEY_VARIABLE: &str = "IMITATION_KEY";

/// The name of the imitation in the settings of programs that know many APIs.
const PROVIDER: &str = "imitation";

/// The model in the settings of programs that want to know the models.
const MODEL: &str = "imitation";

impl ModelImitation {
    /// The environment that points `program` at this imitation and keeps it from asking anybody
    /// else. The API key is in it, so that a test may replace it. What else a run needs, such as
    /// IS_SANDBOX where Claude Code runs as root, is for the test to say.
    #[must_use]
    pub fn environment_for(&self, program: Program) -> Vec<(String, String)> {
        let variables = match program {
            Program::Claude => vec![
                ("ANTHROPIC_BASE_URL", self.url()),
                ("ANTHROPIC_API_KEY", KEY.to_owned()),
                ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
            ],
            Program::Codex => vec![(KEY_VARIABLE, KEY.to_owned())],
            Program::Gemini => vec![
                ("GOOGLE_GEMINI_BASE_URL", self.url()),
                ("GEMINI_API_KEY", KEY.to_owned()),
                // Otherwise its parent process outlives signals.
                ("GEMINI_CLI_NO_RELAUNCH", "true".to_owned()),
            ],
            Program::Opencode => vec![
                (KEY_VARIABLE, KEY.to_owned()),
                ("OPENCODE_CONFIG_CONTENT", self.of_opencode().to_string()),
                ("OPENCODE_DISABLE_AUTOUPDATE", "1".to_owned()),
                ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1".to_owned()),
                ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1".to_owned()),
                ("OPENCODE_DISABLE_MODELS_FETCH", "1".to_owned()),
                ("OPENCODE_DISABLE_SHARE", "1".to_owned()),
            ],
            Program::Pi => vec![
                (KEY_VARIABLE, KEY.to_owned()),
                ("PI_OFFLINE", "1".to_owned()),
                ("PI_SKIP_VERSION_CHECK", "1".to_owned()),
            ],
        };
        let owned = |(name, value): (&str, String)| (name.to_owned(), value);
        variables.into_iter().map(owned).collect()
    }

    /// The arguments that point `program` at this imitation, where it takes such: for Codex after
    /// `exec`, for opencode after `run`.
    #[must_use]
    pub fn arguments_for(&self, program: Program) -> Vec<String> {
        let url = self.url();
        match program {
            Program::Claude | Program::Gemini => Vec::new(),
            Program::Codex => {
                let provider = format!(
                    "model_providers.{PROVIDER}={{name=\"{PROVIDER}\",base_url=\"{url}/v1\",\
                     env_key=\"{KEY_VARIABLE}\",wire_api=\"responses\"}}"
                );
                let settings = [
                    format!("model_provider={PROVIDER}"),
                    provider,
                    "analytics.enabled=false".to_owned(),
                    "check_for_update_on_startup=false".to_owned(),
                ];
                let settings = settings.into_iter().flat_map(|it| ["-c".to_owned(), it]);
                let own = ["--disable", "plugins"].map(str::to_owned);
                settings.chain(own).collect()
            }
            Program::Opencode => vec!["-m".to_owned(), format!("{PROVIDER}/{MODEL}")],
            Program::Pi => ["--provider", PROVIDER, "--model", MODEL]
                .map(str::to_owned)
                .to_vec(),
        }
    }

    /// Writes into `home`, the home folder of a run, the settings without which `program` does not
    /// find this imitation. Gemini and pi need some.
    ///
    /// # Errors
    ///
    /// When they cannot be written.
    pub fn write_settings_for(&self, program: Program, home: &Path) -> io::Result<()> {
        let (folder, file, settings) = match program {
            Program::Claude | Program::Codex | Program::Opencode => return Ok(()),
            Program::Gemini => (home.join(".gemini"), "settings.json", of_gemini()),
            Program::Pi => (home.join(".pi/agent"), "models.json", self.of_pi()),
        };
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(file), settings.to_string())
    }

    fn of_opencode(&self) -> Value {
        json!({
            "provider": {PROVIDER: {
                "npm": "@ai-sdk/openai-compatible",
                "options": {
                    "baseURL": format!("{}/v1", self.url()),
                    "apiKey": format!("{{env:{KEY_VARIABLE}}}"),
                },
                "models": {MODEL: {"limit": {"context": 200_000, "output": 8000}}},
            }},
            "permission": {"*": "allow"},
            "autoupdate": false,
            "share": "disabled",
        })
    }

    fn of_pi(&self) -> Value {
        json!({"providers": {PROVIDER: {
            "api": "openai-completions",
            "baseUrl": format!("{}/v1", self.url()),
            "apiKey": format!("${KEY_VARIABLE}"),
            "models": [{"id": MODEL, "contextWindow": 200_000, "maxTokens": 8000}],
        }}})
    }
}

fn of_gemini() -> Value {
    json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
        "privacy": {"usageStatisticsEnabled": false},
    })
}
