use serde_json::{Value, json};

use crate::support::{NOTHING, api_tests, id};

api_tests! {
    fn a_project_is_seeded_with_a_workspace(api) {
        let company = api.company("Acme");
        let at = format!("/api/companies/{}/projects", id(&company));
        let body = json!({
            "name": "Site", "description": "the site", "status": "planned",
            "workspace": { "repoUrl": "https://git.example/site.git", "repoRef": "main" },
        });
        let made = api.post(&at, &body).ok(201);
        assert_eq!(
            (&made["status"], &made["urlKey"]),
            (&json!("planned"), &json!("site"))
        );
        let workspace = &made["workspaces"][0];
        assert_eq!(
            (&workspace["name"], &workspace["cwd"]),
            (&json!("site"), &Value::Null)
        );
        assert_eq!(workspace["isPrimary"], true);
        assert_eq!(made["primaryWorkspace"], *workspace);
        let nothing = json!({ "name": "Site", "workspace": { "name": "x" } });
        api.post(&at, &nothing).problem(422, "invalid_field");
        let unknown = json!({ "name": "Site", "goalIds": [NOTHING] });
        api.post(&at, &unknown).problem(422, "reference_not_found");
        assert_eq!(api.get(&at).ok(200), json!([made]));
    }

    fn workspaces_come_and_go_and_one_stays_primary(api) {
        let company = api.company("Acme");
        let at = format!("/api/companies/{}/projects", id(&company));
        let project = api.post(&at, &json!({ "name": "Site" })).ok(201);
        let path = format!("/api/projects/{}/workspaces", id(&project));
        let first = api.post(&path, &json!({ "cwd": "/srv/site" })).ok(201);
        assert_eq!(
            (&first["name"], &first["isPrimary"]),
            (&json!("site"), &json!(true))
        );
        let second = json!({ "name": "two", "cwd": "/srv/two", "isPrimary": true });
        let second = api.post(&path, &second).ok(201);
        assert_eq!(second["isPrimary"], true);
        let list = api.get(&path).ok(200);
        assert_eq!(
            (&list[0]["id"], &list[1]["isPrimary"]),
            (&second["id"], &json!(false))
        );

        let one = format!("{path}/{}", id(&second));
        api.patch(&one, &json!({ "cwd": null }))
            .problem(422, "invalid_field");
        let moved = json!({ "cwd": null, "repoUrl": "https://git.example/two.git" });
        assert_eq!(api.patch(&one, &moved).ok(200)["cwd"], Value::Null);
        assert_eq!(
            api.send("DELETE", &one, &[], b"").ok(200),
            json!({ "ok": true })
        );
        api.send("DELETE", &one, &[], b"").problem(404, "not_found");
        assert_eq!(api.get(&path).ok(200)[0]["isPrimary"], true);
    }

    fn a_project_and_a_goal_are_changed(api) {
        let company = api.company("Acme");
        let at = |part: &str| format!("/api/companies/{}/{part}", id(&company));
        let goal = api.post(&at("goals"), &json!({ "title": "Grow" })).ok(201);
        assert_eq!(
            (&goal["level"], &goal["status"]),
            (&json!("task"), &json!("planned"))
        );
        let path = format!("/api/goals/{}", id(&goal));
        let changed = api
            .patch(&path, &json!({ "status": "completed", "description": "d" }))
            .ok(200);
        assert_eq!(
            (&changed["status"], &changed["description"]),
            (&json!("completed"), &json!("d"))
        );
        api.patch(&path, &json!({ "parentId": id(&goal) }))
            .problem(422, "cycle");
        api.patch(&path, &json!({ "level": "galaxy" }))
            .problem(400, "invalid_json");

        let project = api
            .post(&at("projects"), &json!({ "name": "Site" }))
            .ok(201);
        let path = format!("/api/projects/{}", id(&project));
        let change =
            json!({ "status": "in_progress", "goalIds": [id(&goal)], "targetDate": "2027-01-01" });
        let changed = api.patch(&path, &change).ok(200);
        assert_eq!(
            (&changed["status"], &changed["goalId"]),
            (&json!("in_progress"), &goal["id"])
        );
        assert_eq!(changed["targetDate"], "2027-01-01");
        assert_eq!(api.get(&path).ok(200), changed);
        for (given, told) in [
            (json!("2027-01-01T00:00:00Z"), json!("2027-01-01T00:00:00.000Z")),
            (json!("2027-01-01T09:30:00+02:00"), json!("2027-01-01T07:30:00.000Z")),
            (json!("0001-01-01"), json!("0001-01-01")),
            (json!("2028-02-29"), json!("2028-02-29")),
            (json!(null), json!(null)),
        ] {
            let body = json!({ "targetDate": given });
            assert_eq!(api.patch(&path, &body).ok(200)["targetDate"], told);
            let named = json!({ "name": "Other", "targetDate": given });
            assert_eq!(api.post(&at("projects"), &named).ok(201)["targetDate"], told);
        }
        for wrong in ["2027-02-29", "2027-1-1", "tomorrow", "2027-01-01 "] {
            api.patch(&path, &json!({ "targetDate": wrong })).problem(400, "invalid_json");
        }
    }
}
