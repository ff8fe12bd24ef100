//! Look-ups and sums: each knows more of a key than its company.

use workforce_domain::actor::{InstanceScope, Scope};
use workforce_domain::agent::AdapterType;
use workforce_domain::approval::ApprovalType;
use workforce_domain::attachment::ObjectName;
use workforce_domain::budget::BudgetBasis;
use workforce_domain::cost::Window;
use workforce_domain::id::Id;
use workforce_domain::issue::IssueStatus;
use workforce_domain::money::Cents;
use workforce_domain::port::{FoundIn, Reads, SearchCursor, Spender};
use workforce_domain::search::SearchQuery;
use workforce_domain::session::TaskKey;
use workforce_domain::text::{AccountKey, LabelName, SecretName};
use workforce_domain::ticket::TicketHolder;
use workforce_domain::time::Month;

use super::Body;
use super::filling::Asked;
use super::lists::{issue_filters, pages};
use crate::world::{id, later, now};

/// As many ids as a page has rows: SQLite may read them in another way than a few.
fn page_of<I: Id>(first: I) -> Vec<I> {
    let others = std::iter::repeat_with(id).take(49);
    std::iter::once(first).chain(others).collect()
}

/// Look-ups and sums that need no order of their own.
pub(super) fn others(asked: &Asked) -> Vec<(String, Body<'_>)> {
    let scope = asked.scope;
    let month = Month::of(now());
    vec![
        (
            "look-ups".into(),
            Box::new(move |reads: &mut dyn Reads| {
                reads.companies().find(Scope::SYSTEM, scope.company())?;
                reads.agents().find(Scope::SYSTEM, asked.agent)?;
                reads.agents().find_by_url_key(scope, "ada")?;
                reads.agents().chain_of_command(scope, asked.agent)?;
                reads.agents().running(scope, &page_of(asked.agent))?;
                reads.revisions().find(scope.into(), id())?;
                reads.revisions().last_number(scope, asked.agent)?;
                reads.instructions().pointer(scope, asked.agent)?;
                reads.instructions().manifest(scope, asked.agent, 1)?;
                reads.instructions().content(scope, asked.agent, "x")?;
                reads.credentials().key(&[0; 32])?;
                reads.credentials().run_token(&[0; 32])?;
                reads.credentials().named_run(scope, id())?;
                reads.board_tokens().find_by_digest(&[0; 32])?;
                reads.board_sessions().find_by_digest(&[0; 32])?;
                reads.board_sessions().find_link(&[0; 32])?;
                let task = TaskKey::Issue(asked.issue);
                let adapter_type = AdapterType::ClaudeLocal;
                reads
                    .sessions()
                    .find_session(scope, asked.agent, adapter_type, task)?;
                let account = AccountKey::parse("x").unwrap();
                reads.sessions().find_gate(scope, &account)?;
                reads.runs().completion(scope, id())?;
                reads
                    .runs()
                    .completed(InstanceScope::SYSTEM, &[id(), id()])?;
                reads.stream_tickets().find(&[0; 32])?;
                let holder = TicketHolder::AgentKey([0; 32]);
                reads.stream_tickets().waiting(scope, holder, now())?;
                reads.issues().find(Scope::SYSTEM, &asked.issue.into())?;
                reads.issues().find(
                    scope.into(),
                    &workforce_domain::issue::IssueRef::Identifier("A-1".into()),
                )?;
                reads.issues().ancestors(scope, asked.issue)?;
                reads.issues().depth_below(scope, asked.issue)?;
                reads.issues().open_children(scope, asked.issue)?;
                let done = [IssueStatus::Done];
                reads.issues().children(scope, asked.issue, &done, 1)?;
                reads.issues().governance(scope, asked.issue)?;
                reads.issues().lease(scope, asked.issue)?;
                reads.issues().leases(scope, &page_of(asked.issue))?;
                reads.comments().find_all(scope, &page_of(id()))?;
                reads
                    .labels()
                    .find_all(scope, &[asked.common, asked.rare])?;
                reads
                    .labels()
                    .find_by_name(scope, &LabelName::parse("x").unwrap())?;
                reads.labels().of_issues(scope, &[asked.issue])?;
                reads.labels().of_issues(scope, &page_of(asked.issue))?;
                reads.agents().has_reports(scope, asked.agent)?;
                reads.projects().find_by_url_key(scope, "site")?;
                reads.issues().find_all(scope, &page_of(asked.issue))?;
                let approvals = reads.approvals();
                approvals.find(Scope::SYSTEM, id())?;
                approvals.undecided_linked_to(scope, asked.issue)?;
                let kind = ApprovalType::ApproveIssuePlan;
                approvals.undecided_primary_for(scope, kind, asked.issue)?;
                approvals.undecided_blocking(scope, asked.issue)?;
                approvals.find_by_draft(scope, asked.agent)?;
                approvals.find_draft(scope, id())?;
                approvals.links(scope, &page_of(id()))?;
                approvals.history(scope, &page_of(id()))?;
                let projects = reads.projects();
                projects.find(Scope::SYSTEM, asked.project)?;
                projects.find_all(scope, &page_of(asked.project))?;
                projects.goals(scope, &page_of(asked.project))?;
                projects.find_workspace(scope, id())?;
                projects.workspaces(scope, &page_of(asked.project))?;
                reads.goals().find(Scope::SYSTEM, asked.goal)?;
                reads.goals().find_all(scope, &page_of(asked.goal))?;
                reads.goals().is_within(scope, asked.goal, asked.goal)?;
                reads.attachments().find(Scope::SYSTEM, id())?;
                reads.attachments().assets_among(
                    InstanceScope::SYSTEM,
                    &[ObjectName {
                        company: scope.company(),
                        asset: id(),
                    }],
                )?;
                reads.runs().find(Scope::SYSTEM, id())?;
                reads.runs().wake_of(scope, id())?;
                reads.runs().live_of(scope, asked.agent)?;
                reads.agents().timer(scope, asked.agent)?;
                reads.agents().has_work(scope, asked.agent)?;
                reads.projects().conventions(scope, asked.project)?;
                reads.ledger().find_by_key(scope, asked.agent, "k")?;
                for spender in [Spender::Company, Spender::Agent(asked.agent)] {
                    reads.ledger().spent(scope, spender, month)?;
                    reads.ledger().alerts(scope, spender, month)?;
                }
                reads
                    .ledger()
                    .spent_by(scope, &page_of(asked.agent), month)?;
                reads.ledger().spent_by_companies(&[scope], month)?;
                let secrets = reads.secrets();
                secrets.find(Scope::SYSTEM, asked.secret)?;
                secrets.find_by_name(scope, &SecretName::parse("x").unwrap())?;
                secrets.tokens(scope)?;
                secrets.version(scope, asked.secret, 1)?;
                secrets.users(scope, asked.secret)?;
                secrets.of_run(scope, id())?;
                Ok(())
            }) as Body<'_>,
        ),
        (
            "search".into(),
            Box::new(move |reads: &mut dyn Reads| {
                for typed in ["x", "fix this", "C1-7"] {
                    let query = SearchQuery::parse(typed).unwrap();
                    for filter in issue_filters(asked) {
                        let middle = SearchCursor {
                            found: FoundIn::Title as i16,
                            rank: 2,
                            updated_at: later(500).micros(),
                            id: asked.issue,
                        };
                        for page in pages(middle) {
                            reads.issues().search(scope, &query, &filter, &page)?;
                        }
                    }
                }
                reads.issues().live_child(scope, asked.issue, &[0; 32])?;
                Ok(())
            }) as Body<'_>,
        ),
        (
            "sums".into(),
            Box::new(move |reads: &mut dyn Reads| {
                let window = Window {
                    start: month.start(),
                    end: month.end(),
                };
                reads.ledger().total(scope, window)?;
                reads.ledger().by_agent(scope, window)?;
                reads.ledger().by_project(scope, window)?;
                reads.ledger().by_model(scope, window)?;
                for spender in [
                    Spender::Company,
                    Spender::Agent(asked.agent),
                    Spender::Project(asked.project),
                ] {
                    let ledger = reads.ledger();
                    ledger.first_cost(scope, spender)?;
                    ledger.by_day(scope, spender, window)?;
                    for basis in [BudgetBasis::Actual, BudgetBasis::Estimated] {
                        let limit = Cents::from_micros(1);
                        ledger.replay(scope, spender, window, basis, limit)?;
                    }
                }
                Ok(())
            }),
        ),
    ]
}
