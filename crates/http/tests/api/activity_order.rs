//! The order of the activity of changes that meet.

use std::sync::Barrier;

use serde_json::json;

use crate::support::{api_tests, id};

/// So many change one record at once.
const CLIENTS: usize = 8;

/// How often each of them changes it.
const TIMES: usize = 10;

api_tests! {
    /// Each row goes on from where the one before it ended, although those who wait for each
    /// other began in any order (docs/activity.md).
    fn rows_stand_in_the_order_of_the_changes(api) {
        let company = api.company("Acme");
        let goals = format!("/api/companies/{}/goals", id(&company));
        let goal = api.post(&goals, &json!({ "title": "0", "level": "company" })).ok(201);
        let path = format!("/api/goals/{}", id(&goal));
        let start = Barrier::new(CLIENTS);
        std::thread::scope(|scope| {
            for client in 0..CLIENTS {
                let (start, path) = (&start, &path);
                scope.spawn(move || {
                    start.wait();
                    for time in 0..TIMES {
                        let title = format!("{client}.{time}");
                        api.patch(path, &json!({ "title": title })).ok(200);
                    }
                });
            }
        });
        let activity = format!(
            "/api/companies/{}/activity?entityType=goal&entityId={}&limit=200",
            id(&company),
            id(&goal)
        );
        let rows = api.get(&activity).ok(200);
        let changes: Vec<_> = rows
            .as_array()
            .unwrap()
            .iter()
            .rev()
            .filter_map(|row| row["details"]["changes"].get("title"))
            .collect();
        assert_eq!(changes.len(), CLIENTS * TIMES);
        let mut title = json!("0");
        for change in changes {
            assert_eq!(change["from"], title, "{rows:#}");
            title = change["to"].clone();
        }
        assert_eq!(api.get(&path).ok(200)["title"], title);
    }
}
