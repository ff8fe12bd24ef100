//! At whose expense an agent's program asks its model.

use alloc::format;
use alloc::string::String;

use super::{AdapterType, Agent};
use crate::Document;
use crate::id::{AgentId, SecretId};
use crate::secret::SecretReference;
use crate::text::AccountKey;

/// The longest name of a provider that is told apart from others.
const PROVIDER_CHARS: usize = 80;

/// Variables that move the place where a program keeps its login.
const HOMES: [&str; 4] = ["HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME"];

/// The account with the provider of a model whose limits the runs of an agent
/// use up, as its configuration tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderAccount {
    provider: String,
    credential: Credential,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Credential {
    /// A secret of the company, which several agents may use.
    Secret(SecretId),
    /// The login in the home that the agent runs with.
    Login,
    /// A key or a home that only this agent's configuration names.
    Own,
}

impl AdapterType {
    /// Who provides the model that its program asks: of a program that works
    /// with several providers the first part of `model`. `None` where no
    /// program asks a model that workforce knows of.
    pub fn provider(self, model: Option<&str>) -> Option<&str> {
        match self {
            Self::ClaudeLocal => Some("anthropic"),
            Self::CodexLocal => Some("openai"),
            Self::GeminiLocal => Some("google"),
            Self::Cursor => Some("cursor"),
            Self::OpencodeLocal | Self::PiLocal => Some(
                model
                    .and_then(|model| model.split_once('/'))
                    .map_or("default", |(provider, _)| provider),
            ),
            Self::Http => Some("http"),
            Self::Process => None,
        }
    }

    /// Variables that hold the credential of the program, the first that is set
    /// counts; beside them the one named after the provider.
    const fn credentials(self) -> &'static [&'static str] {
        match self {
            Self::ClaudeLocal => &["ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
            Self::CodexLocal => &["CODEX_API_KEY"],
            Self::GeminiLocal => &["GEMINI_API_KEY"],
            Self::Process | Self::Http | Self::Cursor | Self::OpencodeLocal | Self::PiLocal => &[],
        }
    }
}

impl ProviderAccount {
    /// The account that a configuration names; `None` where no model is asked.
    pub fn of(adapter_type: AdapterType, config: &Document) -> Option<Self> {
        let model = config.get("model").and_then(|model| model.as_str());
        let provider: String = adapter_type
            .provider(model)?
            .chars()
            .take(PROVIDER_CHARS)
            .collect();
        let env = config.get("env").and_then(|env| env.as_object());
        let credential = match env {
            _ if adapter_type == AdapterType::Http => Credential::Own,
            None => Credential::Login,
            Some(env) => {
                let named = format!("{}_API_KEY", provider.to_ascii_uppercase());
                let names = adapter_type.credentials().iter().copied();
                let set = core::iter::once(named.as_str())
                    .chain(names)
                    .find_map(|name| env.get(name));
                match set.map(SecretReference::read) {
                    Some(Ok(Some(reference))) => Credential::Secret(reference.secret),
                    Some(_) => Credential::Own,
                    None if HOMES.iter().any(|name| env.contains_key(*name)) => Credential::Own,
                    None => Credential::Login,
                }
            }
        };
        Some(Self {
            provider,
            credential,
        })
    }

    /// What tells the account from others of the company, but for what is one
    /// agent's own.
    pub fn shared_key(&self) -> Option<AccountKey> {
        let Self {
            provider,
            credential,
        } = self;
        let key = match credential {
            Credential::Secret(secret) => format!("{provider}:secret:{secret}"),
            Credential::Login => format!("{provider}:login"),
            Credential::Own => format!("{provider}:own"),
        };
        AccountKey::parse(&key).ok()
    }

    /// What tells the account from others of the company where it is the
    /// agent's own.
    pub fn own_key(&self, agent: AgentId) -> Option<AccountKey> {
        AccountKey::parse(&format!("{}:{agent}", self.shared_key()?)).ok()
    }

    /// What tells the account of an agent from others of the company, where
    /// each agent has a home of its own or all have the same.
    pub fn key(&self, agent: AgentId, has_private_home: bool) -> Option<AccountKey> {
        match self.credential {
            Credential::Secret(_) => self.shared_key(),
            Credential::Login if !has_private_home => self.shared_key(),
            Credential::Login | Credential::Own => self.own_key(agent),
        }
    }
}

impl Agent {
    /// The account that its runs use.
    pub fn provider_account(&self) -> Option<ProviderAccount> {
        ProviderAccount::of(self.adapter_type, &self.adapter_config)
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use serde_json::{Value, json};
    use uuid::Uuid;

    use super::*;

    fn key(adapter_type: AdapterType, config: Value, private: bool) -> Option<String> {
        let Value::Object(config) = config else {
            panic!("a configuration is an object");
        };
        let config = config.into_iter().collect();
        let account = ProviderAccount::of(adapter_type, &config)?;
        let key = account.key(Uuid::from_u128(7).into(), private)?;
        Some(key.to_string())
    }

    const AGENT: &str = "00000000-0000-0000-0000-000000000007";
    const SECRET: &str = "00000000-0000-0000-0000-000000000009";

    #[test]
    fn agents_share_the_login_of_a_home_that_they_share() {
        let claude = AdapterType::ClaudeLocal;
        assert_eq!(key(claude, json!({}), false).unwrap(), "anthropic:login");
        let own = alloc::format!("anthropic:login:{AGENT}");
        assert_eq!(key(claude, json!({}), true).unwrap(), own);
    }

    #[test]
    fn agents_share_a_secret_whatever_their_homes_are() {
        let secret = json!({ "type": "secret_ref", "secretId": SECRET });
        let config = json!({ "env": { "OPENAI_API_KEY": secret, "HOME": "/x" } });
        for private in [false, true] {
            let key = key(AdapterType::CodexLocal, config.clone(), private).unwrap();
            assert_eq!(key, alloc::format!("openai:secret:{SECRET}"));
        }
    }

    #[test]
    fn a_key_in_the_configuration_is_the_agents_own() {
        let config = json!({ "env": { "GEMINI_API_KEY": "x" } });
        let own = alloc::format!("google:own:{AGENT}");
        assert_eq!(key(AdapterType::GeminiLocal, config, false).unwrap(), own);
        let config = json!({ "env": { "CLAUDE_CONFIG_DIR": "/x" } });
        let own = alloc::format!("anthropic:own:{AGENT}");
        assert_eq!(key(AdapterType::ClaudeLocal, config, false).unwrap(), own);
    }

    #[test]
    fn a_program_for_many_providers_names_its_own_in_the_model() {
        let config = json!({ "model": "openrouter/x", "env": { "OPENROUTER_API_KEY": "x" } });
        let own = alloc::format!("openrouter:own:{AGENT}");
        assert_eq!(key(AdapterType::PiLocal, config, false).unwrap(), own);
        let login = key(AdapterType::OpencodeLocal, json!({}), false).unwrap();
        assert_eq!(login, "default:login");
    }

    #[test]
    fn a_program_that_asks_no_model_has_no_account() {
        assert_eq!(key(AdapterType::Process, json!({}), false), None);
    }

    #[test]
    fn a_long_name_still_makes_a_key() {
        let model = alloc::format!("{}/x", "ä".repeat(5000));
        let config = json!({ "model": model });
        assert!(key(AdapterType::PiLocal, config, true).is_some());
    }
}
