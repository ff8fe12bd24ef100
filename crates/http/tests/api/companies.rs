use serde_json::json;

use crate::support::{NOTHING, api_tests, id};

api_tests! {
    fn a_company_is_made_read_changed_and_archived(api) {
        let body = json!({ "name": " Acme ", "description": "anvils", "budgetMonthlyCents": 5000.0 });
        let made = api.post("/api/companies", &body).ok(201);
        assert_eq!(made["name"], "Acme");
        assert_eq!(made["status"], "active");
        assert_eq!(made["budgetMonthlyCents"], 5000);
        assert_eq!(made["spentMonthlyCents"], 0);
        assert_eq!(made["issuePrefix"], "ACM");
        assert_eq!(made["requireBoardApprovalForNewAgents"], true);

        let path = format!("/api/companies/{}", id(&made));
        assert_eq!(api.get(&path).ok(200), made);

        let changed = api
            .patch(&path, &json!({ "description": null, "name": "Acme 2" }))
            .ok(200);
        assert_eq!(
            (&changed["description"], &changed["name"]),
            (&json!(null), &json!("Acme 2"))
        );
        assert_eq!(changed["budgetMonthlyCents"], 5000);

        let archived = api
            .send("POST", &format!("{path}/archive"), &[], b"")
            .ok(200);
        assert_eq!(archived["status"], "archived");
        assert_eq!(
            api.send("POST", &format!("{path}/archive"), &[], b"")
                .ok(200),
            archived
        );
        assert_eq!(api.get(&path).ok(200), archived);
        assert_eq!(api.get("/api/companies").ok(200), json!([]));
        assert_eq!(
            api.get("/api/companies?includeArchived=true").ok(200),
            json!([archived])
        );
        assert_eq!(
            api.get("/api/companies?status=archived").ok(200),
            json!([archived])
        );
    }

    fn what_is_wrong_with_a_company_is_told_by_field(api) {
        let cases = [
            (json!({}), "/name"),
            (json!({ "name": "  " }), "/name"),
            (json!({ "name": "x".repeat(201) }), "/name"),
            (
                json!({ "name": "x", "budgetMonthlyCents": -1 }),
                "/budgetMonthlyCents",
            ),
            (
                json!({ "name": "x", "budgetMonthlyCents": 0.5 }),
                "/budgetMonthlyCents",
            ),
            (
                json!({ "name": "x", "budgetMonthlyCents": "5" }),
                "/budgetMonthlyCents",
            ),
            (json!({ "name": "x", "description": 5 }), "/description"),
        ];
        for (body, pointer) in cases {
            let problem = api
                .post("/api/companies", &body)
                .problem(400, "invalid_json");
            assert_eq!(problem["details"][0]["pointer"], pointer, "{body}");
        }
        assert_eq!(api.get("/api/companies").ok(200), json!([]));
    }

    fn fields_that_follow_from_others_cannot_be_set(api) {
        let path = format!("/api/companies/{}", id(&api.company("Acme")));
        api.patch(&path, &json!({ "spentMonthlyCents": 0 }))
            .problem(422, "field_not_writable");
        api.patch(&path, &json!({ "name": null }))
            .problem(400, "invalid_json");
    }

    fn what_does_not_exist_is_not_found_however_it_is_spelt(api) {
        for name in [NOTHING, "x", "%00", "%2e%2e", "1", &"9".repeat(2000)] {
            api.get(&format!("/api/companies/{name}"))
                .problem(404, "not_found");
        }
    }
}
