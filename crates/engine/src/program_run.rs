//! What the agent program of a run uses and leaves behind: its session.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use workforce_agent_programs::{AgentProgram, Conclusion, Outcome};
use workforce_app::costs::{ModelUse, RunUse};
use workforce_app::runs::SessionUse;
use workforce_domain::agent::AdapterType;
use workforce_domain::cost::{BillingType, TokenUse};
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
    /// Whether its provider bills it by a flat plan.
    #[serde(default)]
    pub(crate) is_flat_plan: bool,
}

impl ProgramStart {
    /// How its provider bills it.
    pub(crate) const fn billing(&self) -> BillingType {
        if self.is_flat_plan {
            BillingType::Subscription
        } else {
            BillingType::Api
        }
    }

    /// What it told once that it used of a model; `None` for what nobody can book.
    pub(crate) fn model_use(&self, usage: &ModelUsage) -> Option<ModelUse> {
        let named = usage.model.as_deref().or(self.model.as_deref());
        let model = named.unwrap_or(UNNAMED_MODEL);
        let provider = self.adapter_type.provider(self.model.as_deref())?;
        Some(ModelUse {
            provider: Name::parse(provider).ok()?,
            model: Name::parse(model)
                .or_else(|_unusable| Name::parse(UNNAMED_MODEL))
                .ok()?,
            tokens: TokenUse {
                input: count(usage.tokens.input),
                output: count(usage.tokens.output),
                cached_input: count(usage.tokens.cached_read),
                cache_write: count(usage.tokens.cached_write),
            },
            cost: usage.cost.map(|cost| Cents::from_micros(count(cost.0))),
        })
    }

    /// What its run used as a whole.
    pub(crate) fn run_use<'a>(&self, usage: impl IntoIterator<Item = &'a ModelUsage>) -> RunUse {
        // What has no name is of the model of the settings, which may have one as well.
        let mut sums = Vec::new();
        for usage in usage {
            let mut usage = usage.clone();
            usage.model = usage.model.or_else(|| self.model.clone());
            usage.add_to(&mut sums);
        }
        let models = sums.iter();
        RunUse {
            billing: self.billing(),
            models: models.filter_map(|usage| self.model_use(usage)).collect(),
        }
    }
}

/// What is to be written down with the end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProgramRun {
    pub(crate) session: Option<SessionUse>,
    pub(crate) used: Option<RunUse>,
    /// The account that it used.
    pub(crate) account: Option<AccountKey>,
}

impl RunMemo {
    pub(crate) fn to_memo(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// What another server kept; nothing of one that cannot be read.
    pub(crate) fn of(memo: Value) -> Self {
        serde_json::from_value(memo).unwrap_or_default()
    }
}

impl ProgramRun {
    /// Of a run that has lost its guard: what is known is what it used.
    pub(crate) const fn lost(used: RunUse) -> Self {
        Self {
            session: None,
            used: Some(used),
            account: None,
        }
    }

    /// `None` for a run of another program.
    pub(crate) fn of(report: &RunReport) -> Option<Self> {
        let conclusion = report.conclusion.as_ref()?;
        let memo = RunMemo::of(report.memo.clone());
        let Some(start) = memo.program else {
            return Some(Self {
                session: None,
                used: None,
                account: memo.account,
            });
        };
        Some(Self {
            used: Some(start.run_use(&report.usage)),
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

/// A count that can be booked; a larger one is no figure of a model.
fn count(tokens: u64) -> i64 {
    const MOST: i64 = 1_000_000_000_000;
    i64::try_from(tokens).unwrap_or(MOST).min(MOST)
}
