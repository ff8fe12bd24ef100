//! The way back from any history.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use workforce_app::activity_log::document;
use workforce_app::agents::UpdateAgent;
use workforce_domain::change::Change;
use workforce_testkit::world::{World, done, label, name};

use super::{adapter, config, patch, revisions, roll_back};
use crate::support::budget;

/// A step of a history.
#[derive(Clone, Debug)]
enum Step {
    Patch(Box<UpdateAgent>),
    BackTo(prop::sample::Index),
}

fn step() -> impl Strategy<Value = Step> {
    let patches = prop_oneof![
        select(vec!["Ada", "Bea", "Cyd"]).prop_map(|called| UpdateAgent {
            name: Some(name(called)),
            ..UpdateAgent::default()
        }),
        select(vec![None, Some("Lead"), Some("Chief")]).prop_map(|title| UpdateAgent {
            title: title.map_or(Change::Clear, |title| Change::Set(label(title))),
            ..UpdateAgent::default()
        }),
        (0_i64..3).prop_map(|cents| UpdateAgent {
            budget: Some(budget(cents * 100)),
            ..UpdateAgent::default()
        }),
        (
            select(vec!["A", "API_TOKEN", "B"]),
            select(vec![json!("1"), json!("a.b.c"), Value::Null])
        )
            .prop_map(|(variable, value)| adapter(json!({ "env": { variable: value } }))),
        any::<bool>().prop_map(|on| UpdateAgent {
            runtime_config: Some(document(json!({ "heartbeat": { "enabled": on } }))),
            metadata: Some(document(json!({ "on": on }))),
            ..UpdateAgent::default()
        }),
    ];
    prop_oneof![
        4 => patches.prop_map(|change| Step::Patch(Box::new(change))),
        1 => any::<prop::sample::Index>().prop_map(Step::BackTo),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn going_back_leads_to_the_state_after_that_revision(steps in prop::collection::vec(step(), 1..14)) {
        let world = World::sqlite();
        let agent = world.hired(world.company("Acme").id, "Ada");
        let mut states = vec![config(&world, agent.id)];
        for step in steps {
            let known = revisions(&world, agent.id);
            match step {
                Step::Patch(change) => {
                    patch(&world, agent.id, &change);
                }
                Step::BackTo(place) => {
                    let place = place.index(known.len());
                    done(roll_back(world.board(), agent.id, known[place].revision.id, None));
                    prop_assert_eq!(&config(&world, agent.id), &states[place]);
                }
            }
            if revisions(&world, agent.id).len() > known.len() {
                states.push(config(&world, agent.id));
            }
        }
        let kept: Vec<_> = revisions(&world, agent.id).into_iter().map(|view| view.after).collect();
        prop_assert_eq!(kept, states);
    }
}
