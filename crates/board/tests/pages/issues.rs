use crate::support::{Board, board_tests};

/// Hires an agent that runs a command, and tells its id.
pub(crate) fn hire(board: &Board, home: &str, name: &str) -> String {
    let new = format!("{home}/agents/new");
    let fields = [
        ("name", name),
        ("role", "engineer"),
        ("adapterType", "process"),
        ("adapterConfig/command", "true"),
        ("budgetMonthlyCents", "90"),
    ];
    board.send(&new, &new, &fields).leads_to();
    let company = board.told("/api/companies")[0]["id"].clone();
    let agents = board.told(&format!(
        "/api/companies/{}/agents",
        company.as_str().unwrap()
    ));
    let agents = agents.as_array().unwrap().iter();
    let mut named = agents.filter(|agent| agent["name"] == name);
    named.next().unwrap()["id"].as_str().unwrap().to_owned()
}

board_tests! {
    fn an_issue_is_made_given_to_somebody_discussed_and_changed(board) {
        let home = board.found("Acme");
        let ada = hire(board, &home, "Ada");
        let new = format!("{home}/issues/new");
        let fields = [
            ("title", "Paint it blue"),
            ("description", "All *of* it."),
            ("status", "todo"),
            ("priority", "high"),
            ("assigneeAgentId", &ada),
        ];
        let issue = board.send(&new, &new, &fields).leads_to().to_owned();
        assert_eq!(issue, format!("{home}/issues/ACM-1"));
        let page = board.get(&issue);
        for shown in ["Paint it blue", "<em>of</em>", "Ada", "High", "To do"] {
            assert!(page.ok().contains(shown), "{shown}: {}", page.html);
        }
        let said = [("body", "Which blue, @Ada?")];
        let back = board.send(&issue, &format!("{issue}/comments"), &said);
        assert_eq!(back.leads_to(), issue);
        assert!(board.get(&issue).ok().contains("Which blue, @Ada?"));
        let changed = [("status", "cancelled"), ("priority", "low"), ("assigneeAgentId", "")];
        board.send(&issue, &issue, &changed).leads_to();
        let told = board.told("/api/issues/ACM-1");
        assert_eq!(told["status"], "cancelled");
        assert_eq!(told["priority"], "low");
        assert_eq!(told["assigneeAgentId"], serde_json::Value::Null);
        // An empty comment comes back, and nothing else is lost.
        let refused = board.send(&issue, &format!("{issue}/comments"), &[("body", "  ")]);
        assert_eq!(refused.status, 400);
        assert!(refused.html.contains("Paint it blue"));
    }

    fn the_list_is_narrowed_down_in_its_address(board) {
        let home = board.found("Acme");
        let new = format!("{home}/issues/new");
        for (title, status) in [("Paint it", "todo"), ("Sell it", "backlog")] {
            board.send(&new, &new, &[("title", title), ("status", status)]).leads_to();
        }
        let shown = |query: &str| {
            let page = board.get(&format!("{home}/issues{query}"));
            ["Paint it", "Sell it"].map(|title| page.ok().contains(title))
        };
        assert_eq!(shown(""), [true, true]);
        assert_eq!(shown("?status=todo"), [true, false]);
        assert_eq!(shown("?status=done"), [false, false]);
        assert_eq!(shown("?q=sell"), [false, true]);
        assert_eq!(shown("?q=nothing"), [false, false]);
    }

    fn texts_of_others_are_shown_as_written(board) {
        let hostile = "<img src=x onerror=alert(1)> \"' & <script>alert(2)</script>";
        let home = board.found(hostile);
        let new = format!("{home}/issues/new");
        let fields = [("title", hostile), ("description", hostile)];
        let issue = board.send(&new, &new, &fields).leads_to().to_owned();
        board.send(&issue, &format!("{issue}/comments"), &[("body", hostile)]).leads_to();
        for path in [&home, &issue, &format!("{home}/issues"), &new] {
            let page = board.get(path);
            for markup in ["<img", "<script>", "onerror=alert(1)>"] {
                assert!(!page.ok().contains(markup), "{path}: {markup}");
            }
        }
    }

    fn the_issue_of_another_company_is_not_there(board) {
        let home = board.found("Acme");
        let other = board.found("Other");
        let new = format!("{home}/issues/new");
        board.send(&new, &new, &[("title", "Mine")]).leads_to();
        let (here, elsewhere) = (format!("{other}/issues/ACM-1"), format!("{other}/issues/OTH-9"));
        for path in [&here, &elsewhere, &format!("{home}/issues/%20")] {
            assert_eq!(board.get(path).status, 404, "{path}");
        }
        let changed = board.post(&here, &[("status", "done")]);
        assert_eq!(changed.status, 404);
        assert_eq!(board.told("/api/issues/ACM-1")["status"], "backlog");
    }

    fn a_card_is_moved_to_another_column(board) {
        let home = board.found("Acme");
        let issues = format!("{home}/issues");
        let new = format!("{home}/issues/new");
        for title in ["Paint it", "Fix <i>it</i>"] {
            board.send(&new, &new, &[("title", title), ("status", "backlog")]).leads_to();
        }
        let columns = format!("{issues}?view=columns");
        let shown = board.get(&columns);
        assert!(shown.ok().contains(r#"data-may="todo"#), "{}", shown.html);
        assert!(shown.html.contains("Fix &#60;i&#62;it"));
        let mut cards = shown.html.split("data-move=\"").skip(1);
        let place = cards.next().unwrap().split('"').next().unwrap().to_owned();
        let moved = board.send(&columns, &place, &[("status", "todo"), ("back", &columns)]);
        assert_eq!(moved.leads_to(), columns);
        let key = place.trim_end_matches("/status").rsplit('/').next().unwrap();
        assert_eq!(board.told(&format!("/api/issues/{key}"))["status"], "todo");
        // Where a card may not go the columns say why, and nowhere else does a form lead.
        let refused = board.send(&columns, &place, &[("status", "in_progress"), ("back", &columns)]);
        assert_eq!(refused.status, 422, "{}", refused.html);
        assert!(refused.html.contains("c-in_review"));
        let away = [("status", "backlog"), ("back", "//evil.example/")];
        assert_eq!(board.send(&columns, &place, &away).leads_to(), "/");
    }

    fn the_address_says_which_issues_are_shown(board) {
        let home = board.found("Acme");
        let (issues, new) = (format!("{home}/issues"), format!("{home}/issues/new"));
        for (title, priority) in [("Paint it", "low"), ("Fix it", "critical")] {
            let fields = [("title", title), ("status", "backlog"), ("priority", priority)];
            board.send(&new, &new, &fields).leads_to();
        }
        let shows = |query: &str| {
            let shown = board.get(&format!("{issues}?{query}"));
            (shown.ok().contains("Paint it"), shown.html.contains("Fix it"))
        };
        assert_eq!(shows("priority=low"), (true, false));
        assert_eq!(shows("status=backlog&q=fix"), (false, true));
        assert_eq!(shows("status=done"), (false, false));
        assert_eq!(shows("assignee=nobody&group=assignee"), (true, true));
        assert_eq!(shows("assignee=me"), (false, false));
        assert_eq!(shows("view=columns&priority=critical"), (false, true));
        // What says nothing known is as if it were not there.
        assert_eq!(shows("priority=%3Cb%3E&after=x&project=y"), (true, true));
        let open = board.get(&format!("{issues}?priority=low&choose=1&view=columns"));
        assert!(open.ok().contains(r#"<option value="low" selected>"#), "{}", open.html);
    }
}
