//! What is known of attached files, and the sweep of the bytes that nothing tells of.

use std::time::Duration;

use tempfile::TempDir;
use workforce_app::attachments::{self, AddAttachment, Swept, Upload, sweep};
use workforce_domain::actor::Scope;
use workforce_domain::attachment::{Attachment, ObjectName};
use workforce_domain::id::AssetId;
use workforce_domain::issue::{Issue, IssueStatus};
use workforce_domain::port::ObjectStore;
use workforce_domain::text::MediaType;
use workforce_testkit::store::TestStore;
use workforce_testkit::world::{World, done};
use workforce_testkit::{on_both_databases, ports};

use crate::scene::Scene;

/// A scene with a place for bytes.
struct Place<'s> {
    store: &'s TestStore,
    scene: Scene,
    objects: std::sync::Arc<dyn ObjectStore>,
    folder: TempDir,
}

impl<'s> Place<'s> {
    fn new(store: &'s TestStore) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            store,
            scene: Scene::in_world(World::on(store)),
            objects: ports::objects(folder.path()),
            folder,
        }
    }

    fn world(&self) -> &World {
        &self.scene.world
    }

    /// Bytes that were received and stored, of which no record tells.
    fn received(&self, digest: u8) -> (ObjectName, Upload) {
        let asset = AssetId::from(ports::ids().next());
        let object = ObjectName {
            company: self.scene.company.id,
            asset,
        };
        let mut writer = self.objects.create(object).unwrap();
        writer.write(b"bytes").unwrap();
        writer.finish().unwrap();
        let upload = Upload {
            asset,
            sha256: [digest; 32],
            byte_size: 5,
            content_type: MediaType::plain_text(),
            provider: self.objects.provider(),
        };
        (object, upload)
    }

    /// Attaches bytes with this digest to an issue.
    fn attach(&self, issue: &Issue, digest: u8) -> Attachment {
        let command = AddAttachment {
            upload: self.received(digest).1,
            original_filename: None,
            declared_content_type: None,
            comment: None,
        };
        let company = self.scene.company.id;
        let added = self
            .world()
            .board()
            .write(|tx, ctx| attachments::add(tx, ctx, company, &issue.id.into(), command.clone()));
        done(added).attachment
    }

    fn is_there(&self, object: ObjectName) -> bool {
        self.objects.read(object, 0, 1).is_ok()
    }

    /// A sweep so long after the present.
    fn swept_after(&self, time: Duration) -> Swept {
        let now = ports::clock().now().plus(time);
        sweep(self.world().store(), &*self.objects, now).unwrap()
    }
}

const MINUTE: Duration = Duration::from_secs(60);

on_both_databases! {
    fn bytes_of_a_deleted_issue_are_taken_away(store: &TestStore) {
        let place = Place::new(store);
        let (kept, deleted) = (
            place.scene.nobodys(IssueStatus::Todo),
            place.scene.nobodys(IssueStatus::Todo),
        );
        let shown = place.attach(&kept, 1).asset.object();
        let unshown = place.attach(&deleted, 2).asset.object();
        assert_eq!(place.swept_after(MINUTE), Swept::default());
        place.world().system().write(|tx, ctx| {
            let held = tx.issues_mut().lock(Scope::SYSTEM, &deleted.id.into())?;
            Ok::<_, workforce_app::Failure<std::convert::Infallible>>(
                tx.issues_mut().delete(held.unwrap(), ctx.now)?,
            )
        })
        .unwrap();
        let swept = place.swept_after(MINUTE);
        assert_eq!((swept.assets, swept.orphans), (1, 0));
        assert!(place.is_there(shown) && !place.is_there(unshown));
        assert_eq!(place.swept_after(70 * MINUTE), Swept::default());
        assert!(place.is_there(shown));
    }

    fn bytes_that_no_record_tells_of_are_taken_away_when_they_are_old(store: &TestStore) {
        let place = Place::new(store);
        let issue = place.scene.nobodys(IssueStatus::Todo);
        let shown = place.attach(&issue, 1).asset.object();
        let (orphan, _upload) = place.received(2);
        let half = place.folder.path().join(format!("{orphan}#1"));
        std::fs::write(&half, "half").unwrap();
        assert_eq!(place.swept_after(50 * MINUTE), Swept::default());
        assert!(place.is_there(orphan) && half.exists());
        let swept = place.swept_after(70 * MINUTE);
        assert_eq!((swept.assets, swept.orphans, swept.unfinished), (0, 1, 1));
        assert!(place.is_there(shown) && !place.is_there(orphan) && !half.exists());
    }

    fn bytes_of_a_deleted_company_are_taken_away(store: &TestStore) {
        let place = Place::new(store);
        let issue = place.scene.nobodys(IssueStatus::Todo);
        let object = place.attach(&issue, 1).asset.object();
        place.store.execute(&format!("DELETE FROM companies WHERE id = '{}'", place.scene.company.id));
        assert_eq!(place.swept_after(50 * MINUTE), Swept::default());
        assert_eq!(place.swept_after(70 * MINUTE).orphans, 1);
        assert!(!place.is_there(object));
    }

    fn two_sweeps_at_once_do_not_hinder_each_other(store: &TestStore) {
        let place = Place::new(store);
        let issue = place.scene.nobodys(IssueStatus::Todo);
        let shown = place.attach(&issue, 1).asset.object();
        for digest in 2..40 {
            place.received(digest);
        }
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| place.swept_after(70 * MINUTE));
            }
        });
        assert_eq!(place.swept_after(70 * MINUTE), Swept::default());
        assert!(place.is_there(shown));
    }
}
