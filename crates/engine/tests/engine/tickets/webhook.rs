//! Messages of forges to the engine.

use serde_json::json;
use workforce_domain::port::{DeliveryOutcome, ForgeDelivery, ForgeWebhooks};
use workforce_domain::string_enum::StringEnum as _;
use workforce_engine::WebhookSecret;
use workforce_forge_imitation::{Delivery, Happening, ImitatedForge, PullRequestState};
use workforce_forges::ForgeKind;
use workforce_testkit::store::{TestStore, postgres_store, sqlite_store};

use super::site::{REPOSITORY, SECRET, Site};
use crate::support::eventually;

async fn send(site: &Site, delivery: &Delivery, secret: &str) -> DeliveryOutcome {
    let message = ForgeDelivery {
        forge: ForgeKind::parse(delivery.forge.word()).expect("a kind"),
        event: delivery.event.to_owned(),
        proof: delivery.proof(secret),
        body: delivery.body.clone(),
    };
    let taken = site.engine().take(message).await;
    taken.expect("a store")
}

async fn news_are_looked_at(forge: ImitatedForge, store: TestStore) {
    let site = Site::delivered_at(forge, store).await;
    site.ask().await;
    let before = site.watch().expect("a watch");
    let checks = site
        .forge
        .delivery(REPOSITORY, 1, Happening::ChecksCompleted);
    // Nobody but the forge knows the secret.
    for wrong in ["another", ""] {
        let outcome = send(&site, &checks, wrong).await;
        assert_eq!(outcome, DeliveryOutcome::Forged);
    }
    assert_eq!(site.watch().expect("a watch"), before);
    // A message that says what is not so does nothing but cause a question.
    assert_eq!(send(&site, &checks, SECRET).await, DeliveryOutcome::Taken);
    eventually("an answer", || {
        let watch = site.watch().expect("a watch");
        (watch.fence > before.fence).then_some(())
    })
    .await;
    assert_eq!(site.actions("pull_request.merged"), [""; 0]);

    // Who sends it once more changes nothing.
    site.ask().await;
    let before = site.watch().expect("a watch");
    let repeated = send(&site, &checks, SECRET).await;
    assert_eq!(repeated, DeliveryOutcome::Repeated);
    assert_eq!(site.watch().expect("a watch"), before);

    site.forge
        .set_state(REPOSITORY, 1, PullRequestState::Merged);
    let closed = site.forge.delivery(REPOSITORY, 1, Happening::Closed);
    assert_eq!(send(&site, &closed, SECRET).await, DeliveryOutcome::Taken);
    site.wait_for("pull_request.merged", 1).await;
    let repeated = send(&site, &closed, SECRET).await;
    assert_eq!(repeated, DeliveryOutcome::Repeated);
    // Of what nobody here knows.
    let unknown = Delivery {
        forge,
        event: "star",
        body: b"{}".to_vec(),
    };
    assert_eq!(send(&site, &unknown, SECRET).await, DeliveryOutcome::Taken);
    assert_eq!(site.actions("pull_request.merged").len(), 1);
    site.close().await;
}

/// Makes the test of a forge one on both databases.
macro_rules! news_of {
    ($name:ident, $forge:ident) => {
        mod $name {
            use super::*;

            #[tokio::test(flavor = "multi_thread")]
            async fn webhook_makes_a_watch_due() {
                news_are_looked_at(ImitatedForge::$forge, sqlite_store()).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn webhook_makes_a_watch_due_on_postgresql() {
                if let Some(store) = postgres_store() {
                    news_are_looked_at(ImitatedForge::$forge, store).await;
                }
            }
        }
    };
}

news_of!(github, GitHub);
news_of!(gitlab, GitLab);
news_of!(gitea, Gitea);

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
async fn the_secret_of_one_forge_has_no_say_about_another() {
    let mut site = Site::delivered(sqlite_store()).await;
    // No question is left unanswered.
    site.ask().await;
    site.restart(|config| {
        let secret = WebhookSecret::new("of GitLab").expect("a secret");
        let secrets = &mut config.tickets.webhook_secrets;
        secrets.insert(ForgeKind::GitLab, secret);
    })
    .await;
    site.ask().await;
    let before = site.watch().expect("a watch");
    let page = site.forge.repository_url(REPOSITORY);
    let request = json!({
        "object_kind": "merge_request",
        "project": {
            "path_with_namespace": REPOSITORY,
            "web_url": page.trim_end_matches(".git"),
        },
        "object_attributes": {
            "iid": 1,
            "action": "merge",
            "source_branch": "feature/ABC-1",
            "last_commit": {"id": site.pushed()},
        },
    });
    let foreign = Delivery {
        forge: ImitatedForge::GitLab,
        event: "Merge Request Hook",
        body: request.to_string().into_bytes(),
    };
    // Nor does the secret of GitHub prove what GitLab is to have sent.
    let outcome = send(&site, &foreign, SECRET).await;
    assert_eq!(outcome, DeliveryOutcome::Forged);
    let outcome = send(&site, &foreign, "of GitLab").await;
    assert_eq!(outcome, DeliveryOutcome::Taken);
    assert_eq!(site.watch().expect("a watch"), before);
    site.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_known_without_a_secret() {
    let site = Site::provisioned(sqlite_store(), false).await;
    for forge in ForgeKind::ALL {
        let has_secret = *forge == ForgeKind::GitHub;
        assert_eq!(site.engine().is_configured(*forge), has_secret, "{forge}");
        let message = ForgeDelivery {
            forge: *forge,
            event: "pull_request".to_owned(),
            proof: String::new(),
            body: Vec::new(),
        };
        let taken = site.engine().take(message).await.expect("a store");
        let expected = match has_secret {
            true => DeliveryOutcome::Forged,
            false => DeliveryOutcome::NotConfigured,
        };
        assert_eq!(taken, expected, "{forge}");
    }
    site.close().await;
}
