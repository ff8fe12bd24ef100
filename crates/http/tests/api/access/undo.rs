//! Whatever is said of records in whatever order, what activity tells of it leads back.

use serde_json::{Value, json};

use super::changes::Changed;
use crate::support::api_tests;

/// Numbers that seem to follow no rule, and are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        // The constants are those of Knuth's MMIX.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// A field with some of the values that it may have.
type Choice = (&'static str, Vec<Value>);

/// What may be said of records, by their paths.
fn possible() -> Vec<(&'static str, Vec<Choice>)> {
    let texts = || vec![json!(null), json!("a"), json!("b".repeat(9000))];
    let words = |words: &[&str]| words.iter().map(|word| json!(word)).collect::<Vec<_>>();
    let documents = || {
        vec![
            json!({}),
            json!({ "token": "a" }),
            json!({ "token": "b", "c": 1 }),
        ]
    };
    let issue = vec![
        ("title", words(&["A", "B"])),
        ("description", texts()),
        (
            "status",
            words(&[
                "backlog",
                "todo",
                "in_review",
                "blocked",
                "done",
                "cancelled",
            ]),
        ),
        ("priority", words(&["low", "high"])),
        (
            "assigneeAgentId",
            vec![json!(null), json!("{agentId}"), json!("{newcomerId}")],
        ),
        ("projectId", vec![json!(null), json!("{projectId}")]),
        ("goalId", vec![json!(null), json!("{goalId}")]),
        ("labelIds", vec![json!([]), json!(["{labelId}"])]),
        ("billingCode", vec![json!(null), json!("b")]),
        ("hidden", vec![json!(true), json!(false)]),
        ("assigneeAdapterOverrides", documents()),
    ];
    let agent = vec![
        ("name", words(&["A", "B"])),
        ("capabilities", texts()),
        ("adapterConfig", documents()),
        ("metadata", documents()),
        ("budgetMonthlyCents", vec![json!(0), json!(1), json!(1000)]),
        ("reportsTo", vec![json!(null), json!("{newcomerId}")]),
    ];
    let project = vec![
        ("description", texts()),
        ("goalIds", vec![json!([]), json!(["{goalId}"])]),
        ("status", words(&["backlog", "planned"])),
        ("targetDate", vec![json!(null), json!("2030-01-01")]),
    ];
    vec![
        ("/api/issues/{issueId}", issue),
        ("/api/agents/{agentId}", agent),
        ("/api/projects/{projectId}", project),
    ]
}

api_tests! {
    fn whatever_is_changed_can_be_undone(api) {
        let changed = Changed::new(api);
        let spent = json!({
            "agentId": "{agentId}", "provider": "p", "model": "m", "costCents": 10,
        });
        changed.post("/api/companies/{companyId}/cost-events", &spent);
        let (possible, mut dice, mut done) = (possible(), Dice(1), 0);
        for _ in 0..60 {
            let (path, fields) = &possible[dice.below(possible.len())];
            let mut body = serde_json::Map::new();
            for (name, values) in fields {
                if dice.below(3) == 0 {
                    body.insert((*name).to_owned(), values[dice.below(values.len())].clone());
                }
            }
            let (path, body) = (changed.scene.fill(path), Value::Object(body).to_string());
            let body = changed.scene.fill(&body);
            let patch = || api.send("PATCH", &path, &[], body.as_bytes());
            let answer = changed.watch.after(&format!("{path} {body}"), patch);
            done += usize::from(answer.status == 200);
        }
        assert!(done > 40, "{done}");
    }
}
