//! Names of agents: who may have which, and where they stand in the place of an id
//! (docs/access.md#fields-of-an-agent).

use serde_json::{Value, json};

use crate::support::{api_tests, id};

api_tests! {
    fn a_name_that_another_has_is_for_the_board_to_give_twice(api) {
        let company = api.company("Acme");
        let agents = format!("/api/companies/{}/agents", id(&company));
        let ada = api.agent(&company, "Ada Byron");
        for name in ["Ada Byron", "ada_byron", "Ａda-Byron"] {
            let problem = api.post(&agents, &json!({ "name": name })).problem(409, "name_taken");
            assert_eq!(problem["details"], json!({ "pointer": "/name", "agentId": ada["id"] }));
        }
        let twice = json!({ "name": "Ada Byron", "allowSameName": true });
        let second = api.post(&agents, &twice).ok(201);
        assert_eq!(second["urlKey"], "ada-byron-2");
        // Nobody's name but its own is in the way of a change.
        let second = format!("/api/agents/{}", id(&second));
        api.patch(&second, &json!({ "name": "Ada byron", "title": "Engineer" })).ok(200);
        let bea = api.agent(&company, "Bea");
        let bea = format!("/api/agents/{}", id(&bea));
        api.patch(&bea, &json!({ "name": "Ada Byron" })).problem(409, "name_taken");
        api.patch(&bea, &twice).ok(200);
        // In another company it is free, and after everyone of the name has left.
        api.agent(&api.company("Other"), "Ada Byron");
        for gone in [&second, &bea, &format!("/api/agents/{}", id(&ada))] {
            api.post(&format!("{gone}/terminate"), &json!({})).ok(200);
        }
        api.post(&agents, &json!({ "name": "Ada Byron" })).ok(201);
    }

    fn a_draft_has_its_name_already(api) {
        let company = api.company("Acme");
        api.patch(
            &format!("/api/companies/{}", id(&company)),
            &json!({ "requireBoardApprovalForNewAgents": true }),
        )
        .ok(200);
        let agents = format!("/api/companies/{}/agents", id(&company));
        let ceo = api.post(&agents, &json!({ "name": "Boss", "role": "ceo" })).ok(201);
        let ceo = api.bearing(&api.key(&ceo));
        let hires = format!("/api/companies/{}/agent-hires", id(&company));
        let eva = json!({ "name": "Eva", "role": "engineer" });
        let draft = ceo.post(&hires, &eva).ok(201);
        let problem = ceo.post(&hires, &eva).problem(409, "name_taken");
        assert_eq!(problem["details"]["agentId"], draft["agent"]["id"]);
        let approvals = format!("/api/companies/{}/approvals", id(&company));
        let hire = |payload: Value| json!({ "type": "hire_agent", "payload": payload });
        ceo.post(&approvals, &hire(eva)).problem(409, "name_taken");
        // The board sees a second Eva that is proposed as such, and decides on her.
        let second = json!({ "name": "Eva", "role": "engineer", "allowSameName": true });
        ceo.post(&approvals, &hire(second)).ok(201);
    }

    fn a_process_needs_its_command(api) {
        let company = api.company("Acme");
        let agents = format!("/api/companies/{}/agents", id(&company));
        let body = json!({ "name": "Ada", "adapterType": "process" });
        let problem = api.post(&agents, &body).problem(422, "invalid_field");
        assert_eq!(problem["details"][0]["pointer"], "/adapterConfig/command");
        let hire = json!({ "type": "hire_agent", "payload":
            { "name": "Ada", "role": "engineer", "adapterType": "process" } });
        let approvals = format!("/api/companies/{}/approvals", id(&company));
        api.post(&approvals, &hire).problem(422, "invalid_field");
        assert_eq!(api.get(&agents).json(), json!([]));
        // Who says nothing of it configures it later.
        let ada = api.post(&agents, &json!({ "name": "Ada" })).ok(201);
        assert_eq!(ada["adapterType"], "process");
    }

    fn a_name_in_the_place_of_an_id_is_told_the_id(api) {
        let company = api.company("Acme");
        let other = api.company("Other");
        let eva = api.agent(&company, "Eva Lind");
        api.agent(&other, "Zoe");
        let issues = format!("/api/companies/{}/issues", id(&company));
        let step = api.post(&issues, &json!({ "title": "Step" })).ok(201);
        let by_name = |name: &str| json!({ "title": "Step", "assigneeAgentId": name });
        let key = api.key(&eva);
        let as_agent = api.bearing(&key);
        let told = [
            api.post(&issues, &by_name("Eva Lind")),
            api.post(&issues, &by_name("eva-lind")),
            api.patch(&format!("/api/issues/{}", id(&step)), &by_name("Eva Lind")),
            as_agent.post(&issues, &by_name("Eva Lind")),
            as_agent.patch(&format!("/api/issues/{}", id(&step)), &by_name("Eva Lind")),
            api.patch(
                &format!("/api/agents/{}", id(&eva)),
                &json!({ "reportsTo": "Eva Lind" }),
            ),
        ];
        for answer in told {
            let fault = answer.problem(400, "invalid_json")["details"][0].clone();
            assert_eq!(fault["didYouMean"], eva["id"]);
            assert!(fault["message"].as_str().unwrap().starts_with("must be an id"), "{fault}");
        }
        let query = format!("{issues}?assigneeAgentId=Eva%20Lind");
        let fault = api.get(&query).problem(400, "invalid_request")["details"][0].clone();
        assert_eq!(fault["didYouMean"], eva["id"]);
        // Nobody of that name, somebody of another company, and no agent at all.
        for unknown in [
            api.post(&issues, &by_name("Adam")),
            api.post(&issues, &by_name("Zoe")),
            as_agent.post(&issues, &by_name("Zoe")),
            api.post(&issues, &json!({ "title": "Step", "projectId": "Eva Lind" })),
        ] {
            let fault = unknown.problem(400, "invalid_json")["details"][0].clone();
            assert_eq!(fault["message"], "must be an id");
            assert_eq!(fault.get("didYouMean"), None);
        }
    }
}
