//! Limits of resources in the configuration of an agent
//! (docs/operations.md#resource-limits).

use serde_json::json;
use workforce_app::activity_log::document;
use workforce_domain::run::{RunErrorCode, RunStatus};

use crate::support::{House, shell};

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_meets_its_limit_fails_and_says_at_which() {
    let house = House::new();
    let engine = house.start();
    let mut config = shell("exec head -c 3M /dev/zero > big");
    config["maxFileSizeMb"] = json!(1);
    let agent = house.hire(config);
    let run = house.ended(house.invoke(agent).run.id).await;
    assert_eq!(run.status, RunStatus::Failed);
    assert_eq!(run.error_code, Some(RunErrorCode::AdapterFailed));
    let error = run.error.unwrap_or_default();
    assert!(error.contains("adapterConfig.maxFileSizeMb"), "{error}");
    assert_eq!(house.path("big").metadata().expect("a file").len(), 1 << 20);
    engine.shutdown().await;
}

/// The configuration of the agent is checked when it is saved, that of the issue
/// only now.
#[tokio::test(flavor = "multi_thread")]
async fn a_limit_that_is_none_or_cannot_be_kept_is_a_fault_of_the_configuration() {
    let house = House::new();
    let engine = house.start();
    let agent = house.hire(shell("touch trace"));
    for (limits, told) in [
        (
            json!({ "maxMemoryMb": 0.5 }),
            "adapterConfig.maxMemoryMb must be",
        ),
        // Nothing contains this run.
        (
            json!({ "maxProcesses": 10 }),
            "adapterConfig.maxProcesses cannot be kept",
        ),
    ] {
        let overrides = document(json!({ "adapterConfig": limits }));
        house.assign(agent, |issue| {
            issue.assignee_adapter_overrides = Some(overrides.clone());
        });
        let run = house.all_ended().await.pop().expect("a run");
        assert_eq!(run.error_code, Some(RunErrorCode::ConfigInvalid), "{told}");
        let error = run.error.unwrap_or_default();
        assert!(error.starts_with(told), "{error}");
    }
    assert!(!house.path("trace").exists());
    engine.shutdown().await;
}
