use crate::issues::hire;
use crate::support::board_tests;

board_tests! {
    fn deeds_are_told_in_words_with_what_was_before(board) {
        let home = board.found("Acme");
        let ada = hire(board, &home, "Ada");
        let new = format!("{home}/issues/new");
        let issue = board.send(&new, &new, &[("title", "Paint <it>"), ("status", "todo")]);
        let issue = issue.leads_to().to_owned();
        let changed = [("status", "todo"), ("priority", "high"), ("assigneeAgentId", ada.as_str())];
        board.send(&issue, &issue, &changed).leads_to();
        let activity = format!("{home}/activity");
        let page = board.get(&activity);
        for shown in [
            "ACM-1 Paint &#60;it&#62;",
            r#"<span class="dim">priority</span> <del>medium</del>"#,
            "<ins>high</ins>",
            r#"<span class="dim">assignee</span> <del>nobody</del>"#,
            "<ins>Ada</ins>",
        ] {
            assert!(page.ok().contains(shown), "{shown}: {}", page.html);
        }
        // What the filters leave, and what they do not.
        for (query, is_of_issue, is_of_agent) in [
            ("kind=issue", true, false),
            ("kind=agent", false, true),
            ("object=acm-1", true, false),
            ("object=nothing", false, false),
            (&*format!("kind=agent&object={ada}"), false, true),
            (&*format!("actor={ada}"), false, false),
        ] {
            let page = board.get(&format!("{activity}?{query}"));
            assert_eq!(page.ok().contains(r#"issues/ACM-1">ACM-1"#), is_of_issue, "{query}: {}", page.html);
            assert_eq!(page.html.contains(r#"/agents/ada">Ada</a>"#), is_of_agent, "{query}: {}", page.html);
        }
    }

    fn what_is_older_follows_without_a_gap(board) {
        let home = board.found("Acme");
        let goals = format!("/api/companies/{}/goals", board.company());
        for number in 0..60 {
            board.call(&goals, &serde_json::json!({ "title": format!("Goal {number:02}") }));
        }
        let activity = format!("{home}/activity?kind=goal");
        let first = board.get(&activity);
        assert_eq!(first.ok().matches("<td class=\"max\">").count(), 50);
        let (rest, _) = first.html.split_once("\">Older</a>").unwrap();
        let address = rest.rsplit('"').next().unwrap().replace("&#38;", "&").replace("&amp;", "&");
        let second = board.get(&address);
        assert_eq!(second.ok().matches("<td class=\"max\">").count(), 10, "{address}: {}", second.html);
        for number in 0..60 {
            let shown = format!("Goal {number:02}<");
            assert_eq!(first.html.contains(&shown), number >= 10, "{shown}");
            assert_eq!(second.html.contains(&shown), number < 10, "{shown}");
        }
        assert!(!second.html.contains(">Older</a>"));
    }
}
