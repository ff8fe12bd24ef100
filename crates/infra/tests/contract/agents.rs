use workforce_domain::actor::Scope;
use workforce_domain::agent::{AdapterType, Agent, AgentLifecycle};
use workforce_domain::company::PauseReason;
use workforce_domain::money::Budget;
use workforce_domain::page::PageRequest;
use workforce_domain::port::{AgentFilter, Locked, StoreError};
use workforce_domain::text::{Description, Label, Name, Role};
use workforce_testkit::on_both_databases;

use crate::world::{World, agent, claim, heartbeat, later, try_write};

on_both_databases! {
    #![beneath_the_rules]
    fn an_agent_is_stored_whole_and_emptied_again(store: &TestStore) {
        let world = World::new(store);
        let manager = world.hire();
        let plain = world.agent.clone();
        let full = Agent {
            name: Name::parse("Grace").unwrap(),
            role: Role::parse("ceo").unwrap(),
            title: Some(Label::parse("Boss").unwrap()),
            icon: Some(Label::parse("star").unwrap()),
            capabilities: Some(Description::parse("everything").unwrap()),
            reports_to: Some(manager.id),
            lifecycle: AgentLifecycle::ENABLED.pause(PauseReason::System, later(1)).unwrap(),
            consecutive_failures: 2,
            adapter_type: AdapterType::ClaudeLocal,
            adapter_config: heartbeat(2),
            runtime_config: heartbeat(3),
            can_create_agents: true,
            metadata: heartbeat(4),
            budget: Budget::from_cents(7).unwrap(),
            last_heartbeat_at: Some(later(2)),
            updated_at: later(3),
            ..plain.clone()
        };
        let gone =
            Agent { lifecycle: AgentLifecycle::ENABLED.terminate(later(4)).unwrap(), ..plain.clone() };
        let draft = Agent { lifecycle: AgentLifecycle::DRAFT, ..plain.clone() };
        for version in [full, gone, draft, plain] {
            world.change_agent(&version, |held| held.clone_from(&version));
            let found = world.read(|reads| reads.agents().find(Scope::SYSTEM, version.id));
            assert_eq!(found.as_ref(), Some(&version));
            let found =
                world.read(|reads| reads.agents().find_by_url_key(world.scope(), &version.url_key));
            assert_eq!(found, Some(version));
        }
    }

    fn a_short_name_is_taken_once_per_company(store: &TestStore) {
        let world = World::new(store);
        let twin = Agent { url_key: world.agent.url_key.clone(), ..agent(&world.company) };
        let refused = try_write(&**store, |tx| tx.agents_mut().insert(twin.clone()));
        assert!(matches!(refused, Err(StoreError::Contended)), "{refused:?}");
        let other = World::new(store);
        let namesake = Agent { url_key: twin.url_key, ..agent(&other.company) };
        other.write(|tx| tx.agents_mut().insert(namesake.clone()));
        let taken =
            other.read(|reads| reads.agents().url_keys(other.scope(), &namesake.url_key));
        assert_eq!(taken, [namesake.url_key]);
        let none = other.read(|reads| reads.agents().url_keys(other.scope(), "ADA"));
        assert!(none.is_empty());
    }

    fn terminated_agents_are_listed_on_demand(store: &TestStore) {
        let world = World::new(store);
        let gone = world.hire();
        world.change_agent(&gone, |agent| {
            agent.lifecycle = AgentLifecycle::ENABLED.terminate(later(1)).unwrap();
        });
        for (include_terminated, expected) in
            [(false, vec![world.agent.id]), (true, vec![world.agent.id, gone.id])]
        {
            let page = world.read(|reads| {
                reads.agents().list(
                    world.scope(),
                    AgentFilter { include_terminated },
                    &PageRequest::first(),
                )
            });
            let ids: Vec<_> = page.items.iter().map(|agent| agent.id).collect();
            assert_eq!(ids, expected);
        }
    }

    fn a_chain_of_command_ends_at_the_top_at_its_limit_and_in_a_cycle(store: &TestStore) {
        let world = World::new(store);
        let staff: Vec<Agent> = (0..55).map(|_| world.hire()).collect();
        for pair in staff.windows(2) {
            world.change_agent(&pair[0], |agent| agent.reports_to = Some(pair[1].id));
        }
        let chain = |of: &Agent| {
            let chain =
                world.read(|reads| reads.agents().chain_of_command(world.scope(), of.id));
            chain.into_iter().map(|link| link.id).collect::<Vec<_>>()
        };
        let ids: Vec<_> = staff.iter().map(|agent| agent.id).collect();
        assert_eq!(chain(&staff[54]), []);
        assert_eq!(chain(&staff[52]), ids[53..]);
        assert_eq!(chain(&staff[0]), ids[1..=50]);

        world.change_agent(&staff[2], |agent| agent.reports_to = Some(staff[0].id));
        assert_eq!(chain(&staff[0]), ids[1..=2]);
    }

    fn only_the_employed_can_be_mentioned(store: &TestStore) {
        let world = World::new(store);
        let [paused, draft, gone] = [world.hire(), world.hire(), world.hire()];
        world.change_agent(&paused, |agent| {
            agent.lifecycle =
                AgentLifecycle::ENABLED.pause(PauseReason::Manual, later(1)).unwrap();
        });
        world.change_agent(&draft, |agent| agent.lifecycle = AgentLifecycle::DRAFT);
        world.change_agent(&gone, |agent| {
            agent.lifecycle = AgentLifecycle::ENABLED.terminate(later(1)).unwrap();
        });
        let found = world.read(|reads| reads.agents().mentionable(world.scope()));
        let ids: Vec<_> = found.iter().map(|agent| agent.id).collect();
        assert_eq!(ids, [world.agent.id, paused.id]);
        let named = world.read(|reads| reads.agents().names(world.scope()));
        let named: Vec<_> = named.iter().map(|(id, _)| *id).collect();
        assert_eq!(named, [world.agent.id, paused.id, draft.id]);
        assert_eq!(found[0].url_key, world.agent.url_key);
        assert_eq!(found[0].name, "Ada");
    }

    fn those_with_a_live_run_are_running(store: &TestStore) {
        let world = World::new(store);
        let idle = world.hire();
        world.change_agent(&world.agent, |agent| agent.runtime_config = heartbeat(2));
        world.queue(&world.agent, None);
        world.queue(&world.agent, Some(&world.issue));
        let running = |agents: &[_]| {
            world.read(|reads| reads.agents().running(world.scope(), agents))
        };
        assert_eq!(running(&[world.agent.id, idle.id]), []);
        let first = claim(store).expect("one may start");
        claim(store).expect("another may start");
        assert_eq!(running(&[world.agent.id, idle.id]), [world.agent.id]);
        assert_eq!(running(&[idle.id]), []);
        world.finish(&first.run);
        assert_eq!(running(&[world.agent.id]), [world.agent.id]);
    }

    fn reports_of_a_manager_are_locked_and_move_to_another(store: &TestStore) {
        let world = World::new(store);
        let [old, new, report, other] = [world.hire(), world.hire(), world.hire(), world.hire()];
        world.change_agent(&report, |agent| agent.reports_to = Some(old.id));
        let reports_to = |agent: &Agent| {
            world
                .read(|reads| reads.agents().find(Scope::SYSTEM, agent.id))
                .and_then(|agent| agent.reports_to)
        };
        for to in [Some(new.id), None] {
            let from = reports_to(&report).expect("it has a manager");
            let locked = world.write(|tx| {
                let manager = tx.agents_mut().lock(Scope::SYSTEM, from)?.expect("it exists");
                let mut reports = tx.agents_mut().lock_reports_of(&manager)?;
                for report in &mut reports {
                    report.reports_to = to;
                    tx.agents_mut().save(report)?;
                }
                Ok(reports.into_iter().map(Locked::into_inner).collect::<Vec<_>>())
            });
            let expected = Agent { reports_to: to, ..report.clone() };
            assert_eq!(locked, [expected]);
            assert_eq!(reports_to(&report), to);
            assert_eq!(reports_to(&other), None);
        }
    }
}
