use serde_json::json;

use crate::support::{Board, board_tests};

/// Asks the board of the first company a question; where its page is.
fn ask(board: &Board, home: &str, question: &str) -> String {
    let company = board.told("/api/companies")[0]["id"].clone();
    let path = format!("/api/companies/{}/approvals", company.as_str().unwrap());
    let body = json!({ "type": "approve_ceo_strategy", "payload": { "title": question,
        "plan": "First this, then that." } });
    let asked = board.call(&path, &body);
    format!("{home}/approvals/{}", asked["id"].as_str().unwrap())
}

board_tests! {
    fn what_waits_is_decided_with_a_note(board) {
        let home = board.found("Acme");
        let page = ask(board, &home, "Shall we?");
        for list in [home.clone(), format!("{home}/approvals")] {
            let shown = board.get(&list);
            assert!(shown.ok().contains(&format!(r#"href="{page}""#)), "{}", shown.html);
        }
        let shown = board.get(&page);
        assert!(shown.ok().contains("Shall we?"), "{}", shown.html);
        let fields = [
            ("key", shown.hidden("key")),
            ("revision", shown.hidden("revision")),
            ("decision", "approve"),
            ("decisionNote", "Go ahead."),
        ];
        assert_eq!(board.post(&page, &fields).leads_to(), page);
        let id = page.rsplit('/').next().unwrap();
        let told = board.told(&format!("/api/approvals/{id}"));
        assert_eq!((&told["status"], &told["decisionNote"]), (&json!("approved"), &json!("Go ahead.")));
        // Nothing is left to decide.
        assert!(!board.get(&page).ok().contains(r#"value="approve""#));
    }

    fn what_says_nothing_of_itself_is_called_like_its_issue(board) {
        let home = board.found("Acme");
        let api = format!("/api/companies/{}", board.company());
        let issue = json!({ "title": "Paint the door", "status": "todo" });
        let issue = board.call(&format!("{api}/issues"), &issue)["id"].clone();
        for payload in [json!({ "issueId": issue }), json!({ "issueId": issue, "title": "Mine" })] {
            let plan = json!({ "type": "approve_issue_plan", "payload": payload });
            let asked = board.call(&format!("{api}/approvals"), &plan);
            let own = payload["title"].as_str().unwrap_or("ACM-1 Paint the door");
            let page = format!("/approvals/{}", asked["id"].as_str().unwrap());
            for place in ["", "/inbox", "/approvals", page.as_str()] {
                let shown = board.get(&format!("{home}{place}"));
                assert!(shown.ok().contains(&format!("Plan: {own}")), "{place}: {}", shown.html);
            }
            let withdrawn = format!("/api{page}/cancel");
            board.call(&withdrawn, &json!({}));
        }
    }

    fn the_approval_of_another_company_is_not_there(board) {
        let home = board.found("Acme");
        let other = board.found("Other");
        let page = ask(board, &home, "Shall we?");
        let elsewhere = page.replace(&home, &other);
        assert_eq!(board.get(&elsewhere).status, 404);
        let shown = board.get(&page);
        let fields = [("revision", shown.hidden("revision")), ("decision", "reject")];
        assert_eq!(board.post(&elsewhere, &fields).status, 404);
        let id = page.rsplit('/').next().unwrap();
        assert_eq!(board.told(&format!("/api/approvals/{id}"))["status"], "pending");
    }

    fn nothing_is_decided_but_what_was_shown(board) {
        let home = board.found("Acme");
        let page = ask(board, &home, "Shall we?");
        let id = page.rsplit('/').next().unwrap();
        let shown = board.get(&page);
        let decide = |decision: &str, revision: &str, key: &str| {
            let fields = [("key", key), ("revision", revision), ("decision", decision)];
            board.post(&page, &fields)
        };
        let revision = shown.hidden("revision").to_owned();
        decide("request_revision", &revision, shown.hidden("key")).leads_to();
        board.call(
            &format!("/api/approvals/{id}/resubmit"),
            &json!({ "payload": { "title": "Shall we really?" } }),
        );
        let refused = decide("approve", &revision, "another");
        assert_eq!(refused.status, 412);
        assert!(refused.html.contains("Shall we really?"), "{}", refused.html);
        // What is another one than before is shown as such.
        for shown in ["What changed since the last submission", "removed ", "added "] {
            assert!(refused.html.contains(shown), "{shown}: {}", refused.html);
        }
        assert_eq!(board.told(&format!("/api/approvals/{id}"))["status"], "pending");
        // Without a word of what was shown nothing is decided either.
        assert_eq!(decide("approve", "", "a third").status, 412);
        let again = board.get(&page);
        decide("reject", again.hidden("revision"), again.hidden("key")).leads_to();
        assert_eq!(board.told(&format!("/api/approvals/{id}"))["status"], "rejected");
    }

    fn of_two_decisions_at_once_one_holds(board) {
        let home = board.found("Acme");
        for round in 0..50 {
            let page = ask(board, &home, &format!("Shall we, {round}?"));
            let [approve, reject] = ["approve", "reject"].map(|decision| {
                let shown = board.get(&page);
                let (key, revision) = (shown.hidden("key"), shown.hidden("revision"));
                [("key", key), ("revision", revision), ("decision", decision)]
                    .map(|(name, value)| (name, value.to_owned()))
            });
            let send = |fields: &[(&str, String); 3]| {
                let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
                board.post(&page, &fields)
            };
            let answers = std::thread::scope(|scope| {
                let first = scope.spawn(|| send(&approve));
                let second = send(&reject);
                [first.join().unwrap(), second]
            });
            let mut statuses = answers.each_ref().map(|answer| answer.status);
            statuses.sort_unstable();
            assert!(matches!(statuses, [303, 409 | 412 | 422]), "{statuses:?}");
            let id = page.rsplit('/').next().unwrap();
            let status = board.told(&format!("/api/approvals/{id}"))["status"].clone();
            let is_approved = answers[0].status == 303;
            assert_eq!(status, if is_approved { "approved" } else { "rejected" });
            // Whoever came second sees who decided, and what.
            let lost = answers.iter().find(|answer| answer.status != 303).unwrap();
            let word = if is_approved { "Approved" } else { "Rejected" };
            for shown in [word, "by Board"] {
                assert!(lost.html.contains(shown), "{shown}: {}", lost.html);
            }
        }
    }

    fn what_waits_is_discussed_sent_again_and_withdrawn(board) {
        let home = board.found("Acme");
        let page = ask(board, &home, "Shall we?");
        board.send(&page, &format!("{page}/comments"), &[("body", "Why *now*?")]).leads_to();
        assert!(board.get(&page).ok().contains("<em>now</em>"));
        let empty = board.send(&page, &format!("{page}/comments"), &[("body", " ")]);
        assert_eq!(empty.status, 400);
        let shown = board.get(&page);
        let fields = [("revision", shown.hidden("revision")), ("decision", "request_revision")];
        board.send(&page, &page, &fields).leads_to();
        let again = format!("{page}/resubmit");
        let broken = board.send(&page, &again, &[("payload", "[1]")]);
        assert_eq!(broken.status, 422);
        assert!(broken.html.contains("[1]"), "{}", broken.html);
        let payload = r#"{"title": "Shall we </textarea><script>?", "budgetMonthlyCents": 9050}"#;
        board.send(&page, &again, &[("payload", payload)]).leads_to();
        let shown = board.get(&page);
        assert!(shown.ok().contains("$90.50"), "{}", shown.html);
        assert!(!shown.html.contains("</textarea><script>"), "{}", shown.html);
        board.send(&page, &page, &[("decision", "cancel")]).leads_to();
        let id = page.rsplit('/').next().unwrap();
        assert_eq!(board.told(&format!("/api/approvals/{id}"))["status"], "cancelled");
        assert!(!board.get(&page).ok().contains(r#"value="approve""#));
    }
}
