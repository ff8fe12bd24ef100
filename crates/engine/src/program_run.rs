//! What the agent program of a run leaves behind: its session, and what it used.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use workforce_agent_programs::{AgentProgram, Conclusion, Outcome};
use workforce_app::costs::MeteredUse;
use workforce_app::runs::SessionUse;
use workforce_domain::agent::AdapterType;
use workforce_domain::cost::TokenUse;
use workforce_domain::money::Cents;
use workforce_domain::session::FailureClass;
use workforce_domain::string_enum::StringEnum;
use workforce_domain::text::{AccountKey, Name, SessionId};
use workforce_guard::{ModelUsage, RunReport};

/// The model of a program that names none.
const UNNAMED_MODEL: &str = "default";

/// What its guard keeps of the start of a run, for whichever server writes its end
/// down.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunMemo {
    /// The account with the provider of its model.
    pub(crate) account: Option<AccountKey>,
    /// What is known of its agent program, if it is one.
    pub(crate) program: Option<ProgramStart>,
}

/// The start of an agent program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProgramStart {
    pub(crate) program: AgentProgram,
    pub(crate) adapter_type: AdapterType,
    /// The model of its settings.
    pub(crate) model: Option<String>,
    pub(crate) directory: String,
    /// Digest of its model and settings.
    pub(crate) fingerprint: String,
    /// The session that it goes on with.
    pub(crate) resumed: Option<SessionId>,
}

/// What is to be written down with the end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProgramRun {
    pub(crate) session: Option<SessionUse>,
    pub(crate) uses: Vec<MeteredUse>,
    /// The account that it used.
    pub(crate) account: Option<AccountKey>,
}

impl RunMemo {
    pub(crate) fn to_memo(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl ProgramRun {
    /// `None` for a run of another program.
    pub(crate) fn of(report: &RunReport) -> Option<Self> {
        let conclusion = report.conclusion.as_ref()?;
        let memo: RunMemo = serde_json::from_value(report.memo.clone()).ok()?;
        let Some(start) = memo.program else {
            return Some(Self {
                session: None,
                uses: Vec::new(),
                account: memo.account,
            });
        };
        let uses = report.usage.iter();
        Some(Self {
            uses: uses.filter_map(|usage| metered(&start, usage)).collect(),
            account: memo.account,
            session: Some(SessionUse {
                adapter_type: start.adapter_type,
                directory: start.directory,
                fingerprint: start.fingerprint,
                resumed: start.resumed,
                input_tokens: input_tokens(conclusion),
                usage_baseline: serde_json::to_string(&conclusion.baseline).unwrap_or_default(),
                failure: failure(conclusion),
            }),
        })
    }
}

fn failure(conclusion: &Conclusion) -> Option<FailureClass> {
    let Outcome::Failed(failure) = &conclusion.outcome else {
        return None;
    };
    let word = serde_json::to_value(failure.class).ok()?;
    word.as_str().and_then(FailureClass::parse)
}

fn input_tokens(conclusion: &Conclusion) -> i64 {
    let total = conclusion.total.unwrap_or_default();
    count(total.input)
        .saturating_add(count(total.cached_read))
        .saturating_add(count(total.cached_write))
}

fn count(tokens: u64) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX)
}

fn metered(start: &ProgramStart, usage: &ModelUsage) -> Option<MeteredUse> {
    let named = usage.model.as_deref().or(start.model.as_deref());
    let model = named.unwrap_or(UNNAMED_MODEL);
    let provider = start.adapter_type.provider(start.model.as_deref())?;
    Some(MeteredUse {
        provider: Name::new(provider).ok()?,
        model: Name::new(model)
            .or_else(|_unusable| Name::new(UNNAMED_MODEL))
            .ok()?,
        tokens: TokenUse {
            input: count(usage.tokens.input),
            output: count(usage.tokens.output),
            cached_input: count(usage.tokens.cached_read),
            cache_write: count(usage.tokens.cached_write),
        },
        cost: Cents::from_micros(usage.cost.map_or(0, |cost| count(cost.0))),
    })
}
