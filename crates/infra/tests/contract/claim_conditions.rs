//! The conditions of a start, one by one: each alone keeps a run from
//! starting, and lifting it lets it start.

pub(crate) mod obstacles;

use workforce_domain::actor::InstanceScope;
use workforce_domain::agent::AgentLifecycle;
use workforce_domain::company::{CompanyStatus, PauseReason};
use workforce_domain::issue::Holder;
use workforce_domain::money::Budget;
use workforce_domain::port::{StopScope, WakeableAgent};
use workforce_domain::run::RunKind;
use workforce_domain::time::{Month, Timestamp};
use workforce_testkit::on_both_databases;
use workforce_testkit::store::TestStore;

use crate::engine::cost;
use crate::issues::{approval, approve};
use crate::world::{World, archive, claim, heartbeat, id, later, now, queue, request, wake};

pub(crate) use self::obstacles::{busy_colleague, end_lease, take, worktree};

/// Asserts that `block` alone keeps a queued wake from starting, and that
/// after `lift` it starts.
#[track_caller]
fn check<B>(
    store: &TestStore,
    block: impl FnOnce(&World<'_>) -> B,
    lift: impl FnOnce(&World<'_>, B),
) {
    let world = World::new(store);
    let blocked = block(&world);
    let (wake, run) = wake(&world.agent, Some(&world.issue));
    // The claim holds its conditions whoever let the wake in.
    let agent = WakeableAgent::assume_locked(world.scope(), world.agent.id);
    world.write(|tx| tx.runs_mut().queue(agent, &wake, &run));
    assert_eq!(claim(store), None, "the condition holds");
    lift(&world, blocked);
    let claimed = claim(store).expect("the condition is lifted");
    assert_eq!(claimed.run.id, run.id);
    archive(store, world.company.id);
}

fn move_company(world: &World<'_>, status: CompanyStatus) {
    world.change_company(|company| {
        company.lifecycle = company.lifecycle.transition_to(status, now()).unwrap();
    });
}

on_both_databases! {
    #![beneath_the_rules]
    fn the_wake_is_due(store: &TestStore) {
        let world = World::new(store);
        world.queue(&world.agent, None);
        world.write(|tx| {
            let mut wake =
                tx.runs_mut().lock_pending_wake(world.scope(), world.agent.id, None)?.unwrap();
            wake.not_before = later(10);
            tx.runs_mut().save_wake(&wake)
        });
        let at = |seconds| {
            let mut request = request(id());
            request.now = later(seconds);
            world.write(|tx| tx.engine_mut().claim(InstanceScope::SYSTEM, &request)).is_some()
        };
        assert!(!at(9));
        assert!(at(10));
        assert!(!at(11), "a wake is answered once");
    }

    fn the_agent_is_enabled(store: &TestStore) {
        for lifecycle in [
            AgentLifecycle::ENABLED.pause(PauseReason::Manual, now()).unwrap(),
            AgentLifecycle::ENABLED.pause(PauseReason::Budget, now()).unwrap(),
            AgentLifecycle::DRAFT,
        ] {
            check(
                store,
                |world| world.change_agent(&world.agent, |agent| agent.lifecycle = lifecycle),
                |world, ()| {
                    world.change_agent(&world.agent, |agent| {
                        agent.lifecycle = AgentLifecycle::ENABLED;
                    });
                },
            );
        }
    }

    fn the_company_is_active(store: &TestStore) {
        for status in [CompanyStatus::Paused, CompanyStatus::Archived] {
            check(
                store,
                |world| move_company(world, status),
                |world, ()| move_company(world, CompanyStatus::Active),
            );
        }
    }

    fn the_company_is_not_stopped(store: &TestStore) {
        check(
            store,
            |world| {
                world.change_company(|company| {
                    company.lifecycle = company.lifecycle.stop_for_budget(now());
                });
            },
            |world, ()| {
                world.change_company(|company| {
                    company.lifecycle = company.lifecycle.lift_budget_stop();
                });
            },
        );
    }

    fn the_agent_has_budget_left(store: &TestStore) {
        for raised in [11, 0] {
            check(
                store,
                |world| {
                    world.change_agent(&world.agent, |agent| {
                        agent.budget = Budget::from_cents(10).unwrap();
                    });
                    world.write(|tx| tx.ledger_mut().record(&cost(world, "10")));
                },
                |world, ()| {
                    world.change_agent(&world.agent, |agent| {
                        agent.budget = Budget::from_cents(raised).unwrap();
                    });
                },
            );
        }
    }

    fn the_agent_has_no_budget_left_but_the_word_of_the_board_for_the_month(store: &TestStore) {
        check(
            store,
            |world| {
                world.change_agent(&world.agent, |agent| {
                    agent.budget = Budget::from_cents(10).unwrap();
                    agent.budget_override = Month::from_number(202_610);
                });
                world.write(|tx| tx.ledger_mut().record(&cost(world, "10")));
            },
            |world, ()| {
                world.change_agent(&world.agent, |agent| {
                    agent.budget_override = Month::from_number(202_611);
                });
            },
        );
    }

    fn the_company_has_budget_left(store: &TestStore) {
        check(
            store,
            |world| {
                world.change_company(|company| company.budget = Budget::from_cents(10).unwrap());
                world.write(|tx| tx.ledger_mut().record(&cost(world, "10.000001")));
            },
            |world, ()| {
                world.change_company(|company| company.budget = Budget::from_cents(11).unwrap());
            },
        );
    }

    fn the_spend_of_another_month_does_not_count(store: &TestStore) {
        let world = World::new(store);
        world.change_agent(&world.agent, |agent| agent.budget = Budget::from_cents(1).unwrap());
        let mut event = cost(&world, "5");
        event.occurred_at = Timestamp::parse("2026-10-31").unwrap();
        world.write(|tx| tx.ledger_mut().record(&event));
        world.queue(&world.agent, None);
        assert!(claim(store).is_some());
    }

    fn the_agent_has_a_free_place(store: &TestStore) {
        check(
            store,
            |world| {
                world.queue(&world.agent, None);
                claim(store).expect("it may start").run
            },
            |world, run| world.finish(&run),
        );
        check(
            store,
            |world| {
                world.queue(&world.agent, None);
                claim(store).expect("it may start");
            },
            |world, ()| {
                world.change_agent(&world.agent, |agent| agent.runtime_config = heartbeat(2));
            },
        );
    }

    fn the_company_has_a_free_place(store: &TestStore) {
        check(
            store,
            |world| {
                world.change_company(|company| company.max_concurrent_runs = 1);
                busy_colleague(world)
            },
            |world, run| world.finish(&run),
        );
    }

    fn the_server_has_a_free_place(store: &TestStore) {
        let world = World::new(store);
        let (full, free) = (id(), id());
        for instance in [full, free] {
            world.queue(&world.hire(), None);
            world
                .write(|tx| tx.engine_mut().claim(InstanceScope::SYSTEM, &request(instance)))
                .expect("it may start");
        }
        world.queue(&world.agent, None);
        let claim = |instance, instance_cap| {
            let mut request = request(instance);
            request.instance_cap = instance_cap;
            world.write(|tx| tx.engine_mut().claim(InstanceScope::SYSTEM, &request))
        };
        assert_eq!(claim(full, 1), None);
        assert_eq!(claim(full, 0), None);
        assert!(claim(free, 2).is_some(), "runs of other servers do not count");
    }

    fn no_other_agent_holds_the_issue(store: &TestStore) {
        check(
            store,
            |world| take(world, &world.issue, Holder::Agent(world.hire().id), now()),
            |world, ()| end_lease(world),
        );
    }

    fn no_run_holds_the_issue(store: &TestStore) {
        check(
            store,
            |world| {
                let run = busy_colleague(world);
                take(world, &world.issue, Holder::Run { agent: run.agent, run: run.id }, now());
                run
            },
            |world, run| world.finish(&run),
        );
    }

    fn an_expired_lease_or_the_agents_own_does_not_keep_it_from_starting(store: &TestStore) {
        let long_ago = now().minus(workforce_domain::issue::AGENT_LEASE);
        for (own, at) in [(true, now()), (true, long_ago), (false, long_ago)] {
            let world = World::new(store);
            let holder = if own { world.agent.id } else { world.hire().id };
            take(&world, &world.issue, Holder::Agent(holder), at);
            world.queue(&world.agent, Some(&world.issue));
            let run = claim(store).expect("it may start").run;
            let lease = world
                .read(|reads| reads.issues().lease(world.scope(), world.issue.id))
                .expect("the run holds it");
            assert_eq!(lease.holder, Holder::Run { agent: world.agent.id, run: run.id });
            assert_eq!(lease.expires_at, None);
            assert_eq!(lease.fence, 2);
        }
    }

    fn no_other_run_works_on_the_issue(store: &TestStore) {
        check(
            store,
            |world| {
                world.queue(&world.hire(), Some(&world.issue));
                let run = claim(store).expect("it may start").run;
                end_lease(world);
                run
            },
            |world, run| world.finish(&run),
        );
    }

    fn no_other_run_works_in_the_worktree(store: &TestStore) {
        check(
            store,
            |world| {
                let neighbour = world.open();
                let workspace = worktree(world);
                for issue in [&world.issue, &neighbour] {
                    world.change_issue(issue, |issue| {
                        issue.execution_workspace = Some(workspace);
                    });
                }
                world.queue(&world.hire(), Some(&neighbour));
                claim(store).expect("it may start").run
            },
            |world, run| world.finish(&run),
        );
    }

    fn no_plan_of_the_issue_is_undecided(store: &TestStore) {
        for status in ["pending", "revision_requested"] {
            check(
                store,
                |world| approval(world, "approve_issue_plan", status, Some(&world.issue), None),
                |world, plan| approve(world, &plan),
            );
            check(
                store,
                |world| approval(world, "approve_issue_plan", status, None, Some(&world.issue)),
                |world, plan| approve(world, &plan),
            );
        }
    }

    fn no_plan_of_an_ancestor_is_undecided(store: &TestStore) {
        check(
            store,
            |world| {
                let (parent, top) = (world.open(), world.open());
                world.change_issue(&world.issue, |issue| issue.parent = Some(parent.id));
                world.change_issue(&parent, |issue| issue.parent = Some(top.id));
                approval(world, "approve_issue_plan", "pending", Some(&top), None)
            },
            |world, plan| approve(world, &plan),
        );
    }

    fn other_approvals_do_not_keep_it_from_starting(store: &TestStore) {
        let world = World::new(store);
        approval(&world, "approve_pull_request", "pending", Some(&world.issue), None);
        approval(&world, "approve_issue_plan", "pending", Some(&world.open()), None);
        world.queue(&world.agent, Some(&world.issue));
        assert!(claim(store).is_some());
    }

    fn a_cycle_of_parents_does_not_hang_the_claim(store: &TestStore) {
        let world = World::new(store);
        let other = world.open();
        world.change_issue(&world.issue, |issue| issue.parent = Some(other.id));
        world.change_issue(&other, |issue| issue.parent = Some(world.issue.id));
        world.queue(&world.agent, Some(&world.issue));
        assert!(claim(store).is_some());
    }

    fn a_consultation_needs_no_lease(store: &TestStore) {
        let world = World::new(store);
        take(&world, &world.issue, Holder::Agent(world.hire().id), now());
        approval(&world, "approve_issue_plan", "pending", Some(&world.issue), None);
        let (mut wake, mut run) = wake(&world.agent, Some(&world.issue));
        (wake.kind, run.kind) = (RunKind::Consult, RunKind::Consult);
        world.write(|tx| queue(tx, &wake, &run));
        let claimed = claim(store).expect("it may start");
        assert_eq!(claimed.run.id, run.id);
        let lease = world.read(|reads| reads.issues().lease(world.scope(), world.issue.id));
        assert!(lease.is_some_and(|lease| lease.holder.run().is_none()));
    }

    fn nothing_is_claimed_that_was_cancelled(store: &TestStore) {
        let world = World::new(store);
        world.queue(&world.agent, Some(&world.issue));
        world.write(|tx| tx.runs_mut().cancel_pending(world.scope(), StopScope::Company, now()));
        assert_eq!(claim(store), None);
    }
}
