//! The conditions of a start by name: of each that alone does not hold, the claim starts nothing
//! and a waiting wake tells exactly that one.

use workforce_domain::actor::InstanceScope;
use workforce_domain::agent::{AdapterType, Agent, AgentLifecycle};
use workforce_domain::company::{CompanyStatus, PauseReason};
use workforce_domain::cost::CostEvent;
use workforce_domain::id::WakeId;
use workforce_domain::issue::{Holder, IssueStatus, Progress};
use workforce_domain::money::Budget;
use workforce_domain::port::{ClaimRequest, WakeableAgent};
use workforce_domain::project::Project;
use workforce_domain::run::StartCondition;
use workforce_domain::string_enum::StringEnum;
use workforce_testkit::on_both_databases;

use crate::claim_conditions::{busy_colleague, end_lease, take, worktree};
use crate::engine::cost;
use crate::issues::approval;
use crate::sessions::gate;
use crate::world::{World, archive, claim, id, later, now, project, request, wake};

/// What a wake for the world's agent and issue waits for.
fn blocking(
    world: &World<'_>,
    wake: WakeId,
    request: &ClaimRequest,
) -> Option<Vec<StartCondition>> {
    world.read(|reads| {
        let terms = request.terms();
        reads
            .runs()
            .blocking_conditions(world.scope(), wake, &terms)
    })
}

/// Makes `condition` fail for a wake of the world's agent about its issue, and no other one.
pub(crate) fn break_only(condition: StartCondition, world: &World<'_>, request: &mut ClaimRequest) {
    let budget = |cents| Budget::from_cents(cents).unwrap();
    match condition {
        // The wakes of the tests are due now.
        StartCondition::NotBefore => request.now = now().minus(core::time::Duration::from_secs(1)),
        StartCondition::AgentBackoff => world.change_agent(&world.agent, |agent| {
            agent.backoff_until = Some(request.now.plus(core::time::Duration::from_secs(1)));
        }),
        StartCondition::ProviderGate => {
            world.change_agent(&world.agent, |agent| {
                agent.adapter_type = AdapterType::ClaudeLocal;
            });
            let gate = gate(world, "anthropic:login", 60);
            world.write(|tx| tx.sessions_mut().note_gate(&gate));
        }
        StartCondition::AgentNotEmployed => world.change_agent(&world.agent, |agent| {
            agent.lifecycle = AgentLifecycle::DRAFT;
        }),
        StartCondition::AgentPaused => world.change_agent(&world.agent, |agent| {
            agent.lifecycle = agent.lifecycle.pause(PauseReason::Manual, now()).unwrap();
        }),
        StartCondition::CompanyNotActive => world.change_company(|company| {
            company.lifecycle = company
                .lifecycle
                .transition_to(CompanyStatus::Paused, now())
                .unwrap();
        }),
        StartCondition::BudgetAgent => {
            world.change_agent(&world.agent, |agent| agent.budget = budget(10));
            world.write(|tx| tx.ledger_mut().record(&cost(world, "10")));
        }
        StartCondition::BudgetCompany => {
            world.change_company(|company| company.budget = budget(10));
            world.write(|tx| tx.ledger_mut().record(&cost(world, "10")));
        }
        StartCondition::BudgetProject => {
            let project = Project {
                total_budget: budget(10),
                ..project(&world.company)
            };
            world.write(|tx| {
                tx.projects_mut().insert(project.clone())?;
                tx.ledger_mut().record(&CostEvent {
                    project: Some(project.id),
                    ..cost(world, "10")
                })
            });
            world.change_issue(&world.issue, |issue| issue.project = Some(project.id));
        }
        StartCondition::CapInstance => request.instance_cap = 0,
        StartCondition::CapCompany => {
            world.change_company(|company| company.max_concurrent_runs = 1);
            busy_colleague(world);
        }
        StartCondition::CapAgent => {
            world.queue(&world.agent, None);
            claim(world.store).expect("it may start");
        }
        StartCondition::IssueEnded => world.change_issue(&world.issue, |issue| {
            issue.progress = Progress::begin(IssueStatus::Done, now());
        }),
        StartCondition::IssueHasLiveRun => {
            world.queue(&world.hire(), Some(&world.issue));
            claim(world.store).expect("it may start");
            end_lease(world);
        }
        StartCondition::WorkspaceBusy => {
            let (neighbour, workspace) = (world.open(), worktree(world));
            for issue in [&world.issue, &neighbour] {
                world.change_issue(issue, |issue| issue.execution_workspace = Some(workspace));
            }
            world.queue(&world.hire(), Some(&neighbour));
            claim(world.store).expect("it may start");
        }
        StartCondition::LeaseHeld => {
            take(world, &world.issue, Holder::Agent(world.hire().id), now());
        }
        StartCondition::ApprovalPending => {
            approval(
                world,
                "approve_issue_plan",
                "pending",
                Some(&world.issue),
                None,
            );
        }
    }
}

/// Queues a wake of the world's agent about its issue, whoever would let it in.
pub(crate) fn queue_all_the_same(world: &World<'_>) -> WakeId {
    let (wake, run) = wake(&world.agent, Some(&world.issue));
    let agent = WakeableAgent::assume_locked(world.scope(), world.agent.id);
    world.write(|tx| tx.runs_mut().queue(agent, &wake, &run));
    wake.id
}

on_both_databases! {
    #![beneath_the_rules]

    fn what_alone_keeps_a_wake_from_starting_is_named(store: &TestStore) {
        for condition in StartCondition::ALL {
            let world = World::new(store);
            let mut request = request(id());
            break_only(*condition, &world, &mut request);
            let wake = queue_all_the_same(&world);
            assert_eq!(blocking(&world, wake, &request), Some(vec![*condition]));
            let claimed = world.write(|tx| tx.engine_mut().claim(InstanceScope::SYSTEM, &request));
            assert_eq!(claimed, None, "{condition}");
            archive(store, world.company.id);
        }
    }

    fn several_conditions_are_named_in_their_order(store: &TestStore) {
        let world = World::new(store);
        let mut request = request(id());
        let several = [
            StartCondition::AgentPaused,
            StartCondition::CompanyNotActive,
            StartCondition::CapInstance,
            StartCondition::LeaseHeld,
            StartCondition::ApprovalPending,
        ];
        for condition in several.iter().rev() {
            break_only(*condition, &world, &mut request);
        }
        let wake = queue_all_the_same(&world);
        assert_eq!(blocking(&world, wake, &request), Some(several.to_vec()));
    }

    fn what_the_board_asks_for_waits_for_no_back_off(store: &TestStore) {
        let world = World::new(store);
        let mut request = request(id());
        break_only(StartCondition::AgentBackoff, &world, &mut request);
        let (mut wake, run) = wake(&world.agent, None);
        wake.by_board = true;
        let agent = WakeableAgent::assume_locked(world.scope(), world.agent.id);
        world.write(|tx| tx.runs_mut().queue(agent, &wake, &run));
        assert_eq!(blocking(&world, wake.id, &request), Some(vec![]));
    }

    fn a_gate_keeps_the_agents_of_its_account_and_no_others(store: &TestStore) {
        let world = World::new(store);
        let other = World::new(store);
        let claude = |agent: &Agent| {
            world.change_agent(agent, |agent| agent.adapter_type = AdapterType::ClaudeLocal);
        };
        let neighbour = world.hire();
        claude(&neighbour);
        claude(&world.agent);
        let waits = |gated: &str, agent: &Agent| {
            let gate = gate(&world, gated, 60);
            world.write(|tx| tx.sessions_mut().note_gate(&gate));
            let (wake, _) = world.queue(agent, None);
            let found = blocking(&world, wake.id, &request(id()));
            world.write(|tx| tx.sessions_mut().delete_gate(world.scope(), &gate.account));
            found == Some(vec![StartCondition::ProviderGate])
        };
        assert!(waits("anthropic:login", &world.agent));
        assert!(waits(&format!("anthropic:login:{}", neighbour.id), &neighbour));
        let third = world.hire();
        claude(&third);
        assert!(!waits(&format!("anthropic:login:{}", neighbour.id), &third));
        let fourth = world.hire();
        claude(&fourth);
        assert!(!waits("anthropic:own", &fourth));
        let elsewhere = gate(&other, "anthropic:login", 60);
        world.write(|tx| tx.sessions_mut().note_gate(&elsewhere));
        let fifth = world.hire();
        claude(&fifth);
        assert!(!waits("openai:login", &fifth), "the gate of another company");
    }

    fn a_wake_that_may_start_waits_for_nothing(store: &TestStore) {
        let world = World::new(store);
        let (wake, run) = world.queue(&world.agent, Some(&world.issue));
        let request = request(id());
        assert_eq!(blocking(&world, wake.id, &request), Some(vec![]));
        assert_eq!(claim(store).map(|claimed| claimed.run.id), Some(run.id));
        assert_eq!(blocking(&world, wake.id, &request), None, "it waits no more");
    }

    fn a_wake_is_asked_about_within_its_company(store: &TestStore) {
        let (world, other) = (World::new(store), World::new(store));
        let (wake, _) = world.queue(&world.agent, None);
        assert_eq!(blocking(&other, wake.id, &request(id())), None);
        assert_eq!(blocking(&world, id(), &request(id())), None);
        let mut later_on = request(id());
        later_on.now = later(5);
        assert_eq!(blocking(&world, wake.id, &later_on), Some(vec![]));
    }
}
