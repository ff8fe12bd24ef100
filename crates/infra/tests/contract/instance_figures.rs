//! The figures of the instance, which a scraper asks for.

use core::time::Duration;
use std::time::Instant;

use workforce_domain::actor::InstanceScope;
use workforce_domain::agent::Agent;
use workforce_domain::approval::ApprovalType;
use workforce_domain::budget::BudgetBasis;
use workforce_domain::instance_figures::{InstanceFigures, SPENDERS_TOLD, WAKES_ASKED};
use workforce_domain::issue::{Holder, IssueStatus, Progress, StuckReason};
use workforce_domain::money::Cents;
use workforce_domain::port::ClaimRequest;
use workforce_domain::run::StartCondition;
use workforce_domain::string_enum::StringEnum;
use workforce_testkit::on_both_databases;
use workforce_testkit::store::TestStore;

use crate::claim_conditions::take;
use crate::engine::cost;
use crate::issues::approval;
use crate::start_conditions::{break_only, queue_all_the_same};
use crate::world::{World, agent, archive, claim, execute, id, now, queue, read, request, wake};

fn figures(store: &TestStore, request: &ClaimRequest) -> InstanceFigures {
    let terms = request.terms();
    read(&**store, |reads| {
        let companies = reads.companies();
        companies.instance_figures(InstanceScope::SYSTEM, &terms)
    })
}

fn note_stuck(world: &World<'_>, reason: StuckReason) {
    let issue = world.open();
    world.write(|tx| {
        let held = tx
            .issues_mut()
            .lock(world.scope().into(), &issue.id.into())?;
        tx.issues_mut()
            .note_stuck(&held.unwrap(), Some(reason), now())
    });
    if reason == StuckReason::Blocked {
        world.change_issue(&issue, |issue| {
            issue.progress = Progress::begin(IssueStatus::Done, now());
        });
    }
}

on_both_databases! {
    #![beneath_the_rules]

    fn an_instance_is_counted(store: &TestStore) {
        let asked = request(id());
        assert_eq!(figures(store, &asked), InstanceFigures::default());
        let (world, other) = (World::new(store), World::new(store));
        world.queue(&world.agent, Some(&world.issue));
        claim(store).expect("it may start");
        take(&other, &other.issue, Holder::Agent(other.agent.id), now());
        world.queue(&world.hire(), None);
        let colleague = other.hire();
        other.queue(&colleague, None);
        break_only(StartCondition::AgentPaused, &other, &mut request(id()));
        other.queue(&other.agent, None);
        approval(&world, "agent_question", "pending", None, None);
        approval(&other, "agent_question", "pending", None, None);
        approval(&other, "approve_ceo_strategy", "pending", None, None);
        approval(&other, "hire_agent", "revision_requested", None, None);
        approval(&other, "hire_agent", "approved", None, None);
        note_stuck(&world, StuckReason::NotWoken);
        note_stuck(&other, StuckReason::NotWoken);
        note_stuck(&other, StuckReason::RunFailed);
        note_stuck(&other, StuckReason::Blocked);
        world.write(|tx| tx.ledger_mut().record(&cost(&world, "10.5")));
        let mut estimated = cost(&other, "10");
        estimated.estimated = Cents::parse("70").ok();
        other.write(|tx| tx.ledger_mut().record(&estimated));
        other.change_company(|company| company.budget_basis = BudgetBasis::Estimated);

        let mut found = figures(store, &asked);
        found.queued_wakes.sort();
        found.waiting_approvals.sort();
        found.stuck_issues.sort();
        let spent = |cents| Cents::parse(cents).unwrap();
        assert_eq!(found, InstanceFigures {
            companies: 2,
            live_runs: 1,
            pending_wakes: 3,
            queued_wakes: vec![(None, 2), (Some(StartCondition::AgentPaused), 1)],
            waiting_approvals: vec![
                (ApprovalType::ApproveCeoStrategy, 1),
                (ApprovalType::AgentQuestion, 2),
            ],
            issue_leases: 2,
            stuck_issues: vec![(StuckReason::RunFailed, 1), (StuckReason::NotWoken, 2)],
            month_spends: vec![
                (other.company.id, spent("70")),
                (world.company.id, spent("10.5")),
            ],
        });
        let mut next_month = asked;
        next_month.now = now().plus(Duration::from_secs(40 * 24 * 60 * 60));
        let found = figures(store, &next_month);
        assert_eq!((found.month_spends, found.issue_leases), (vec![], 1), "what has ended");
    }

    fn a_wake_is_told_by_the_first_condition_that_does_not_hold(store: &TestStore) {
        for condition in StartCondition::ALL {
            let world = World::new(store);
            let mut request = request(id());
            break_only(*condition, &world, &mut request);
            queue_all_the_same(&world);
            assert_eq!(figures(store, &request).queued_wakes, [(Some(*condition), 1)]);
            if *condition != StartCondition::ApprovalPending {
                // What comes later in the list is not told.
                break_only(StartCondition::ApprovalPending, &world, &mut request);
                assert_eq!(figures(store, &request).queued_wakes, [(Some(*condition), 1)]);
            }
            let company = world.company.id;
            let end = "UPDATE wakes SET status = 'cancelled' WHERE status = 'pending'";
            execute(store, &format!("{end} AND company_id = '{company}'"));
            archive(store, company);
        }
    }

    fn however_much_there_is_a_bounded_part_is_told_soon(store: &TestStore) {
        let worlds: Vec<World<'_>> = (0..SPENDERS_TOLD + 10).map(|_| World::new(store)).collect();
        for world in &worlds {
            world.write(|tx| tx.ledger_mut().record(&cost(world, "10")));
        }
        let world = &worlds[0];
        approval(world, "approve_issue_plan", "pending", None, None);
        let agents: Vec<Agent> = (0..WAKES_ASKED + 100).map(|_| agent(&world.company)).collect();
        world.write(|tx| {
            for agent in &agents {
                tx.agents_mut().insert(agent.clone())?;
            }
            Ok(())
        });
        world.write(|tx| {
            for agent in &agents {
                let (wake, run) = wake(agent, Some(&world.issue));
                queue(tx, &wake, &run)?;
            }
            Ok(())
        });
        // A database counts its rows by itself, but not at once.
        execute(store, "ANALYZE");
        let began = Instant::now();
        let found = figures(store, &request(id()));
        let took = began.elapsed();
        assert_eq!(found.month_spends.len(), SPENDERS_TOLD);
        assert_eq!(found.pending_wakes, i64::try_from(agents.len()).unwrap());
        assert_eq!(found.queued_wakes, [(None, i64::try_from(WAKES_ASKED).unwrap())]);
        assert!(took < Duration::from_secs(10), "{took:?}");
    }
}
