use data_encoding::BASE64URL_NOPAD;
use serde_json::json;

use crate::support::{api_tests, id};

api_tests! {
    fn a_list_is_walked_page_by_page(api) {
        let company = api.company("Acme");
        let goals = format!("/api/companies/{}/goals", id(&company));
        for number in 0..5 {
            api.post(&goals, &json!({ "title": format!("goal {number}") }))
                .ok(201);
        }
        let mut titles = Vec::new();
        let mut path = format!("{goals}?limit=2");
        loop {
            let answer = api.get(&path);
            let rows = answer.ok(200);
            let rows = rows.as_array().unwrap();
            assert!(rows.len() <= 2);
            titles.extend(
                rows.iter()
                    .map(|row| row["title"].as_str().unwrap().to_owned()),
            );
            let Some(cursor) = answer.header("x-next-cursor") else {
                assert_eq!(answer.header("link"), None);
                break;
            };
            path = format!("{goals}?limit=2&cursor={cursor}");
            assert_eq!(
                answer.header("link"),
                Some(&*format!("<{path}>; rel=\"next\""))
            );
        }
        assert_eq!(titles, ["goal 0", "goal 1", "goal 2", "goal 3", "goal 4"]);
        assert_eq!(api.get(&goals).ok(200).as_array().unwrap().len(), 5);
    }

    fn malformed_queries_are_refused(api) {
        let company = format!("/api/companies/{}", id(&api.company("Acme")));
        for query in ["limit=0", "limit=501", "limit=x", "limit=1&limit=2"] {
            api.get(&format!("{company}/goals?{query}"))
                .problem(400, "invalid_request");
        }
        for cursor in ["x", "e30", "bnVsbA"] {
            let path = format!("{company}/issues?cursor={cursor}");
            api.get(&path).problem(400, "invalid_cursor");
        }
        for name in ["one", "two"] {
            api.post(&format!("{company}/goals"), &json!({ "title": name }))
                .ok(201);
        }
        let goals = format!("{company}/goals?limit=1");
        let first = api.get(&goals);
        let cursor = first.header("x-next-cursor").unwrap();
        let labels = format!("{company}/labels?cursor={cursor}");
        api.get(&labels).problem(400, "invalid_cursor");
        let other = api.company("Other");
        let other = id(&other);
        let others = format!("/api/companies/{other}/goals?cursor={cursor}");
        api.get(&others).problem(400, "invalid_cursor");
        // The earliest instant, one that a database may not have, the latest.
        let given = BASE64URL_NOPAD.decode(cursor.as_bytes()).unwrap();
        let (mark, _place) = given.split_at(given.iter().rposition(|&byte| byte == b'{').unwrap());
        for at in [i64::MIN, -210_866_803_200_000_001, i64::MAX] {
            let place = json!({ "at": at, "id": other }).to_string();
            let forged = BASE64URL_NOPAD.encode(&[mark, place.as_bytes()].concat());
            api.get(&format!("{company}/goals?cursor={forged}")).ok(200);
        }
        for query in [
            "status=nope",
            "assigneeAgentId=x",
            "priority=urgent",
            "assigneeAgentId=me",
        ] {
            api.get(&format!("{company}/issues?{query}"))
                .problem(400, "invalid_request");
        }
        api.get(&format!("{company}/costs/summary?from=x"))
            .problem(400, "invalid_request");
        let backwards = format!("{company}/costs/summary?from=2026-02-01&to=2026-01-01");
        api.get(&backwards).problem(400, "invalid_request");
        api.get(&format!("{company}/activity?entityId=%00"))
            .problem(400, "invalid_request");
        api.get(&format!("{company}/goals?unknown=1&limit="))
            .ok(200);
    }
}
