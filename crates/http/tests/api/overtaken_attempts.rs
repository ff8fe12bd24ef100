//! Attempts to carry out an approval that another server overtakes.

use serde_json::{Value, json};

use crate::approvals::{act, now};
use crate::support::{Overtaker, api_tests};
use crate::tickets::Office;

api_tests! {
    fn an_attempt_that_a_decision_overtook_is_refused_as_any_late_decision(api) {
        for (by, status) in [
            (Overtaker::Rejection, "rejected"),
            (Overtaker::Approval, "approved"),
        ] {
            let office = Office::new(api);
            let filed = office.filed(api);
            api.steps.overtake_once(by);
            let late = api.post(&act(&filed, "approve"), &json!({}));
            let late = late.problem(422, "approval_not_pending");
            // What a decision is told that comes after another one.
            let later = api.post(&act(&filed, "reject"), &json!({}));
            let later = later.problem(422, "approval_not_pending");
            assert_eq!(late["details"], later["details"]);
            assert_eq!(late["details"]["status"], status);
            assert_eq!(late["details"]["approvalId"], filed["id"]);
            let shown = now(api, &filed);
            assert_eq!(shown["status"], status);
            let attempts = &shown["execution"]["attempts"];
            match by {
                Overtaker::Approval => assert_eq!(*attempts, json!(2)),
                _ => assert_eq!(*attempts, json!(1)),
            }
        }
    }

    fn an_attempt_that_another_attempt_overtook_leaves_the_approval_to_it(api) {
        let office = Office::new(api);
        let filed = office.filed(api);
        api.steps.overtake_once(Overtaker::Attempt);
        let late = api.post(&act(&filed, "approve"), &json!({}));
        let late = late.problem(409, "execution_in_progress");
        assert_eq!(late["details"], json!({ "approvalId": filed["id"] }));
        let shown = now(api, &filed);
        assert_eq!(shown["status"], "pending");
        assert_eq!(shown["execution"]["state"], "executing");
        assert_eq!(shown["execution"]["attempts"], 2);
        assert_eq!(shown["execution"]["code"], Value::Null);
    }

    fn an_attempt_that_was_given_up_can_be_made_again(api) {
        let office = Office::new(api);
        let filed = office.filed(api);
        api.steps.overtake_once(Overtaker::Nobody);
        let late = api.post(&act(&filed, "approve"), &json!({}));
        let late = late.problem(503, "server_stopping");
        assert_eq!(late["details"]["step"], "source");
        assert_eq!(now(api, &filed)["execution"]["code"], "interrupted");
        let approved = api.post(&act(&filed, "approve"), &json!({})).ok(200);
        assert_eq!(approved["execution"]["attempts"], 2);
    }
}
