//! Many who make something of one name at the same time.

use std::collections::BTreeSet;
use std::sync::Barrier;

use serde_json::{Value, json};

use crate::support::{Answer, Api, api_tests, id};

/// So many at once.
const MANY: usize = 16;

/// The answers to the same request, sent many times at once.
fn at_once(api: &Api, path: &str, body: &Value) -> Vec<Answer> {
    let start = Barrier::new(MANY);
    let ask = || {
        start.wait();
        api.post(path, body)
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..MANY).map(|_| scope.spawn(ask)).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, Answer>| thread.join().unwrap();
        threads.into_iter().map(join).collect()
    })
}

/// Everyone is served, each with a short name of its own and none left out.
#[track_caller]
fn assert_numbered(answers: &[Answer], field: &str, stem: &str, separator: &str) {
    let names: BTreeSet<String> = answers
        .iter()
        .map(|answer| answer.ok(201)[field].as_str().unwrap().to_owned())
        .collect();
    let numbered = (2..=MANY).map(|n| format!("{stem}{separator}{n}"));
    assert_eq!(names, numbered.chain([stem.to_owned()]).collect());
}

api_tests! {
    fn agents_of_one_name_are_all_made_where_the_board_wants_it(api) {
        let path = format!("/api/companies/{}/agents", id(&api.company("Acme")));
        let answers = at_once(api, &path, &json!({ "name": "Fin", "allowSameName": true }));
        assert_numbered(&answers, "urlKey", "fin", "-");
    }

    fn else_one_of_them_is(api) {
        let path = format!("/api/companies/{}/agents", id(&api.company("Acme")));
        let mut answers = at_once(api, &path, &json!({ "name": "Fin" }));
        answers.sort_by_key(|answer| answer.status);
        let made = answers[0].ok(201);
        for answer in &answers[1..] {
            assert_eq!(answer.problem(409, "name_taken")["details"]["agentId"], made["id"]);
        }
    }

    fn projects_of_one_name_are_all_made(api) {
        let path = format!("/api/companies/{}/projects", id(&api.company("Acme")));
        let answers = at_once(api, &path, &json!({ "name": "Site" }));
        assert_numbered(&answers, "urlKey", "site", "-");
    }

    fn companies_of_one_name_are_all_made(api) {
        let answers = at_once(api, "/api/companies", &json!({ "name": "Northwind" }));
        assert_numbered(&answers, "issuePrefix", "NOR", "");
    }
}
