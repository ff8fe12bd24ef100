//! What waits for a person.

use serde_json::json;

use crate::support::board_tests;

board_tests! {
    fn what_needs_a_person_stands_in_the_inbox_until_it_is_done(board) {
        let home = board.found("Acme");
        let inbox = format!("{home}/inbox");
        assert!(board.get(&inbox).ok().contains("Nothing needs you"));
        let company = board.told("/api/companies")[0]["id"].as_str().unwrap().to_owned();
        let api = format!("/api/companies/{company}");
        let asked = json!({"type": "request_board_approval", "payload": {"title": "Buy <b>paint</b>"}});
        board.call(&format!("{api}/approvals"), &asked);
        let mine = json!({"title": "Sign the lease", "status": "todo", "assigneeUserId": "local-board"});
        board.call(&format!("{api}/issues"), &mine);
        let shown = board.get(&inbox);
        assert!(shown.ok().contains("Buy &#60;b&#62;paint"), "{}", shown.html);
        assert!(shown.ok().contains("Sign the lease"));
        let told = board.told(&format!("{api}/attention"));
        let kinds: Vec<_> = told.as_array().unwrap().iter().map(|need| &need["kind"]).collect();
        assert_eq!(kinds, ["decision", "assigned"]);
        let badges = board.told(&format!("{api}/sidebar-badges"));
        assert_eq!(badges["inbox"], 2);
    }

    fn the_limit_of_a_stopped_agent_is_raised_where_it_is_told(board) {
        let home = board.found("Acme");
        let inbox = format!("{home}/inbox");
        let company = board.told("/api/companies")[0]["id"].as_str().unwrap().to_owned();
        let api = format!("/api/companies/{company}");
        let hired = board.call(&format!("{api}/agents"), &json!({"name": "Ada", "budgetMonthlyCents": 100}));
        let id = hired["id"].as_str().unwrap();
        let spent = json!({
            "agentId": id, "provider": "x", "model": "y", "inputTokens": 1, "outputTokens": 1,
            "costCents": 100,
        });
        board.call(&format!("{api}/cost-events"), &spent);
        let shown = board.get(&inbox);
        assert!(shown.ok().contains("Ada is stopped"), "{}", shown.html);
        let key = shown.hidden("key").to_owned();
        let fields = [("key", key.as_str()), ("agent", id), ("budgetMonthlyCents", "lots")];
        let refused = board.post(&inbox, &fields);
        assert_eq!(refused.status, 422);
        assert!(refused.html.contains(r#"value="lots""#), "{}", refused.html);
        let fields = [("key", refused.hidden("key")), ("agent", id), ("budgetMonthlyCents", "2.50")];
        assert_eq!(board.post(&inbox, &fields).leads_to(), inbox);
        assert!(board.get(&inbox).ok().contains("Nothing needs you"));
        assert_eq!(board.told(&format!("/api/agents/{id}"))["budgetMonthlyCents"], 250);
    }
}
