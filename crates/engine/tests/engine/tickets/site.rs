//! A ticket whose worktree is ready, and what it is worked on with.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use workforce_app::activity_log::document;
use workforce_app::approvals::{self, ApprovalError, Decide, SubmitApproval, execution};
use workforce_app::{Failure, agents, issues, tickets};
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::approval::ApprovalType;
use workforce_domain::execution_workspace::{ChecksState, ExecutionWorkspace, PullRequestWatch};
use workforce_domain::id::{AgentId, ApprovalId, IssueId};
use workforce_domain::issue::{Issue, IssueStatus};
use workforce_domain::port::{AgreedWork, GovernedWork};
use workforce_domain::string_enum::StringEnum;
use workforce_domain::wake::Wake;
use workforce_engine::{EngineConfig, EngineHandle, WebhookSecret};
use workforce_forge_imitation::{ForgeImitation, ImitatedForge, TOKEN};
use workforce_forges::{ForgeConfig, ForgeKind, Forges, Limits, Token};
use workforce_testkit::store::TestStore;
use workforce_testkit::world::no_change;

use super::repositories::{as_text, new_ticket};
pub(crate) use super::repositories::{commit_all, git};
use crate::support::{House, eventually};

pub(crate) const REPOSITORY: &str = "acme/shop";
pub(crate) const SECRET: &str = "a secret of the webhook";
const BRANCH: &str = "feature/ABC-1";
/// A company with an agent who is paused, so that its wakes wait, and a ticket of it.
pub(crate) struct Site {
    pub(crate) house: House,
    pub(crate) forge: ForgeImitation,
    pub(crate) agent: AgentId,
    pub(crate) issue: IssueId,
    /// What the names of its repository and of the remote have at their end.
    suffix: String,
    engine: Option<EngineHandle>,
}

impl Site {
    /// A ticket whose pull request is open and whose issue is done.
    pub(crate) async fn delivered(store: TestStore) -> Self {
        Self::delivered_at(ImitatedForge::GitHub, store).await
    }

    /// The same at another forge.
    pub(crate) async fn delivered_at(forge: ImitatedForge, store: TestStore) -> Self {
        let site = Self::provisioned_at(forge, store, true).await;
        site.write("work.txt", "the work of the agent\n");
        site.approve(ApprovalType::ApprovePullRequest, json!({}))
            .await;
        assert_eq!(site.issue().status(), IssueStatus::Done);
        site
    }

    /// A ticket with a worktree and nothing else, in a repository with a remote or
    /// without. An engine works for it.
    pub(crate) async fn provisioned(store: TestStore, with_remote: bool) -> Self {
        Self::provisioned_at(ImitatedForge::GitHub, store, with_remote).await
    }

    async fn provisioned_at(forge: ImitatedForge, store: TestStore, with_remote: bool) -> Self {
        let house = House::on(store);
        let forge = ForgeImitation::start(forge).expect("a forge");
        let agent = house.hire_shell(&until_go(&house));
        house.act(|tx, ctx| agents::pause(tx, ctx, agent));
        let issue = new_ticket(&house, &forge, agent, "", with_remote);
        let mut site = Self {
            house,
            forge,
            agent,
            issue,
            suffix: String::new(),
            engine: None,
        };
        site.start(|_| ());
        site.approve(ApprovalType::ApproveIssuePlan, json!({ "workspace": {} }))
            .await;
        site
    }

    /// Goes on with another ticket, in a repository and with a remote of its own.
    pub(crate) async fn open_another(&mut self, suffix: &str) {
        self.issue = new_ticket(&self.house, &self.forge, self.agent, suffix, true);
        suffix.clone_into(&mut self.suffix);
        self.approve(ApprovalType::ApproveIssuePlan, json!({ "workspace": {} }))
            .await;
    }

    /// Ends the last part of the ticket, so that the board's turn comes.
    pub(crate) fn finish_work(&self) {
        let parent = self.issue;
        let part = self.house.assign(self.agent, |command| {
            command.parent_id = Some(parent.into());
        });
        self.set_status_of(part, IssueStatus::Done);
    }

    /// Another agent, whose runs wait until they may go.
    pub(crate) fn hire_paused(&self) -> AgentId {
        let agent = self.house.hire_shell(&until_go(&self.house));
        self.house.act(|tx, ctx| agents::pause(tx, ctx, agent));
        agent
    }

    pub(crate) fn config(&self) -> EngineConfig {
        let mut config = self.house.config();
        let forge = ForgeConfig {
            kind: self.forge_kind(),
            host: self.forge.host().to_owned(),
            api_url: Some(self.forge.api_url()),
            token: Token::parse(TOKEN),
        };
        let mut limits = Limits::default();
        limits.backoff = Duration::from_millis(1);
        config.tickets.forges = Some(Forges::new(vec![forge], limits).expect("a forge"));
        // Some tests start another server on it.
        config.exclusive_store = false;
        let secret = WebhookSecret::new(SECRET).expect("a secret");
        config.tickets.webhook_secrets = [(self.forge_kind(), secret)].into();
        config
    }

    pub(crate) fn forge_kind(&self) -> ForgeKind {
        ForgeKind::parse(self.forge.kind().word()).expect("a kind")
    }

    /// Starts an engine in the place of the one that works.
    pub(crate) fn start(&mut self, adjust: impl FnOnce(&mut EngineConfig)) {
        let mut config = self.config();
        adjust(&mut config);
        self.engine = Some(self.house.start_with(config));
    }

    pub(crate) async fn restart(&mut self, adjust: impl FnOnce(&mut EngineConfig)) {
        self.engine().shutdown().await;
        self.start(adjust);
    }

    pub(crate) fn engine(&self) -> &EngineHandle {
        self.engine.as_ref().expect("an engine")
    }

    pub(crate) fn scope(&self) -> CompanyScope {
        self.issue().scope()
    }

    /// Has the board approve something, with all its steps.
    pub(crate) async fn approve(&self, kind: ApprovalType, payload: Value) {
        let work = match kind.pushes() {
            true => self.engine().sync(self.scope(), self.issue).await,
            false => Ok(Vec::new()),
        };
        let id = self.begin(kind, payload, work.expect("the work"));
        let done = self
            .engine()
            .carry_out(self.scope(), id, AgreedWork::Shown)
            .await;
        done.unwrap_or_else(|error| panic!("the approval is not carried out: {error:?}"));
    }

    /// The same without the steps, for work that the board is shown.
    pub(crate) fn begin(
        &self,
        kind: ApprovalType,
        mut payload: Value,
        work: Vec<Value>,
    ) -> ApprovalId {
        payload["issueId"] = json!(self.issue);
        let submit = SubmitApproval {
            kind,
            requested_by_agent_id: Some(self.agent),
            payload: Some(document(payload)),
            issue_ids: None,
            work,
        };
        let company = self.house.company;
        let asked = self
            .house
            .act(|tx, ctx| approvals::submit(tx, ctx, company, submit.clone()));
        let id = asked.view.approval.id;
        self.house
            .act(|tx, ctx| execution::begin(tx, ctx, id, Decide::default()));
        id
    }

    pub(crate) fn issue(&self) -> Issue {
        let id = self.issue;
        self.house
            .act(|tx, ctx| issues::get(tx.reads(), ctx, &id.into()))
            .view
            .issue
    }

    pub(crate) fn set_status(&self, status: IssueStatus) {
        self.set_status_of(self.issue, status);
    }

    fn set_status_of(&self, id: IssueId, status: IssueStatus) {
        self.house.act(|tx, ctx| {
            let mut change = no_change();
            change.status = workforce_domain::change::Replace::Set(status);
            issues::update(tx, ctx, &id.into(), change)
        });
    }

    pub(crate) fn record(&self) -> ExecutionWorkspace {
        let (scope, issue) = (self.scope(), self.issue);
        let mut all = self
            .house
            .act(|tx, _| Ok::<_, Failure<()>>(tx.execution_workspaces().owned_by(scope, issue)?));
        all.remove(0)
    }

    pub(crate) fn watch(&self) -> Option<PullRequestWatch> {
        let (scope, id) = (self.scope(), self.record().id);
        self.house
            .act(|tx, _| Ok::<_, Failure<()>>(tx.pull_request_watches().find(scope, id)?))
    }

    /// What the worktree of the issue tells of the checks of its pull request.
    pub(crate) fn checks(&self) -> Option<ChecksState> {
        let id = self.issue;
        let view = self
            .house
            .act(|tx, ctx| tickets::worktree::<ApprovalError>(tx.reads(), ctx, &id.into(), None));
        view.checks
    }

    /// Changes the record of the worktree and its watch.
    pub(crate) fn adjust(
        &self,
        change: impl Fn(&mut ExecutionWorkspace, Option<&mut PullRequestWatch>),
    ) {
        let (scope, id) = (self.scope(), self.record().id);
        self.house.act(|tx, _| {
            let locked = tx.execution_workspaces_mut().lock(scope.into(), id)?;
            let mut record = locked.expect("a worktree");
            let mut watch = tx.pull_request_watches().find(scope, id)?;
            change(&mut record, watch.as_mut());
            tx.execution_workspaces_mut().save(&record)?;
            if let Some(watch) = watch {
                tx.pull_request_watches_mut().save(&record, &watch)?;
            }
            Ok::<_, Failure<()>>(())
        });
    }

    /// Makes the question due, and waits until it is answered.
    pub(crate) async fn ask(&self) {
        // The question before is answered first.
        let before = eventually("an earlier answer", || {
            let watch = self.watch().expect("a watch");
            let is_due = watch.due_at <= self.house.ports.clock.now();
            (!is_due && !is_asked(&watch, self)).then_some(watch.fence)
        })
        .await;
        self.make_due();
        eventually("an answer", || {
            let watch = self.watch();
            let is_answered = watch.is_none_or(|it| it.fence > before && !is_asked(&it, self));
            is_answered.then_some(())
        })
        .await;
    }

    pub(crate) fn make_due(&self) {
        let now = self.house.ports.clock.now();
        self.adjust(|_, watch| watch.expect("a watch").due_at = now);
    }

    /// Has the base branch looked at, and waits until that is over.
    pub(crate) async fn look_at_base(&self) {
        let now = self.house.ports.clock.now();
        self.adjust(|_, watch| watch.expect("a watch").drift_due_at = now);
        self.base_was_looked_at().await;
    }

    async fn base_was_looked_at(&self) {
        eventually("a look at the base branch", || {
            let watch = self.watch().expect("a watch");
            (watch.drift_due_at > self.house.ports.clock.now()).then_some(())
        })
        .await;
    }

    /// The wake of the agent about the ticket that waits.
    pub(crate) fn wake(&self) -> Option<Wake> {
        let (scope, agent, issue) = (self.scope(), self.agent, self.issue);
        self.house.act(|tx, _| {
            let found = tx.runs_mut().lock_pending_wake(scope, agent, Some(issue))?;
            Ok::<_, Failure<()>>(found.map(|wake| (*wake).clone()))
        })
    }

    fn path(&self, name: &str, end: &str) -> PathBuf {
        self.house.path(&format!("{name}{}{end}", self.suffix))
    }

    pub(crate) fn worktree(&self) -> PathBuf {
        self.config().tickets.worktrees.join(self.record().path)
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        fs::write(self.worktree().join(file), text).expect("a file");
    }

    /// Somebody pushes a change of a file to a branch of the remote.
    pub(crate) fn push_to(&self, branch: &str, file: &str, text: &str) -> String {
        let clone = self.path("clone", "");
        if !clone.exists() {
            let (from, to) = (self.path("remote", ".git"), &clone);
            git(
                self.house.folder.path(),
                &["clone", "-q", as_text(&from), as_text(to)],
            );
        }
        git(&clone, &["fetch", "-q"]);
        git(
            &clone,
            &["checkout", "-q", "--detach", &format!("origin/{branch}")],
        );
        fs::write(clone.join(file), text).expect("a file");
        commit_all(&clone, "Somebody else's work");
        git(&clone, &["push", "-q", "origin", &format!("HEAD:{branch}")]);
        git(&clone, &["rev-parse", "HEAD"])
    }

    /// The head of the ticket's branch at the remote.
    pub(crate) fn pushed(&self) -> String {
        git(&self.path("remote", ".git"), &["rev-parse", BRANCH])
    }

    /// The head of the ticket's branch in the source repository.
    pub(crate) fn head(&self) -> String {
        git(&self.path("source", ""), &["rev-parse", BRANCH])
    }

    /// Whether a commit is part of the ticket's branch at the remote.
    pub(crate) fn has_pushed(&self, commit: &str) -> bool {
        let remote = self.path("remote", ".git");
        let known = git(&remote, &["rev-list", BRANCH]);
        known.lines().any(|line| line == commit)
    }

    pub(crate) async fn close(self) {
        self.engine().shutdown().await;
    }
}

/// A question that is asked is due again after three minutes, and what is answered
/// never after so long.
fn is_asked(watch: &PullRequestWatch, site: &Site) -> bool {
    let left = watch.due_at.since(site.house.ports.clock.now());
    (Duration::from_secs(130)..=Duration::from_secs(180)).contains(&left)
}

/// A script that says `ready` by a file, and ends when it may go. It leaves nothing in
/// its own folder.
fn until_go(house: &House) -> String {
    let folder = house.folder.path().display();
    format!(
        "echo $$ > {folder}/pid; mv {folder}/pid {folder}/ready; \
         while [ ! -e {folder}/go ]; do sleep 0.02; done"
    )
}
