//! No limit is exceeded by more than a message of each live run, whatever the order
//! (docs/budgets.md).

use std::collections::HashSet;

use proptest::prelude::*;
use workforce_app::costs::ModelUse;
use workforce_app::{Code, Refusal};
use workforce_domain::cost::BillingType;
use workforce_domain::id::{CompanyId, ProjectId, RunId};
use workforce_domain::issue::Issue;
use workforce_domain::port::Spender;
use workforce_domain::run::Run;
use workforce_testkit::world::{World, done, refused, report_of};

use super::projects::{issue_in, limit_project, move_issue, project};
use super::reservations::{TOKENS_OF_A_CENT, crowd, finish, tell, use_of};
use crate::support::{look, report, scope};

/// What happens next.
#[derive(Clone, Copy, Debug)]
enum Step {
    Start,
    /// A live run tells a message of so many cents.
    Message(usize, i64),
    End(usize),
    /// The board moves an issue into the project, or out of it.
    Move(usize, bool),
    /// Its agent tries to move it out.
    Flee(usize),
    /// A live run reports a cost of so many cents itself, without a word on where it belongs.
    Report(usize, i64),
}

/// No message costs more, in cents.
const DEAREST: i64 = 40;

fn step() -> impl Strategy<Value = Step> {
    let run = any::<usize>;
    prop_oneof![
        4 => Just(Step::Start),
        10 => (run(), 1..=DEAREST).prop_map(|(run, cost)| Step::Message(run, cost)),
        2 => run().prop_map(Step::End),
        2 => (run(), any::<bool>()).prop_map(|(issue, inside)| Step::Move(issue, inside)),
        1 => run().prop_map(Step::Flee),
        3 => (run(), 1..=DEAREST).prop_map(|(run, cost)| Step::Report(run, cost)),
    ]
}

/// Agents with issues, half of them in a project, and what limits them.
struct Scene {
    world: World,
    company: CompanyId,
    house: ProjectId,
    issues: Vec<Issue>,
    live: Vec<(Run, Vec<ModelUse>)>,
    most_live: usize,
    /// The runs whose issue was in the project when they were claimed.
    inside: HashSet<RunId>,
    /// What these used, in millionths of a cent.
    used_inside: i64,
}

impl Scene {
    fn new(limit: i64, of_project: i64) -> Self {
        let world = World::sqlite();
        let agents = crowd(&world, limit, 8);
        let company = agents[0].company;
        let house = project(&world, company, "House");
        limit_project(&world, house, of_project);
        let issue = |agent| issue_in(&world, agent, Some(house));
        let issues = agents.iter().map(issue).collect();
        Self {
            world,
            company,
            house,
            issues,
            live: Vec::new(),
            most_live: 0,
            inside: HashSet::new(),
            used_inside: 0,
        }
    }

    fn take(&mut self, step: Step, tells_cost: bool) {
        let world = &self.world;
        match step {
            Step::Start => {
                for run in world.start_all().into_iter().map(|started| started.run) {
                    let issue = world.stored_issue(run.issue.unwrap());
                    if issue.project == Some(self.house) {
                        self.inside.insert(run.id);
                    }
                    self.live.push((run, Vec::new()));
                }
                self.most_live = self.most_live.max(self.live.len());
            }
            Step::Message(place, cost) if !self.live.is_empty() => {
                let place = place % self.live.len();
                let (run, told) = &mut self.live[place];
                told.push(use_of(cost * TOKENS_OF_A_CENT, None));
                tell(world, run, BillingType::Api, tells_cost, told);
                self.note_used(place, cost * TOKENS_OF_A_CENT * 1_500);
            }
            Step::Report(place, cost) if !self.live.is_empty() => {
                let place = place % self.live.len();
                let run = &self.live[place].0;
                let command = report_of(run.agent, &cost.to_string());
                done(report(world.run_of(run.id), self.company, &command));
                self.note_used(place, cost * 1_000_000);
            }
            Step::End(place) if !self.live.is_empty() => {
                let (run, _) = self.live.remove(place % self.live.len());
                finish(world, &run, None);
            }
            Step::Move(place, inside) => {
                let issue = &self.issues[place % self.issues.len()];
                done(move_issue(
                    world.board(),
                    issue,
                    inside.then_some(self.house),
                ));
            }
            Step::Flee(place) => {
                let issue = world.stored_issue(self.issues[place % self.issues.len()].id);
                let agent = world.agent(issue.assignee.agent().unwrap());
                let fled = move_issue(agent, &issue, None);
                match issue.project {
                    Some(_) => assert_eq!(refused(fled).code(), Code::Forbidden),
                    None => drop(done(fled)),
                }
            }
            Step::Message(..) | Step::Report(..) | Step::End(_) => {}
        }
    }

    /// Notes what a run used, and ends it if it was asked to stop.
    fn note_used(&mut self, place: usize, micros: i64) {
        if self.inside.contains(&self.live[place].0.id) {
            self.used_inside += micros;
        }
        if self
            .world
            .stored_run(self.live[place].0.id)
            .stop_reason
            .is_some()
        {
            let (run, _) = self.live.remove(place);
            finish(&self.world, &run, None);
        }
    }

    /// What is spent and held, in all and on the project, in millionths of a cent.
    fn claimed(&self) -> [i64; 2] {
        let month = self.world.month();
        [Spender::Company, Spender::Project(self.house)].map(|spender| {
            let spend = look(&self.world, |reads| {
                reads.ledger().spent(scope(self.company), spender, month)
            });
            spend.actual.micros() + spend.held.micros()
        })
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever the order, and wherever issues are moved: beyond a limit there is one message of
    /// each run that was live, and what a run used counts where it was claimed.
    #[test]
    fn spend_exceeds_no_limit_by_more_than_a_message_of_each_live_run(
        limit in 1_i64..400,
        of_project in 1_i64..200,
        tells_cost: bool,
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let mut scene = Scene::new(limit, of_project);
        for step in steps {
            scene.take(step, tells_cost);
            let beyond = i64::try_from(scene.most_live).unwrap() * (DEAREST + 1);
            for (limit, claimed) in [limit, of_project].into_iter().zip(scene.claimed()) {
                let bound = (limit + beyond) * 1_000_000;
                prop_assert!(claimed <= bound, "{claimed} of {limit}, {} live", scene.most_live);
            }
        }
        for (run, _) in &scene.live {
            finish(&scene.world, run, None);
        }
        let [_, of_project] = scene.claimed();
        prop_assert_eq!(of_project, scene.used_inside);
    }
}
