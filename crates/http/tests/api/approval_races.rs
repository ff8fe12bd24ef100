//! Decisions at the same time.

use std::sync::Barrier;

use serde_json::json;

use crate::approvals::{act, history, now, question};
use crate::support::{Answer, Api, api_tests};

/// How often two decisions race.
const RACES: usize = 200;

/// Sends requests at the same time.
#[expect(
    clippy::needless_pass_by_value,
    reason = "it is written where it is called"
)]
fn at_once<const N: usize>(api: &Api, paths: [String; N]) -> Vec<Answer> {
    let barrier = Barrier::new(N);
    let start = &barrier;
    std::thread::scope(|scope| {
        let threads: Vec<_> = paths
            .iter()
            .map(|path| {
                scope.spawn(move || {
                    start.wait();
                    api.post(path, &json!({ "decisionNote": path }))
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    })
}

api_tests! {
    fn of_approve_and_reject_exactly_one_decides(api) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        for _ in 0..RACES {
            let asked = question(api, &company, &ada);
            let answers = at_once(api, [act(&asked, "approve"), act(&asked, "reject")]);
            let winners: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
            let [winner] = winners[..] else { panic!("{answers:?}") };
            let winner = winner.ok(200);
            let loser = answers.iter().find(|answer| answer.status != 200).unwrap();
            let problem = loser.problem(422, "approval_not_pending");
            assert_eq!(problem["details"]["status"], winner["status"]);
            let stored = now(api, &asked);
            assert_eq!(stored["status"], winner["status"]);
            assert_eq!(stored["decisionNote"], winner["decisionNote"]);
            assert_eq!(history(&stored).len(), 2, "{stored}");
        }
    }

    fn of_eight_who_file_the_same_plan_one_makes_it(api) {
        let company = api.company("Acme");
        for _ in 0..10 {
            let issue = api.issue(&company, &json!({ "title": "Step", "status": "todo" }));
            let body = json!({ "type": "approve_issue_plan", "payload": { "issueId": issue["id"] } });
            let path = crate::approvals::of(&company);
            let start = Barrier::new(8);
            let answers: Vec<Answer> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..8)
                    .map(|_| {
                        scope.spawn(|| {
                            start.wait();
                            api.post(&path, &body)
                        })
                    })
                    .collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            let made: Vec<_> = answers.iter().filter(|answer| answer.status == 201).collect();
            assert_eq!(made.len(), 1, "{answers:?}");
            let made = made[0].ok(201);
            for answer in answers.iter().filter(|answer| answer.status != 201) {
                assert_eq!(answer.ok(200)["id"], made["id"]);
            }
        }
    }
}
