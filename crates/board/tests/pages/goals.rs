use crate::support::{Board, board_tests};

/// Makes a goal, and tells its id.
fn make(board: &Board, home: &str, title: &str, parent: &str) -> String {
    let goals = format!("{home}/goals");
    let fields = [("title", title), ("parentId", parent)];
    assert_eq!(board.send(&goals, &goals, &fields).leads_to(), goals);
    let told = board.told(&format!("/api/companies/{}/goals", board.company()));
    let mut all = told.as_array().unwrap().iter();
    let made = all.find(|goal| goal["title"] == title).unwrap();
    made["id"].as_str().unwrap().to_owned()
}

board_tests! {
    fn goals_are_a_tree_whose_parts_are_moved_changed_and_deleted(board) {
        let home = board.found("Acme");
        let goals = format!("{home}/goals");
        let refused = board.send(&goals, &goals, &[("description", "Why <not>?")]);
        assert_eq!(refused.status, 400);
        assert!(refused.html.contains("Why &#60;not&#62;?"), "{}", refused.html);
        let top = make(board, &home, "Earn money", "");
        let below = make(board, &home, "Sell <more>", &top);
        let page = board.get(&goals);
        assert!(page.ok().contains("Sell &#60;more&#62;"), "{}", page.html);
        assert!(page.html.contains(r#"<li class="dep-1">"#), "{}", page.html);
        // A goal is not moved below itself, and is not offered there.
        let address = format!("{goals}/{top}");
        let cycle = [("title", "Earn money"), ("parentId", below.as_str())];
        let refused = board.send(&address, &address, &cycle);
        assert_eq!(refused.status, 422, "{}", refused.html);
        assert!(!board.get(&address).ok().contains(&format!(r#"<option value="{below}""#)));
        let moved = format!("{goals}/{below}");
        let change = [("title", "Sell more"), ("status", "active"), ("parentId", "")];
        assert_eq!(board.send(&moved, &moved, &change).leads_to(), moved);
        let told = board.told(&format!("/api/goals/{below}"));
        assert_eq!(told["parentId"], serde_json::Value::Null);
        assert_eq!(told["status"], "active");
        board.send(&moved, &moved, &[("deed", "delete")]).leads_to();
        assert_eq!(board.get(&moved).status, 404);
    }

    fn a_goal_counts_the_issues_of_those_below_it(board) {
        let home = board.found("Acme");
        let top = make(board, &home, "Earn money", "");
        let below = make(board, &home, "Sell more", &top);
        let issues = format!("/api/companies/{}/issues", board.company());
        for (goal, status) in [(&top, "done"), (&below, "done"), (&below, "todo"), (&below, "cancelled")] {
            let issue = serde_json::json!({ "title": "Do it", "goalId": goal, "status": status });
            board.call(&issues, &issue);
        }
        let page = board.get(&format!("{home}/goals/{top}"));
        assert!(page.ok().contains("2<small> of 3 done"), "{}", page.html);
        let page = board.get(&format!("{home}/goals/{below}"));
        assert!(page.ok().contains("1<small> of 2 done"), "{}", page.html);
        let counts = board.told(&format!("{issues}/counts?by=goal"));
        let mut counts = counts.as_array().unwrap().iter();
        let own = counts.find(|row| row["goalId"] == *below).unwrap();
        assert_eq!((&own["open"], &own["done"], &own["cancelled"]), (&1.into(), &1.into(), &1.into()));
    }
}
