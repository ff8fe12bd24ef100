//! The history of an approval with every payload that was submitted.

use serde_json::{Value, json};
use workforce_app::Failure;
use workforce_domain::Document;
use workforce_domain::actor::{Actor, ActorKind};
use workforce_domain::approval::{ApprovalEvent, ApprovalHistoryEntry, ApprovalHistoryKind};
use workforce_domain::port::StoreError;
use workforce_testkit::ports;

use crate::approvals::{act, of};
use crate::support::{Answer, Api, api_tests, id};

const HIDDEN: &str = "***REDACTED***";

fn history(approval: &Value) -> String {
    act(approval, "history")
}

/// The kinds and payloads of a history.
fn told(answer: &Answer) -> Vec<(String, Value)> {
    let rows = answer.ok(200);
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| {
        (
            row["type"].as_str().unwrap().to_owned(),
            row["payload"].clone(),
        )
    })
    .collect()
}

/// Adds an entry as workforce wrote them before it kept payloads.
fn add_old_entry(api: &Api, company: &Value, approval: &Value) {
    let event = ApprovalEvent {
        id: ports::ids().next().into(),
        company: id(company).parse().unwrap(),
        approval: id(approval).parse().unwrap(),
        kind: ApprovalHistoryKind::Resubmitted,
        actor_kind: ActorKind::System,
        actor_id: Actor::System.name(),
        note: None,
        details: Document::new(),
        created_at: ports::clock().now(),
    };
    let entry = ApprovalHistoryEntry {
        event,
        payload: None,
    };
    let done: Result<(), Failure<StoreError>> =
        workforce_testkit::world::World::over(api.store.shared())
            .store()
            .write(|tx| Ok(tx.approvals_mut().add_event(&entry)?));
    done.unwrap();
}

api_tests! {
    fn every_submitted_payload_is_kept(api) {
        let company = api.company("Acme");
        let first = json!({ "question": "May I?", "apiKey": "sesame" });
        let body = json!({ "type": "agent_question", "payload": first });
        let asked = api.post(&of(&company), &body).ok(201);
        let note = json!({ "decisionNote": "Why?" });
        api.post(&act(&asked, "request-revision"), &note).ok(200);
        let second = json!({ "question": "May I, since it burns?" });
        api.post(&act(&asked, "resubmit"), &json!({ "payload": second })).ok(200);
        api.post(&act(&asked, "request-revision"), &json!({})).ok(200);
        api.post(&act(&asked, "resubmit"), &json!({})).ok(200);
        api.post(&act(&asked, "approve"), &json!({})).ok(200);
        let first = json!({ "question": "May I?", "apiKey": HIDDEN });
        let expected = [
            ("created", first), ("revision_requested", json!(null)),
            ("resubmitted", second.clone()), ("revision_requested", json!(null)),
            ("resubmitted", second), ("approved", json!(null)),
        ];
        let expected = expected.map(|(kind, payload)| (kind.to_owned(), payload));
        assert_eq!(told(&api.get(&history(&asked))), expected);

        // The approval itself shows the same entries without the payloads.
        let shown = api.get(&format!("/api/approvals/{}", id(&asked))).ok(200);
        let mut rows = api.get(&history(&asked)).ok(200);
        for row in rows.as_array_mut().unwrap() {
            row.as_object_mut().unwrap().remove("payload").unwrap();
        }
        assert_eq!(shown["events"], rows);
        assert_eq!(rows[1]["note"], "Why?");

        let mut paged = Vec::new();
        let mut path = format!("{}?limit=1", history(&asked));
        loop {
            let page = api.get(&path);
            paged.extend(told(&page));
            let Some(cursor) = page.header("x-next-cursor") else { break };
            path = format!("{}?limit=1&cursor={cursor}", history(&asked));
        }
        assert_eq!(paged, expected);
    }

    fn earlier_payloads_show_to_whom_the_last_one_shows(api) {
        let company = api.post("/api/companies", &json!({ "name": "Acme" })).ok(201);
        let ceo = api.post(&of(&company).replace("approvals", "agents"), &json!({
            "name": "Ceo", "role": "ceo",
        })).ok(201);
        let peer = api.agent(&company, "Peer");
        let [ceo, peer] = [&ceo, &peer].map(|agent| api.key(agent));
        let hire = |command: &str| json!({
            "name": "Dora", "role": "qa",
            "adapterConfig": { "command": command, "env": { "TOKEN": "sesame" } },
        });
        let body = json!({ "type": "hire_agent", "payload": hire("one") });
        let filed = api.bearing(&ceo).post(&of(&company), &body).ok(201);
        let draft = format!("/api/agents/{}", filed["payload"]["agentId"].as_str().unwrap());
        api.patch(&draft, &json!({ "adapterConfig": { "command": "two" } })).ok(200);
        api.post(&act(&filed, "request-revision"), &json!({})).ok(200);
        let again = json!({ "payload": hire("three") });
        api.bearing(&ceo).post(&act(&filed, "resubmit"), &again).ok(200);

        let configs = |answer: &Answer| {
            assert!(!answer.text.contains("sesame"), "{}", answer.text);
            let told = told(answer).into_iter().filter(|(_, payload)| !payload.is_null());
            told.map(|(kind, payload)| (kind, payload["adapterConfig"].clone())).collect::<Vec<_>>()
        };
        let shown = |command: &str| json!({ "command": command, "env": { "TOKEN": HIDDEN } });
        let kinds = ["created", "edited", "resubmitted"].map(str::to_owned);
        let all = ["one", "two", "three"].map(shown);
        let all: Vec<_> = kinds.iter().cloned().zip(all).collect();
        assert_eq!(configs(&api.get(&history(&filed))), all);
        assert_eq!(configs(&api.bearing(&ceo).get(&history(&filed))), all);
        let none: Vec<_> = kinds.iter().cloned().map(|kind| (kind, json!({}))).collect();
        assert_eq!(configs(&api.bearing(&peer).get(&history(&filed))), none);
    }

    fn entries_from_before_payloads_were_kept_stay_readable(api) {
        let company = api.company("Acme");
        let body = json!({ "type": "agent_question", "payload": { "question": "May I?" } });
        let asked = api.post(&of(&company), &body).ok(201);
        add_old_entry(api, &company, &asked);
        let told = told(&api.get(&history(&asked)));
        assert_eq!(told[1], ("resubmitted".to_owned(), json!(null)));
        let shown = api.get(&format!("/api/approvals/{}", id(&asked))).ok(200);
        assert_eq!(shown["events"].as_array().unwrap().len(), 2);
    }
}
