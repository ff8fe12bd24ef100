use serde_json::{Value, json};

use crate::support::{Api, NOTHING, api_tests, id};

fn label(api: &Api, company: &Value, name: &str) -> Value {
    let path = format!("/api/companies/{}/labels", id(company));
    api.post(&path, &json!({ "name": name, "color": "#AA00ff" }))
        .ok(201)
}

api_tests! {
    fn labels_are_made_changed_and_deleted(api) {
        let company = api.company("Acme");
        let path = format!("/api/companies/{}/labels", id(&company));
        let bug = label(api, &company, " Bug ");
        assert_eq!((&bug["name"], &bug["color"]), (&json!("Bug"), &json!("#aa00ff")));
        let idea = label(api, &company, "Idea");
        assert_eq!(api.get(&path).ok(200), json!([bug, idea]));
        let taken = api.post(&path, &json!({ "name": "BUG", "color": "#000000" }));
        let taken = taken.problem(409, "name_taken");
        assert_eq!(taken["details"]["labelId"], bug["id"]);

        let own = format!("/api/labels/{}", id(&bug));
        api.patch(&own, &json!({ "name": "idea" })).problem(409, "name_taken");
        let renamed = api.patch(&own, &json!({ "name": "BUG", "color": "#123456" })).ok(200);
        assert_eq!((&renamed["name"], &renamed["color"]), (&json!("BUG"), &json!("#123456")));
        for (body, pointer) in [
            (json!({ "name": "x" }), "/color"),
            (json!({ "name": "x", "color": "red" }), "/color"),
            (json!({ "name": "x", "color": "#12345g" }), "/color"),
            (json!({ "name": "", "color": "#123456" }), "/name"),
            (json!({ "name": "x".repeat(51), "color": "#123456" }), "/name"),
            (json!({ "name": "a\u{0}b", "color": "#123456" }), "/name"),
        ] {
            let problem = api.post(&path, &body).problem(400, "invalid_json");
            assert!(problem["details"].to_string().contains(&pointer[1..]), "{problem}");
        }
        assert_eq!(api.send("DELETE", &own, &[], b"").ok(200), json!({ "ok": true }));
        api.send("DELETE", &own, &[], b"").problem(404, "not_found");
        api.patch(&own, &json!({})).problem(404, "not_found");
        assert_eq!(api.get(&path).ok(200), json!([idea]));
        let at = format!("/api/companies/{}/activity", id(&company));
        let actions: Vec<_> = api.get(&at).ok(200).as_array().unwrap().iter()
            .map(|row| row["action"].clone()).collect();
        assert_eq!(actions[0], "label.deleted");
        assert!(actions.contains(&json!("label.updated")));
    }

    fn managers_change_labels_and_everyone_reads_them(api) {
        let (company, other) = (api.company("Acme"), api.company("Bolt"));
        let path = format!("/api/companies/{}/labels", id(&company));
        let bug = label(api, &company, "Bug");
        let worker = api.agent(&company, "Wes");
        let manager = api.agent(&company, "Mia");
        let body = json!({ "reportsTo": id(&manager) });
        api.patch(&format!("/api/agents/{}", id(&worker)), &body).ok(200);
        let worker = api.key(&worker);
        let manager = api.key(&manager);
        let foreign = api.key(&api.agent(&other, "Fay"));
        let new = json!({ "name": "New", "color": "#000000" });
        let own = format!("/api/labels/{}", id(&bug));

        assert_eq!(api.bearing(&worker).get(&path).ok(200), json!([bug]));
        api.bearing(&worker).post(&path, &new).problem(403, "forbidden");
        api.bearing(&worker).patch(&own, &new).problem(403, "forbidden");
        api.bearing(&worker).send("DELETE", &own, &Value::Null).problem(403, "forbidden");
        api.bearing(&manager).post(&path, &new).ok(201);
        api.bearing(&manager).patch(&own, &json!({ "color": "#111111" })).ok(200);

        api.bearing(&foreign).get(&path).problem(403, "company_forbidden");
        api.bearing(&foreign).post(&path, &new).problem(403, "company_forbidden");
        api.bearing(&foreign).patch(&own, &new).problem(404, "not_found");
        api.bearing(&foreign).send("DELETE", &own, &Value::Null).problem(404, "not_found");
        api.bearing(&manager).send("DELETE", &own, &Value::Null).ok(200);
    }

    fn issues_carry_their_labels_everywhere(api) {
        let (company, other) = (api.company("Acme"), api.company("Bolt"));
        let (zoo, ape) = (label(api, &company, "zoo"), label(api, &company, "Ape"));
        let foreign = label(api, &other, "zoo");
        let body = json!({ "title": "Step", "labelIds": [id(&zoo), id(&ape), id(&zoo)] });
        let issue = api.issue(&company, &body);
        assert_eq!(issue["labels"], json!([ape, zoo]));
        assert_eq!(issue["labelIds"], json!([ape["id"], zoo["id"]]));
        let child = api.issue(&company, &json!({ "title": "Sub", "parentId": id(&issue) }));
        assert_eq!((&child["labels"], &child["labelIds"]), (&json!([]), &json!([])));

        let path = format!("/api/issues/{}", id(&issue));
        assert_eq!(api.get(&path).ok(200)["labels"], json!([ape, zoo]));
        let detail = api.get(&format!("/api/issues/{}", id(&child))).ok(200);
        assert_eq!(detail["ancestors"][0]["labels"], json!([ape, zoo]));
        let issues = format!("/api/companies/{}/issues", id(&company));
        let list = api.get(&issues).ok(200);
        let listed = list.as_array().unwrap().iter().find(|row| row["id"] == issue["id"]);
        assert_eq!(listed.unwrap()["labels"], json!([ape, zoo]));

        for unknown in [id(&foreign), NOTHING] {
            let asked = json!({ "title": "x", "labelIds": [id(&ape), unknown] });
            for answer in [api.post(&issues, &asked), api.patch(&path, &asked)] {
                let problem = answer.problem(422, "reference_not_found");
                assert_eq!(problem["details"][0]["pointer"], "/labelIds/1");
            }
        }
        let many: Vec<&str> = std::iter::repeat_n(id(&ape), 51).collect();
        api.patch(&path, &json!({ "labelIds": many })).problem(422, "invalid_field");
        api.patch(&path, &json!({ "labelIds": ["x"] })).problem(400, "invalid_json");

        let kept = api.patch(&path, &json!({ "title": "Other" })).ok(200);
        assert_eq!(kept["labels"], json!([ape, zoo]));
        let same = api.patch(&path, &json!({ "labelIds": [id(&zoo), id(&ape)] })).ok(200);
        assert_eq!(same["updatedAt"], kept["updatedAt"]);
        let fewer = api.patch(&path, &json!({ "labelIds": [id(&zoo)] })).ok(200);
        assert_eq!(fewer["labels"], json!([zoo]));
        assert!(fewer["updatedAt"].as_str() > kept["updatedAt"].as_str());
        api.send("DELETE", &format!("/api/labels/{}", id(&zoo)), &[], b"").ok(200);
        assert_eq!(api.get(&path).ok(200)["labels"], json!([]));
        assert_eq!(api.patch(&path, &json!({ "labelIds": null })).ok(200)["labelIds"], json!([]));
    }
}
