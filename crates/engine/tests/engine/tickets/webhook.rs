//! Messages of GitHub to the engine.

use workforce_domain::port::{DeliveryOutcome, ForgeDelivery, ForgeWebhooks};
use workforce_forge_imitation::{Delivery, Happening, PullRequestState};
use workforce_testkit::store::{TestStore, postgres_store, sqlite_store};

use super::site::{REPOSITORY, SECRET, Site};
use crate::support::eventually;

async fn send(site: &Site, delivery: &Delivery, secret: &str) -> DeliveryOutcome {
    let message = ForgeDelivery {
        event: delivery.event.to_owned(),
        signature: delivery.signature(secret.as_bytes()),
        body: delivery.body.clone(),
    };
    let taken = site.engine().take(message).await;
    taken.expect("a store")
}

async fn news_are_looked_at(store: TestStore) {
    let site = Site::delivered(store).await;
    site.ask().await;
    let before = site.watch().expect("a watch");
    let checks = site
        .forge
        .delivery(REPOSITORY, 1, Happening::CheckRunCompleted);
    // Nobody but GitHub knows the secret.
    assert_eq!(
        send(&site, &checks, "another").await,
        DeliveryOutcome::Forged
    );
    assert_eq!(site.watch().expect("a watch"), before);
    // A message that says what is not so does nothing but cause a question.
    for _ in 0..2 {
        assert_eq!(send(&site, &checks, SECRET).await, DeliveryOutcome::Taken);
    }
    eventually("an answer", || {
        let watch = site.watch().expect("a watch");
        (watch.fence > before.fence).then_some(())
    })
    .await;
    assert_eq!(site.actions("pull_request."), [""; 0]);

    site.forge
        .set_state(REPOSITORY, 1, PullRequestState::Merged);
    let closed = site.forge.delivery(REPOSITORY, 1, Happening::Closed);
    assert_eq!(send(&site, &closed, SECRET).await, DeliveryOutcome::Taken);
    site.wait_for("pull_request.merged", 1).await;
    // Once more, and of what nobody here knows.
    assert_eq!(send(&site, &closed, SECRET).await, DeliveryOutcome::Taken);
    let unknown = Delivery {
        event: "star",
        body: b"{}".to_vec(),
    };
    assert_eq!(send(&site, &unknown, SECRET).await, DeliveryOutcome::Taken);
    assert_eq!(site.actions("pull_request."), ["pull_request.merged"]);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn news_of_github_are_looked_at() {
    news_are_looked_at(sqlite_store()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn news_of_github_are_looked_at_on_postgresql() {
    if let Some(store) = postgres_store() {
        news_are_looked_at(store).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn news_of_another_repository_hurry_nothing() {
    let site = Site::delivered(sqlite_store()).await;
    site.ask().await;
    let before = site.watch().expect("a watch");
    site.forge.add_repository("acme/other");
    site.forge.set_branch("acme/other", "main", &"0".repeat(40));
    let number = site
        .forge
        .open_from_fork("acme/other", "bob/other", "feature/ABC-1", "main");
    assert_eq!(number, 1);
    let other = site
        .forge
        .delivery("acme/other", 1, Happening::Synchronized);
    assert_eq!(send(&site, &other, SECRET).await, DeliveryOutcome::Taken);
    assert_eq!(site.watch().expect("a watch"), before);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_signs_without_a_secret() {
    let mut site = Site::provisioned(sqlite_store(), false).await;
    site.restart(|config| config.tickets.webhook_secret = None)
        .await;
    assert!(!site.engine().is_configured());
    let message = ForgeDelivery {
        event: "pull_request".to_owned(),
        signature: String::new(),
        body: Vec::new(),
    };
    let taken = site.engine().take(message).await.expect("a store");
    assert_eq!(taken, DeliveryOutcome::NotConfigured);
    site.close().await;
}
