use std::sync::Arc;

use serde_json::{Value, json};
use workforce_domain::time::Timestamp;
use workforce_http::Ports;
use workforce_testkit::store::TestStore;
use workforce_testkit::world::SettableClock;

use crate::support::{Api, NOTHING, api_tests, id};

/// A server on which it is noon of 10 March 2026.
fn at_noon(store: TestStore) -> Api {
    standing_at(store, "2026-03-10T12:00:00Z")
}

/// A server on which a month begins.
fn at_the_first(store: TestStore) -> Api {
    standing_at(store, "2026-03-01T00:00:00Z")
}

fn standing_at(store: TestStore, now: &str) -> Api {
    let clock = SettableClock::default();
    clock.set(Timestamp::parse(now).unwrap());
    Api::through(store, |ports, _home| Ports {
        clock: Arc::new(clock),
        ..ports
    })
}

/// The board reports what an agent spent at an instant, with `more` of the report.
fn spend(api: &Api, agent: &Value, at: &str, cents: i64, more: &Value) {
    let mut report = json!({
        "agentId": agent["id"], "provider": "p", "model": "m", "costCents": cents,
        "occurredAt": at,
    });
    let fields = report.as_object_mut().unwrap();
    fields.extend(more.as_object().unwrap().clone());
    let company = agent["companyId"].as_str().unwrap();
    api.post(&format!("/api/companies/{company}/cost-events"), &report)
        .ok(201);
}

/// So much on each of these days of March.
fn spend_daily(api: &Api, agent: &Value, days: std::ops::RangeInclusive<u8>, cents: i64) {
    for day in days {
        let at = format!("2026-03-{day:02}T09:30:00Z");
        spend(api, agent, &at, cents, &json!({}));
    }
}

fn path(company: &Value, query: &str) -> String {
    format!("/api/companies/{}/costs/forecast?{query}", id(company))
}

fn told(api: &Api, company: &Value, query: &str) -> Value {
    api.get(&path(company, query)).ok(200)
}

fn of_agent(agent: &Value) -> String {
    format!("agentId={}", id(agent))
}

fn limit(api: &Api, kind: &str, record: &Value, budget: &Value) {
    api.patch(&format!("/api/{kind}/{}", id(record)), budget)
        .ok(200);
}

/// The named fields of an answer, in this order.
fn fields<const N: usize>(answer: &Value, names: [&str; N]) -> [Value; N] {
    names.map(|name| answer[name].clone())
}

const OUTLOOK: [&str; 4] = ["status", "runsOutEarly", "runsOutAt", "runsOutLate"];

api_tests! {
    fn an_agent_that_spends_the_same_every_day_runs_out_exactly_then(api = at_noon) {
        let company = api.company("Acme");
        let (ada, bob) = (api.agent(&company, "Ada"), api.agent(&company, "Bob"));
        limit(api, "agents", &ada, &json!({ "budgetMonthlyCents": 1000 }));
        spend(api, &ada, "2026-03-06T00:00:00Z", 100, &json!({}));
        spend_daily(api, &ada, 7..=9, 100);
        spend_daily(api, &ada, 10..=10, 50);
        spend_daily(api, &bob, 2..=10, 7);
        assert_eq!(told(api, &company, &of_agent(&ada)), json!({
            "companyId": company["id"], "scope": "agent", "agentId": ada["id"],
            "projectId": null, "basis": "actual", "status": "runs_out",
            "limitCents": 1000, "limitPeriod": "month", "spentCents": 450, "leftCents": 550,
            "monthSpendCents": 450, "ratePerDayCents": 100, "spreadPerDayCents": 0,
            "runsOutAt": "2026-03-16T00:00:00.000Z",
            "runsOutEarly": "2026-03-16T00:00:00.000Z",
            "runsOutLate": "2026-03-16T00:00:00.000Z",
            "monthEndSpendCents": 2600,
            "days": [
                { "date": "2026-03-06", "spendCents": 100 },
                { "date": "2026-03-07", "spendCents": 100 },
                { "date": "2026-03-08", "spendCents": 100 },
                { "date": "2026-03-09", "spendCents": 100 },
            ],
            "whatIf": null,
        }));
    }

    fn a_day_without_costs_counts_and_the_first_half_day_does_not(api = at_noon) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        let days = |answer: &Value| answer["days"].as_array().unwrap().len();
        let unknown = told(api, &company, "");
        assert_eq!(fields(&unknown, OUTLOOK), [
            json!("too_early"), Value::Null, Value::Null, Value::Null,
        ]);
        assert_eq!(unknown["monthEndSpendCents"], Value::Null);
        assert_eq!(days(&unknown), 0);
        // The 7th is no full day since the first cost.
        spend_daily(api, &ada, 7..=7, 90);
        let early = told(api, &company, "limitCents=1000");
        assert_eq!((&early["status"], days(&early)), (&json!("too_early"), 2));
        assert_eq!(early["ratePerDayCents"], Value::Null);
        spend_daily(api, &ada, 6..=6, 90);
        let told = told(api, &company, "");
        assert_eq!(told["status"], "no_limit");
        assert_eq!(told["days"], json!([
            { "date": "2026-03-07", "spendCents": 90 },
            { "date": "2026-03-08", "spendCents": 0 },
            { "date": "2026-03-09", "spendCents": 0 },
        ]));
        assert_eq!(fields(&told, ["limitCents", "limitPeriod", "leftCents", "spentCents"]), [
            json!(0), Value::Null, Value::Null, json!(180),
        ]);
        // 90 · 46341 / (65536 + 55109 + 46341)
        assert_eq!(told["ratePerDayCents"], json!(24.976_285));
    }

    fn another_limit_is_tried_on_the_month(api = at_noon) {
        let company = api.company("Acme");
        let (ada, bob) = (api.agent(&company, "Ada"), api.agent(&company, "Bob"));
        spend(api, &bob, "2026-02-27T12:00:00Z", 5000, &json!({}));
        spend_daily(api, &ada, 1..=9, 60);
        spend_daily(api, &bob, 1..=9, 40);
        limit(api, "companies", &company, &json!({ "budgetMonthlyCents": 1000 }));
        let set = told(api, &company, "");
        assert_eq!(fields(&set, ["scope", "limitCents", "status", "whatIf"]), [
            json!("company"), json!(1000), json!("runs_out"), Value::Null,
        ]);
        // Both cost something at half past nine, and that counts together.
        let tried = told(api, &company, "limitCents=350");
        assert_eq!(fields(&tried, ["limitCents", "status", "leftCents"]), [
            json!(350), json!("used_up"), json!(0),
        ]);
        assert_eq!(tried["whatIf"], json!({
            "stoppedAt": "2026-03-04T09:30:00.000Z", "spendAfterCents": 500,
            "eventsAfter": 10, "runsAfter": 0,
        }));
        let never = json!({
            "stoppedAt": null, "spendAfterCents": 0, "eventsAfter": 0, "runsAfter": 0,
        });
        for (query, status) in [
            ("limitCents=901", "runs_out"), ("limitCents=0", "no_limit"),
            ("limitCents=9223372036854", "not_this_month"),
        ] {
            let tried = told(api, &company, query);
            assert_eq!((&tried["status"], &tried["whatIf"]), (&json!(status), &never), "{query}");
        }
        let of_ada = told(api, &company, &format!("{}&limitCents=120", of_agent(&ada)));
        assert_eq!(of_ada["whatIf"]["stoppedAt"], "2026-03-02T09:30:00.000Z");
        assert_eq!(of_ada["whatIf"]["eventsAfter"], 7);
    }

    fn the_limit_of_a_project_that_ends_first_counts(api = at_noon) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        let at = format!("/api/companies/{}/projects", id(&company));
        let site = api.post(&at, &json!({ "name": "Site" })).ok(201);
        let on_site = json!({ "projectId": site["id"] });
        for at in ["2026-02-28T12:00:00Z", "2026-03-08T12:00:00Z"] {
            spend(api, &ada, at, 300, &on_site);
        }
        spend_daily(api, &ada, 1..=9, 1000);
        let query = format!("projectId={}", id(&site));
        let limits = ["scope", "limitCents", "limitPeriod", "spentCents", "leftCents"];
        for (monthly, total, period, spent, left) in [
            (500, 900, "month", 300, 200),
            (700, 900, "total", 600, 300),
            // As much is left of both, and that of the month comes back.
            (600, 900, "total", 600, 300),
            (0, 900, "total", 600, 300),
            (500, 0, "month", 300, 200),
        ] {
            let budget = json!({ "budgetMonthlyCents": monthly, "budgetTotalCents": total });
            limit(api, "projects", &site, &budget);
            let told = told(api, &company, &query);
            let limit = if period == "month" { monthly } else { total };
            assert_eq!(fields(&told, limits), [
                json!("project"), json!(limit), json!(period), json!(spent), json!(left),
            ]);
            assert_eq!(fields(&told, ["projectId", "agentId", "monthSpendCents"]), [
                site["id"].clone(), Value::Null, json!(300),
            ]);
        }
        let tried = told(api, &company, &format!("{query}&limitCents=1000"));
        assert_eq!(fields(&tried, limits), [
            json!("project"), json!(1000), json!("month"), json!(300), json!(700),
        ]);
    }

    fn a_month_begins_with_the_rate_of_the_last(api = at_the_first) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        for day in 25..=28 {
            spend(api, &ada, &format!("2026-02-{day}T23:59:59.999999Z"), 100, &json!({}));
        }
        limit(api, "agents", &ada, &json!({ "budgetMonthlyCents": 50 }));
        let told = told(api, &company, &format!("{}&limitCents=50", of_agent(&ada)));
        let noon = json!("2026-03-01T12:00:00.000Z");
        assert_eq!(fields(&told, OUTLOOK), [
            json!("runs_out"), noon.clone(), noon.clone(), noon,
        ]);
        let sums = ["spentCents", "monthSpendCents", "monthEndSpendCents"];
        assert_eq!(fields(&told, sums), [json!(0), json!(0), json!(3100)]);
        assert_eq!(told["whatIf"]["stoppedAt"], Value::Null);
        assert_eq!(told["days"][2], json!({ "date": "2026-02-28", "spendCents": 100 }));
    }

    fn a_flat_plan_is_forecast_by_list(api = at_noon) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        for day in 5..=9 {
            let at = format!("2026-03-0{day}T00:00:00Z");
            let plan = json!({ "billingType": "subscription", "estimatedCostCents": 20 });
            spend(api, &ada, &at, 0, &plan);
        }
        let query = "limitCents=60";
        let actual = told(api, &company, query);
        assert_eq!(fields(&actual, ["basis", "status", "spentCents", "ratePerDayCents"]), [
            json!("actual"), json!("not_this_month"), json!(0), json!(0),
        ]);
        limit(api, "companies", &company, &json!({ "budgetBasis": "estimated" }));
        let listed = told(api, &company, query);
        assert_eq!(fields(&listed, ["basis", "status", "spentCents", "ratePerDayCents"]), [
            json!("estimated"), json!("used_up"), json!(100), json!(20),
        ]);
        assert_eq!(listed["whatIf"]["stoppedAt"], "2026-03-07T00:00:00.000Z");
        assert_eq!(listed["whatIf"]["spendAfterCents"], 40);
    }

    fn a_forecast_is_for_who_may_read_the_costs(api) {
        let (company, other) = (api.company("Acme"), api.company("Other"));
        let (ada, spy) = (api.agent(&company, "Ada"), api.agent(&other, "Spy"));
        let at = format!("/api/companies/{}/projects", id(&other));
        let theirs = api.post(&at, &json!({ "name": "Theirs" })).ok(201);
        api.bearing(&api.key(&ada)).get(&path(&company, "")).ok(200);
        api.bearing(&api.key(&spy)).get(&path(&company, "")).problem(403, "company_forbidden");
        api.get(&path(&json!({ "id": NOTHING }), "")).problem(404, "not_found");
        for query in [
            of_agent(&spy), format!("projectId={}", id(&theirs)),
            format!("agentId={NOTHING}"), format!("projectId={NOTHING}"),
        ] {
            api.get(&path(&company, &query)).problem(404, "not_found");
        }
        let both = format!("{}&projectId={}", of_agent(&ada), id(&theirs));
        for (query, pointer) in [
            ("agentId=x", "?agentId"), ("projectId=x", "?projectId"), (&both, "?projectId"),
            ("limitCents=-1", "?limitCents"), ("limitCents=1.5", "?limitCents"),
            ("limitCents=x", "?limitCents"), ("limitCents=1&limitCents=2", "?limitCents"),
            ("limitCents=9223372036855", "?limitCents"),
        ] {
            let refused = api.get(&path(&company, query)).problem(400, "invalid_request");
            assert_eq!(refused["details"][0]["pointer"], pointer, "{query}");
        }
    }
}
