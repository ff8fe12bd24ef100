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

/// Makes an issue; where its page is.
fn make(board: &Board, home: &str, title: &str) -> String {
    let new = format!("{home}/issues/new");
    board
        .send(&new, &new, &[("title", title)])
        .leads_to()
        .to_owned()
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

    fn what_happened_is_told_beside_what_was_said(board) {
        let home = board.found("Acme");
        let ada = hire(board, &home, "Ada");
        let issue = make(board, &home, "Paint it");
        let changed = [("status", "todo"), ("priority", "high"), ("assigneeAgentId", &ada)];
        board.send(&issue, &issue, &changed).leads_to();
        board.send(&issue, &format!("{issue}/comments"), &[("body", "Go on.")]).leads_to();
        let page = board.get(&issue);
        for shown in [
            "made the issue",
            "<span class=\"dim\">status</span> <del>backlog</del>",
            "<ins>to do</ins>",
            "<ins>Ada</ins>",
            "woken by the assignment",
            "Go on.",
        ] {
            assert!(page.ok().contains(shown), "{shown}: {}", page.html);
        }
        assert!(!page.html.contains("wrote a comment"), "{}", page.html);
    }

    fn a_long_thread_comes_in_pieces(board) {
        let home = board.found("Acme");
        let issue = make(board, &home, "Paint it");
        for number in 0..60 {
            let comment = serde_json::json!({ "body": format!("comment {number}.") });
            board.call("/api/issues/ACM-1/comments", &comment);
        }
        let page = board.get(&issue);
        assert!(page.ok().contains("comment 59."), "{}", page.html);
        assert!(!page.html.contains("comment 5."), "{}", page.html);
        let (_, rest) = page.html.split_once("?before=").unwrap();
        let before = rest.split(['"', '#']).next().unwrap();
        let earlier = board.get(&format!("{issue}?before={before}"));
        for shown in ["comment 0.", "comment 5.", "made the issue", "Go to the end"] {
            assert!(earlier.ok().contains(shown), "{shown}: {}", earlier.html);
        }
        assert!(!earlier.html.contains("comment 59."), "{}", earlier.html);
    }

    fn a_text_is_not_written_over_one_that_was_not_seen(board) {
        let home = board.found("Acme");
        let issue = make(board, &home, "Paint it");
        let texts = format!("{issue}/texts");
        let shown = board.get(&issue);
        let edit = |key: &str, seen: &str, title: &str| {
            let fields = [("key", key), ("seen", seen), ("title", title), ("description", "Mine.")];
            board.post(&texts, &fields)
        };
        let seen = shown.hidden("seen").to_owned();
        edit("1", &seen, "Paint it blue").leads_to();
        let refused = edit("2", &seen, "Paint it green");
        assert_eq!(refused.status, 412);
        for shown in ["Paint it blue", "Paint it green", "As it is now", "revision_conflict"] {
            assert!(refused.html.contains(shown), "{shown}: {}", refused.html);
        }
        assert_eq!(board.told("/api/issues/ACM-1")["title"], "Paint it blue");
        edit("3", refused.hidden("seen"), "Paint it green").leads_to();
        let told = board.told("/api/issues/ACM-1");
        assert_eq!((&told["title"], &told["description"]), (&"Paint it green".into(), &"Mine.".into()));
    }

    fn an_issue_gets_a_parent_and_labels(board) {
        let home = board.found("Acme");
        let parent = make(board, &home, "Whole");
        let child = make(board, &home, "Part");
        let company = board.told("/api/companies")[0]["id"].clone();
        let labels = format!("/api/companies/{}/labels", company.as_str().unwrap());
        let label = serde_json::json!({ "name": "blue", "color": "#0000ff" });
        let label = board.call(&labels, &label)["id"].as_str().unwrap().to_owned();
        let fields = [("more", "on"), ("parentId", "ACM-1"), ("billingCode", "B-7"),
            ("labelIds", &label)];
        board.send(&child, &child, &fields).leads_to();
        let page = board.get(&child);
        for shown in ["ACM-1 Whole", "blue", "B-7"] {
            assert!(page.ok().contains(shown), "{shown}: {}", page.html);
        }
        assert!(board.get(&parent).ok().contains("0 of 1 ended"));
        let add = format!("{home}/issues/new?parent=ACM-1");
        assert!(board.get(&add).ok().contains(r#"value="ACM-1""#));
        let refused = board.send(&child, &child, &[("more", "on"), ("parentId", "ACM-9")]);
        assert!(refused.status >= 400, "{}", refused.status);
        assert!(refused.html.contains("ACM-9"), "{}", refused.html);
    }

    fn whoever_is_woken_on_the_page_of_an_issue_is_woken_about_it(board) {
        let home = board.found("Acme");
        let ada = hire(board, &home, "Ada");
        let company = board.company();
        let issue = serde_json::json!({ "title": "Paint it", "status": "backlog",
            "assigneeAgentId": ada });
        let made = board.call(&format!("/api/companies/{company}/issues"), &issue);
        let page = format!("{home}/issues/ACM-1");
        board.send(&page, &format!("{page}/deeds"), &[("deed", "wake")]).leads_to();
        let runs = board.told(&format!("/api/companies/{company}/heartbeat-runs"));
        let manual = runs.as_array().unwrap().iter().find(|run| run["issueId"] == made["id"]);
        assert!(manual.is_some(), "{runs}");
        // Whoever runs it again is not woken about nothing either.
        let run = format!("{home}/runs/{}", manual.unwrap()["id"].as_str().unwrap());
        let again = board.send(&run, &run, &[("deed", "again")]);
        assert!(again.leads_to().starts_with(&format!("{home}/runs/")), "{}", again.html);
        let runs = board.told(&format!("/api/companies/{company}/heartbeat-runs"));
        assert!(runs.as_array().unwrap().iter().all(|run| run["issueId"] == made["id"]), "{runs}");
    }

    fn an_issue_is_deleted_by_its_key_alone(board) {
        let home = board.found("Acme");
        let issue = make(board, &home, "Paint it");
        let deeds = format!("{issue}/deeds");
        let refused = board.send(&issue, &deeds, &[("deed", "delete"), ("typed", "ACM-2")]);
        assert_eq!(refused.status, 422);
        assert!(refused.html.contains("Paint it"));
        assert_eq!(board.send(&issue, &deeds, &[("deed", "wake")]).status / 100, 4);
        assert_eq!(board.send(&issue, &deeds, &[("deed", "stop")]).status / 100, 4);
        let deleted = board.send(&issue, &deeds, &[("deed", "delete"), ("typed", "ACM-1")]);
        assert_eq!(deleted.leads_to(), format!("{home}/issues"));
        assert_eq!(board.get(&issue).status, 404);
    }

    fn files_are_attached_handed_out_and_deleted(board) {
        let home = board.found("Acme");
        let issue = make(board, &home, "Paint it");
        let files = format!("{issue}/files");
        let png = b"\x89PNG\r\n\x1a\n0000IHDR";
        let hostile = b"<script>alert(1)</script>";
        for (name, bytes) in [("blue.png", &png[..]), ("<b>.html", &hostile[..])] {
            assert_eq!(board.attach(&files, name, bytes, true).leads_to(), format!("{issue}#files"));
        }
        assert_eq!(board.attach(&files, "x", b"x", false).status, 403);
        let page = board.get(&issue);
        assert!(page.ok().contains("blue.png"), "{}", page.html);
        assert!(!page.html.contains("<b>.html"), "{}", page.html);
        let attached = board.told("/api/issues/ACM-1/attachments");
        let other = board.found("Other");
        for file in attached.as_array().unwrap() {
            let (id, name) = (file["id"].as_str().unwrap(), file["originalFilename"].as_str());
            let place = format!("{files}/{id}");
            let content = board.get(&place);
            let is_picture = name == Some("blue.png");
            assert_eq!(content.ok().contains("alert"), !is_picture);
            let shown = page.html.contains(&format!(r#"<img class="shot" src="{place}""#));
            assert_eq!(shown, is_picture, "{}", page.html);
            let inline = content.header("content-disposition").starts_with("inline");
            assert_eq!(inline, is_picture, "{:?}", content.headers);
            assert!(content.header("content-security-policy").contains("sandbox"));
            assert_eq!(board.get(&place.replace(&home, &other)).status, 404);
            board.send(&issue, &place, &[]).leads_to();
            assert_eq!(board.get(&place).status, 404);
        }
        assert_eq!(board.told("/api/issues/ACM-1/attachments"), serde_json::json!([]));
    }
}
