//! The programs of agents, which call the service with the token of their run.

use serde_json::json;
use workforce_app::activity_log::document;
use workforce_app::approvals::{self, SubmitApproval};
use workforce_app::costs::{self, ModelUse, ReportCost, RunUse};
use workforce_app::issues::{self, AddComment, CheckOut, UpdateIssue};
use workforce_app::{Code, runs};
use workforce_domain::Document;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::approval::ApprovalType;
use workforce_domain::change::Replace;
use workforce_domain::cost::{BillingType, TokenUse};
use workforce_domain::id::{AgentId, CompanyId, IssueId, RunId};
use workforce_domain::issue::IssueStatus;
use workforce_domain::money::Cents;
use workforce_domain::run::{Run, RunEnd, RunErrorCode, RunOutcome};
use workforce_testkit::world::{name, report_of};

use crate::books::Spending;
use crate::host::bare_end;
use crate::simulation::Simulation;
use crate::text::comment;
use crate::world::{Answer, Broken, demand};

/// A program, which its guard stays with.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) run: RunId,
    pub(crate) company: CompanyId,
    pub(crate) agent: AgentId,
    pub(crate) issue: Option<IssueId>,
    pub(crate) token: String,
    /// The host it runs on.
    pub(crate) host: usize,
    /// How it ended, which its guard keeps for its server.
    pub(crate) report: Option<(RunEnd, Option<RunUse>)>,
    /// Reports of costs whose answer was lost, to be sent once more.
    unanswered: Vec<ReportCost>,
    reports: usize,
    /// What it told while it runs, in millionths of a cent.
    told: Vec<i64>,
}

impl Program {
    /// The program of a run, which was given this token.
    pub(crate) fn of(run: &Run, token: String, host: usize) -> Self {
        Self {
            run: run.id,
            company: run.company,
            agent: run.agent,
            issue: run.issue,
            token,
            host,
            report: None,
            unanswered: Vec::new(),
            told: Vec::new(),
            reports: 0,
        }
    }

    /// Whether it executes.
    pub(crate) const fn executes(&self) -> bool {
        self.report.is_none()
    }
}

/// One use of the model of all programs.
fn model_use(micros: i64) -> ModelUse {
    ModelUse {
        provider: name("anthropic"),
        model: name("claude"),
        tokens: TokenUse::default(),
        cost: Some(Cents::from_micros(micros)),
    }
}

impl Simulation {
    /// A program that executes does something.
    pub(crate) fn program_step(&mut self, at: usize) -> Result<(), Broken> {
        let Program { run, issue, .. } = self.programs[at];
        let issue = issue.or_else(|| self.random.pick(&self.issues));
        let Some(issue) = issue.filter(|_| !self.random.chance(12)) else {
            self.exit(at);
            return Ok(());
        };
        let was_running = self.is_running(run)?;
        let word = match self.random.below(10) {
            0..=1 => self.check_out(at, issue)?,
            2..=4 => self.report_cost(at)?,
            5 => self.say(at, issue)?,
            6 => self.move_issue(at, issue)?,
            7 if self.random.chance(50) => {
                self.tell_use(at)?;
                return Ok(());
            }
            7 => {
                let token = &self.programs[at].token;
                let answer = self
                    .world
                    .presenting(token, |tx, ctx| issues::release(tx, ctx, &issue.into()))?;
                ("releases", answer.word())
            }
            8 => self.ask_for_more(at)?,
            _ => self.submit_plan(at, issue)?,
        };
        let (what, answer) = word;
        self.note(|names| format!("{} {what} {}: {answer}", names.of(run), names.of(issue)));
        let is_refused = answer == Answer::<()>::Refused(Code::CredentialInvalid).word();
        demand(
            is_refused != was_running,
            "a run's token is valid exactly while the run is running",
            || format!("running: {was_running}, answer: {answer}"),
        )
    }

    /// The program ends by itself.
    fn exit(&mut self, at: usize) {
        let (outcome, word) = match self.random.below(8) {
            0 => (RunOutcome::Failed(RunErrorCode::AdapterFailed), "fails"),
            1 => (RunOutcome::TimedOut(RunErrorCode::WallLimit), "times out"),
            _ => (RunOutcome::Succeeded, "succeeds"),
        };
        if self.random.chance(30) {
            let cost = self.cost();
            self.programs[at].told.push(cost);
        }
        let program = &mut self.programs[at];
        let used = (!program.told.is_empty()).then(|| RunUse {
            billing: BillingType::Api,
            models: vec![model_use(program.told.iter().sum())],
        });
        program.report = Some((bare_end(outcome), used));
        let run = program.run;
        self.note(|names| format!("the program of {} {word}", names.of(run)));
    }

    /// The program tells what a call of its model cost, and its server books all that was told.
    fn tell_use(&mut self, at: usize) -> Result<(), Broken> {
        let cost = self.cost();
        self.programs[at].told.push(cost);
        let Program {
            run,
            host,
            ref told,
            ..
        } = self.programs[at];
        let uses: Vec<(i64, ModelUse)> = (1..).zip(told.iter().copied().map(model_use)).collect();
        let is_attended = self.hosts[host].is_well() && self.hosts[host].live.contains_key(&run);
        self.note(|names| format!("the program of {} tells a use", names.of(run)));
        if !is_attended {
            return Ok(());
        }
        let Some(found) = self.run(run)?.filter(|run| run.status.is_live()) else {
            return Ok(());
        };
        let scope = found.scope();
        self.world
            .engine(|tx, ctx| costs::meter(tx, ctx, scope, run, BillingType::Api, true, &uses))?;
        let booked: i64 = self.programs[at].told.iter().sum();
        let before = self.books.metered.insert(run, booked).unwrap_or_default();
        self.note_spending(&Spending {
            agent: found.agent,
            run: Some(run),
            month: self.world.month(),
            micros: booked - before,
        })
    }

    /// Millionths of up to 40 cents.
    fn cost(&mut self) -> i64 {
        i64::try_from(1 + self.random.below(40_000_000)).unwrap_or(1)
    }

    fn check_out(
        &mut self,
        at: usize,
        issue: IssueId,
    ) -> Result<(&'static str, &'static str), Broken> {
        let command = CheckOut {
            agent: None,
            expected: None,
        };
        let token = &self.programs[at].token;
        let answer = self.world.presenting(token, |tx, ctx| {
            issues::check_out(tx, ctx, &issue.into(), command.clone())
        })?;
        let word = answer.word();
        if answer.done().is_some() {
            let (run, agent) = (self.programs[at].run, self.programs[at].agent);
            self.check_holder(issue, run, agent)?;
        }
        Ok(("checks out", word))
    }

    fn report_cost(&mut self, at: usize) -> Result<(&'static str, &'static str), Broken> {
        let again = self.programs[at].unanswered.pop();
        let is_again = again.is_some();
        let report = match again {
            Some(report) => report,
            None => {
                let cost = Cents::from_micros(self.cost());
                let program = &mut self.programs[at];
                program.reports += 1;
                ReportCost {
                    cost,
                    idempotency_key: Some(format!("{}-{}", program.run, program.reports)),
                    ..report_of(program.agent, "0")
                }
            }
        };
        let program = self.programs[at].clone();
        let answer = self.world.presenting(&program.token, |tx, ctx| {
            costs::report(tx, ctx, program.company, report.clone())
        })?;
        let word = answer.word();
        if let Some(reported) = answer.done() {
            demand(
                reported.created != is_again,
                "a report counts once for its key",
                || format!("sent again: {is_again}, created: {}", reported.created),
            )?;
            if reported.created {
                self.note_spending(&Spending::of(&reported.event))?;
                if self.random.chance(30) {
                    self.programs[at].unanswered.push(report);
                    return Ok(("reports, and hears no answer, a cost about", word));
                }
            }
        }
        Ok(("reports a cost about", word))
    }

    fn say(&mut self, at: usize, issue: IssueId) -> Result<(&'static str, &'static str), Broken> {
        let body =
            comment(["@Ada, look.", "@Bob, look.", "@Cleo, look.", "Well."][self.random.below(4)]);
        let token = &self.programs[at].token;
        let answer = self.world.presenting(token, |tx, ctx| {
            let command = AddComment {
                body: body.clone(),
                reopen: None,
                interrupt: None,
            };
            issues::add_comment(tx, ctx, &issue.into(), command)
        })?;
        Ok(("comments on", answer.word()))
    }

    fn move_issue(
        &mut self,
        at: usize,
        issue: IssueId,
    ) -> Result<(&'static str, &'static str), Broken> {
        let (status, what) = [
            (IssueStatus::Done, "ends"),
            (IssueStatus::Blocked, "blocks"),
            (IssueStatus::InReview, "asks to review"),
        ][self.random.below(3)];
        let command = UpdateIssue {
            status: Replace::Set(status),
            ..UpdateIssue::default()
        };
        let token = &self.programs[at].token;
        let answer = self.world.presenting(token, |tx, ctx| {
            issues::update(tx, ctx, &issue.into(), command.clone())
        })?;
        Ok((what, answer.word()))
    }

    fn ask_for_more(&mut self, at: usize) -> Result<(&'static str, &'static str), Broken> {
        let program = self.programs[at].clone();
        let answer = self.world.presenting(&program.token, |tx, ctx| {
            runs::invoke(tx, ctx, program.agent, Document::new())
        })?;
        Ok(("invokes its agent, not for", answer.word()))
    }

    fn submit_plan(
        &mut self,
        at: usize,
        issue: IssueId,
    ) -> Result<(&'static str, &'static str), Broken> {
        let program = self.programs[at].clone();
        let answer = self.world.presenting(&program.token, |tx, ctx| {
            let command = SubmitApproval {
                kind: ApprovalType::ApproveIssuePlan,
                requested_by_agent_id: None,
                payload: Some(document(json!({ "issueId": issue, "plan": "first this" }))),
                issue_ids: None,
                work: Vec::new(),
            };
            approvals::submit(tx, ctx, program.company, command)
        })?;
        let word = answer.word();
        if let Some(submitted) = answer.done() {
            self.plans.push(submitted.view.approval.id);
        }
        Ok(("submits a plan for", word))
    }
}
