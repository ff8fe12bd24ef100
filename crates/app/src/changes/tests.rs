use proptest::prelude::{Strategy, any, prop_assert_eq, proptest};
use uuid::Uuid;
use workforce_domain::board::{Author, BoardMember};
use workforce_domain::conventions::{Compact, CompactOrigin, Conventions};
use workforce_domain::goal::{Goal, GoalLevel, GoalStatus};
use workforce_domain::id::{AgentId, CompanyId, GoalId, IssueId, ProjectId};
use workforce_domain::issue::{Assignment, Issue, IssueStatus, Priority, Progress};
use workforce_domain::string_enum::StringEnum;
use workforce_domain::text::{CompactContext, Description, Label, Title};
use workforce_domain::time::Timestamp;

use super::*;
use crate::activity_log::document;
use crate::masking::REDACTED;

fn rendered(changes: Changes) -> Value {
    let mut details = Document::new();
    changes.add_to(&mut details);
    Value::from(details)
}

fn change(from: &Shown<'_>, to: &Shown<'_>) -> Value {
    rendered(Changes::none().and_field("f", from, to))
}

#[test]
fn what_did_not_change_is_not_told() {
    let text = Shown::Text(Some("a"));
    assert_eq!(change(&text, &Shown::Text(Some("a"))), json!({}));
    assert_eq!(
        change(&text, &Shown::Text(None)),
        json!({ "changes": { "f": { "from": "a", "to": null } } })
    );
}

#[test]
fn long_values_are_told_by_digest_and_length() {
    let (short, long) = ("a".repeat(LONGEST), "a".repeat(LONGEST + 1));
    let told = change(&Shown::Text(Some(&short)), &Shown::Text(Some(&long)));
    let to = json!({ "sha256": sha256(&long), "bytes": LONGEST + 1 });
    assert_eq!(
        told,
        json!({ "changes": { "f": { "from": short, "to": to } } })
    );
    // Bytes count, and not characters.
    let wide = "ä".repeat(LONGEST / 2 + 1);
    let told = change(&Shown::Text(None), &Shown::Text(Some(&wide)));
    assert_eq!(told["changes"]["f"]["to"]["bytes"], wide.len());
    // A document counts as its JSON.
    let deep = document(json!({ "a": { "b": [long] } }));
    let told = change(&Shown::Masked(None), &Shown::Masked(Some(&deep)));
    let json = Value::from(deep).to_string();
    assert_eq!(
        told["changes"]["f"]["to"],
        json!({ "sha256": sha256(&json), "bytes": json.len() })
    );
}

#[test]
fn a_digest_is_that_of_what_shows() {
    let of = |secret: &str| {
        let long = json!({ "token": secret, "text": "a".repeat(LONGEST) });
        let long = document(long);
        change(&Shown::Masked(None), &Shown::Masked(Some(&long)))
    };
    assert_eq!(of("one"), of("two"));
}

#[test]
fn that_a_hidden_value_changed_is_told_and_no_more() {
    let [one, two]: [Document; 2] = ["one", "two"].map(|secret| {
        let document = json!({ "env": { "TOKEN": secret, "A": "b" }, "apiKey": secret });
        document.as_object().unwrap().clone().into()
    });
    let shown = json!({ "env": { "TOKEN": REDACTED, "A": "b" }, "apiKey": REDACTED });
    let marks = json!({ "from": REDACTED, "to": REDACTED });
    let cases = [
        (
            change(&Shown::Masked(Some(&one)), &Shown::Masked(Some(&two))),
            json!({ "from": shown, "to": shown }),
        ),
        (
            change(&Shown::HiddenDocument(&one), &Shown::HiddenDocument(&two)),
            marks.clone(),
        ),
        (
            change(&Shown::HiddenText(None), &Shown::HiddenText(Some("one"))),
            marks,
        ),
    ];
    for (told, expected) in cases {
        assert_eq!(told, json!({ "changes": { "f": expected } }));
    }
    let hire = document(json!({ "name": "n", "adapterConfig": { "command": "c" } }));
    let told = change(&Shown::Hire(&Document::new()), &Shown::Hire(&hire));
    let shown = json!({ "name": "n", "adapterConfig": REDACTED });
    assert_eq!(told["changes"]["f"]["to"], shown);
}

/// The kind of record with the most fields that can be long.
#[test]
fn a_row_of_activity_is_bounded() {
    let conventions = |of: &str| {
        let long = of.repeat(LONGEST);
        Conventions {
            backstory: Description::parse(&long).unwrap(),
            conventions_md: Description::parse(&long).unwrap(),
            compact: Some(Compact {
                text: CompactContext::parse(&long).unwrap(),
                origin: CompactOrigin::Manual,
                source_hash: [0; 32],
            }),
            extra_references: json!([of.repeat(LONGEST - 4)]),
            ..Conventions::none(CompanyId::from(Uuid::nil()), Uuid::nil().into())
        }
    };
    let told = rendered(Changes::between(&conventions("a"), &conventions("b")));
    assert_eq!(told["changes"].as_object().unwrap().len(), 4);
    let length = told.to_string().len();
    assert!((8 * LONGEST..9 * LONGEST).contains(&length), "{length}");
}

#[test]
fn what_changed_twice_is_told_once() {
    let step =
        |from: i32, to: i32| Changes::none().and_field("f", &Shown::plain(from), &Shown::plain(to));
    let other = Changes::none().and_field("g", &Shown::plain("a"), &Shown::plain("b"));
    let both = step(1, 2).then(other).then(step(2, 3));
    assert_eq!(both.names(), ["f", "g"]);
    assert_eq!(
        rendered(both)["changes"]["f"],
        json!({ "from": 1, "to": 3 })
    );
}

/// A goal, always the same one, in any state.
fn goals() -> impl Strategy<Value = Goal> {
    let long = proptest::option::of("a{1,20000}");
    let place = (any::<Option<u128>>(), any::<Option<u128>>());
    let words = (0..GoalLevel::ALL.len(), 0..GoalStatus::ALL.len());
    ("[a-z]{1,9}", long, words, place).prop_map(|(title, text, words, (parent, owner))| Goal {
        id: GoalId::from(Uuid::nil()),
        company: CompanyId::from(Uuid::nil()),
        title: Title::parse(&title).unwrap(),
        description: text.map(|text| Description::parse(&text).unwrap()),
        level: GoalLevel::ALL[words.0],
        status: GoalStatus::ALL[words.1],
        parent: parent.map(|id| GoalId::from(Uuid::from_u128(id))),
        owner_agent: owner.map(|id| AgentId::from(Uuid::from_u128(id))),
        created_at: Timestamp::from_micros(0),
        updated_at: Timestamp::from_micros(0),
    })
}

/// A record as it is told, long values by their digest.
fn view(record: &impl Recorded) -> Document {
    let fields = record.fields().into_iter();
    let fields = fields.map(|field| (field.name.into_owned(), abridged(field.value.render())));
    fields.collect()
}

proptest! {
    #[test]
    fn a_change_that_is_undone_leads_back(before in goals(), after in goals()) {
        let mut undone = view(&after);
        let Changes(changes) = Changes::between(&before, &after);
        for (name, change) in changes {
            prop_assert_eq!(&undone[&name], &change["to"]);
            undone.insert(name, change["from"].clone());
        }
        prop_assert_eq!(undone, view(&before));
    }
}

#[test]
fn an_issue_is_told_under_the_names_and_with_the_values_of_its_answer() {
    let at = Timestamp::from_micros(1);
    let id = Uuid::from_u128(7);
    let label = |text: &str| Some(Label::parse(text).unwrap());
    let issue = Issue {
        id: IssueId::from(id),
        company: CompanyId::from(id),
        number: 1,
        identifier: "A-1".to_owned(),
        project: Some(ProjectId::from(id)),
        goal: Some(GoalId::from(id)),
        parent: Some(IssueId::from(id)),
        title: Title::parse("Title").unwrap(),
        description: Some(Description::parse("Text").unwrap()),
        progress: Progress::begin(IssueStatus::InProgress, at),
        priority: Priority::High,
        assignee: Assignment::to_board(BoardMember::Token(id.into())),
        implementer: Some(AgentId::from(id)),
        created_by: Author::System,
        billing_code: label("code"),
        ticket_key: label("key"),
        request_depth: 3,
        delegation: Some(document(json!({ "a": 1 }))),
        assignee_adapter_overrides: None,
        execution_workspace: Some(id.into()),
        hidden_at: Some(at),
        created_at: at,
        updated_at: at,
    };
    let mut left: serde_json::Map<String, Value> = serde_json::from_value(json!(issue)).unwrap();
    for field in issue.fields() {
        // It is in no answer.
        if field.name != "assigneeAdapterOverrides" {
            assert_eq!(
                left.remove(&*field.name),
                Some(field.value.render()),
                "{}",
                field.name
            );
        }
    }
    let left: Vec<&str> = left.keys().map(String::as_str).collect();
    let never_changes = [
        "companyId",
        "createdAt",
        "createdByAgentId",
        "createdById",
        "createdByType",
        "createdByUserId",
        "id",
        "identifier",
        "issueNumber",
        "updatedAt",
    ];
    assert_eq!(left, never_changes);
}
