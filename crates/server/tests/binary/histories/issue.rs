//! An issue whom one works on after the other: what checkout, release, claim and finish mean
//! (docs/issues.md#checkout, docs/issues.md#release, docs/heartbeats.md#claims).

use serde_json::Value;
use stateright::semantics::SequentialSpec;

/// An agent with its key, or in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) agent: String,
    pub(crate) run: Option<String>,
}

/// What is done to an issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    /// An agent checks it out.
    CheckOut(Caller),
    /// The board checks it out for this agent.
    CheckOutFor(String),
    /// An agent gives it back.
    Release(Caller),
    /// The board gives it back.
    ReleaseByBoard,
    /// A run that was queued to work on it begins.
    Claim(Caller),
    /// A run ends.
    Finish(String),
    /// Somebody reads it.
    Read,
}

/// What the answer was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Done,
    /// 409, with the code, or the reason of a conflict.
    Refused(String),
    /// Whose it is, and who holds its lease.
    Seen {
        assignee: Option<String>,
        holder: Option<Caller>,
    },
}

impl Answer {
    /// The word for it.
    pub(crate) fn kind(&self) -> &str {
        match self {
            Self::Done => "done",
            Self::Refused(reason) => reason,
            Self::Seen { .. } => "read",
        }
    }
}

/// The answer that a change of an issue got; `None` where the answer does not tell what was done.
pub(crate) fn answer_of(status: u16, body: &Value) -> Option<Answer> {
    match status {
        200..300 => Some(Answer::Done),
        409 => {
            let reason = body["details"]["reason"].as_str();
            let reason = reason.or_else(|| body["code"].as_str())?;
            Some(Answer::Refused(reason.to_owned()))
        }
        _ => None,
    }
}

/// What the record of an issue tells.
pub(crate) fn seen_in(issue: &Value) -> Answer {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let lease = &issue["lease"];
    Answer::Seen {
        assignee: text(&issue["assigneeAgentId"]),
        holder: text(&lease["agentId"]).map(|agent| Caller {
            agent,
            run: text(&lease["runId"]),
        }),
    }
}

/// The issue, which begins in `todo` and belongs to nobody.
#[derive(Clone, Debug, Default)]
pub(crate) struct Issue {
    assignee: Option<String>,
    is_in_progress: bool,
    holder: Option<Caller>,
}

impl SequentialSpec for Issue {
    type Op = Deed;
    type Ret = Answer;

    fn invoke(&mut self, deed: &Deed) -> Answer {
        match deed {
            Deed::CheckOut(caller) => self.check_out(&caller.agent, Some(caller)),
            Deed::CheckOutFor(agent) => self.check_out(agent, None),
            Deed::Release(caller) => self.release(caller),
            Deed::ReleaseByBoard => {
                self.set_free();
                Answer::Done
            }
            // Whom it does not let in does not begin, and says nothing.
            Deed::Claim(caller) => match &self.holder {
                Some(holder) if holder.run.is_some() || holder.agent != caller.agent => {
                    Answer::Refused("lease_held".to_owned())
                }
                _ => {
                    self.holder = Some(caller.clone());
                    Answer::Done
                }
            },
            Deed::Finish(run) => {
                self.holder.take_if(|it| it.run.as_ref() == Some(run));
                Answer::Done
            }
            Deed::Read => Answer::Seen {
                assignee: self.assignee.clone(),
                holder: self.holder.clone(),
            },
        }
    }
}

impl Issue {
    fn check_out(&mut self, agent: &String, by: Option<&Caller>) -> Answer {
        let refused = |reason: &str| Answer::Refused(reason.to_owned());
        if self.assignee.as_ref().is_some_and(|it| it != agent) {
            return refused("other_assignee");
        }
        let run = by.and_then(|caller| caller.run.as_ref());
        let is_in_the_way = |holder: &Caller| {
            // A run is in the way of another one, and not of the key of its agent.
            holder.agent != *agent
                || (by.is_some()
                    && run.is_some()
                    && holder.run.is_some()
                    && holder.run.as_ref() != run)
        };
        if self.holder.as_ref().is_some_and(is_in_the_way) {
            return refused("live_run");
        }
        self.assignee = Some(agent.clone());
        self.is_in_progress = true;
        let holds_already = self.holder.as_ref().is_some_and(|it| it.run.is_some());
        if let Some(caller) = by.filter(|_| !holds_already) {
            self.holder = Some(caller.clone());
        }
        Answer::Done
    }

    fn release(&mut self, caller: &Caller) -> Answer {
        if self.holder.is_none() && !self.is_in_progress {
            return Answer::Done;
        }
        let owner = match self.is_in_progress {
            true => self.assignee.as_ref(),
            false => self.holder.as_ref().map(|it| &it.agent),
        };
        let holder = self.holder.as_ref().and_then(|it| it.run.as_ref());
        let is_other_run =
            holder.is_some() && caller.run.is_some() && holder != caller.run.as_ref();
        if owner != Some(&caller.agent) || is_other_run {
            return Answer::Refused("not_holder".to_owned());
        }
        self.set_free();
        Answer::Done
    }

    fn set_free(&mut self) {
        self.holder = None;
        if self.is_in_progress {
            self.is_in_progress = false;
            self.assignee = None;
        }
    }
}
