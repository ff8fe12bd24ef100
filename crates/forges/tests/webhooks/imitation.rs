//! Deliveries of the imitation are those of the forges.

use workforce_domain::string_enum::StringEnum as _;
use workforce_forge_imitation::{ForgeImitation, Happening, ImitatedForge, PullRequestState};
use workforce_forges::ForgeKind;
use workforce_forges::webhook::{EventKind, parse, verify};

use crate::address;

#[test]
fn a_delivery_of_the_imitation_is_one_of_its_forge() {
    for imitated in ImitatedForge::ALL {
        let forge = ForgeKind::parse(imitated.word()).unwrap();
        let imitation = ForgeImitation::start(imitated).unwrap();
        imitation.add_repository("acme/shop");
        imitation.open_from_fork("acme/shop", "else/shop", "fix", "main");
        let pull = imitation.pull_requests("acme/shop").remove(0);
        imitation.set_state("acme/shop", 1, PullRequestState::Merged);
        let status = match forge {
            ForgeKind::GitHub | ForgeKind::Gitea => EventKind::StatusChanged,
            ForgeKind::GitLab => EventKind::ChecksCompleted,
        };
        for (happening, kind) in [
            (Happening::Opened, EventKind::Opened),
            (Happening::Synchronized, EventKind::Synchronized),
            (Happening::Reopened, EventKind::Reopened),
            (Happening::Closed, EventKind::Merged),
            (Happening::ChecksCompleted, EventKind::ChecksCompleted),
            (Happening::Status, status),
        ] {
            let delivery = imitation.delivery("acme/shop", 1, happening);
            let proof = delivery.proof("secret");
            assert!(verify(forge, b"secret", &delivery.body, &proof));
            let event = parse(forge, delivery.event, &delivery.body).unwrap();
            assert_eq!(event.kind, kind, "{forge}");
            assert_eq!(event.head_sha, pull.head_sha);
            let told = event.head_branches;
            assert!(told.is_empty() || told == ["fix"], "{forge}: {told:?}");
            assert!(
                event
                    .repository
                    .is_same(&address(&imitation.repository_url("acme/shop")))
            );
        }
        imitation.set_state("acme/shop", 1, PullRequestState::Closed);
        let closed = imitation.delivery("acme/shop", 1, Happening::Closed);
        let event = parse(forge, closed.event, &closed.body).unwrap();
        assert_eq!(event.kind, EventKind::Closed, "{forge}");
    }
}
