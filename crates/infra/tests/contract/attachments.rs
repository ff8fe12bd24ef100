use workforce_domain::actor::{CompanyOwned, InstanceScope, Scope};
use workforce_domain::attachment::{Asset, Attachment, ObjectName, Provider};
use workforce_domain::board::BoardMember;
use workforce_domain::company::Company;
use workforce_domain::issue::{Author, Comment, Issue};
use workforce_domain::page::PageRequest;
use workforce_domain::port::{Locked, StoreError};
use workforce_domain::text::{CommentBody, FileName, MediaType};
use workforce_testkit::on_both_databases;

use crate::world::{World, id, later, now, try_write, walk};

/// Bytes of a company with this digest.
pub(crate) fn asset(company: &Company, digest: u64) -> Asset {
    let mut sha256 = [0; 32];
    sha256[..8].copy_from_slice(&digest.to_be_bytes());
    Asset {
        id: id(),
        company: company.id,
        sha256,
        byte_size: 5,
        content_type: MediaType::plain_text(),
        provider: Provider::LocalDisk,
        created_at: now(),
    }
}

/// An attachment of an issue that shows them.
pub(crate) fn attachment(issue: &Issue, asset: Asset) -> Attachment {
    Attachment {
        id: id(),
        issue: issue.id,
        comment: None,
        asset,
        original_filename: None,
        declared_content_type: None,
        author: Author::default(),
        created_at: now(),
    }
}

/// Stores an attachment that shows bytes with this digest.
fn attached(world: &World<'_>, issue: &Issue, digest: u64) -> Attachment {
    world.write(|tx| {
        let asset = tx
            .attachments_mut()
            .keep_asset(&asset(&world.company, digest))?;
        let attachment = attachment(issue, asset);
        tx.attachments_mut().insert(&attachment)?;
        Ok(attachment)
    })
}

fn delete(world: &World<'_>, attachment: &Attachment) -> Option<ObjectName> {
    world.write(|tx| {
        let held = tx.attachments_mut().lock(Scope::SYSTEM, attachment.id)?;
        tx.attachments_mut().delete(held.expect("it exists"))
    })
}

on_both_databases! {
    #![beneath_the_rules]
    fn an_attachment_is_stored_whole(store: &TestStore) {
        let world = World::new(store);
        let issue = world.open();
        let comment = Comment {
            id: id(),
            company: world.company.id,
            issue: issue.id,
            author: Author::default(),
            run: None,
            body: CommentBody::parse("see").unwrap(),
            mentions: Vec::new(),
            review: None,
            position: None,
            created_at: now(),
        };
        let full = Attachment {
            comment: Some(comment.id),
            original_filename: Some(FileName::parse("a b.txt").unwrap()),
            declared_content_type: Some(MediaType::parse("text/markdown").unwrap()),
            author: Author::Agent(world.agent.id),
            created_at: later(1),
            ..attachment(&issue, Asset { provider: Provider::S3, ..asset(&world.company, 1) })
        };
        let plain = attachment(&issue, asset(&world.company, 2));
        let by_board = Attachment {
            author: Author::Board(BoardMember::Local),
            ..attachment(&issue, asset(&world.company, 3))
        };
        world.write(|tx| {
            tx.comments_mut().insert(&comment)?;
            for attachment in [&full, &plain, &by_board] {
                tx.attachments_mut().keep_asset(&attachment.asset)?;
                tx.attachments_mut().insert(attachment)?;
            }
            Ok(())
        });
        for attachment in [&full, &plain, &by_board] {
            let found =
                world.read(|reads| reads.attachments().find(world.scope().into(), attachment.id));
            assert_eq!(found.as_ref(), Some(attachment));
            let held = world.write(|tx| tx.attachments_mut().lock(Scope::SYSTEM, attachment.id));
            assert_eq!(held.map(Locked::into_inner).as_ref(), Some(attachment));
        }
        let elsewhere = World::new(store);
        let scope = elsewhere.company.scope().into();
        let found = world.read(|reads| reads.attachments().find(scope, full.id));
        assert_eq!(found, None);
        let held = world.write(|tx| tx.attachments_mut().lock(scope, full.id));
        assert!(held.is_none());
    }

    fn a_list_goes_from_new_to_old_within_its_issue(store: &TestStore) {
        let world = World::new(store);
        let (issue, other) = (world.open(), world.open());
        attached(&world, &other, 1);
        let mut made: Vec<Attachment> = Vec::new();
        for n in 0..5 {
            let made_now = Attachment {
                created_at: later(n / 2),
                ..attachment(&issue, asset(&world.company, n + 10))
            };
            world.write(|tx| {
                tx.attachments_mut().keep_asset(&made_now.asset)?;
                tx.attachments_mut().insert(&made_now)
            });
            made.insert(0, made_now);
        }
        for limit in [1, 2, 5, 6] {
            let all = walk(limit, |page: &PageRequest<_>| {
                world.read(|reads| reads.attachments().list(world.scope(), issue.id, page))
            });
            assert_eq!(all, made, "{limit} at a time");
        }
        let elsewhere = World::new(store);
        let page = world.read(|reads| {
            reads.attachments().list(elsewhere.scope(), issue.id, &PageRequest::first())
        });
        assert!(page.items.is_empty());
    }

    fn equal_bytes_are_one_asset_within_a_company(store: &TestStore) {
        let (world, elsewhere) = (World::new(store), World::new(store));
        let issue = world.open();
        let (first, second) = (attached(&world, &issue, 7), attached(&world, &issue, 7));
        assert_eq!(first.asset, second.asset);
        let foreign = attached(&elsewhere, &elsewhere.open(), 7);
        assert_ne!(foreign.asset.id, first.asset.id);

        let known = |asset: &Asset| {
            world.read(|reads| {
                reads.attachments().assets_among(InstanceScope::SYSTEM, &[asset.object()])
            })
        };
        assert_eq!(delete(&world, &first), None);
        assert_eq!(known(&first.asset), [first.asset.object()]);
        assert_eq!(delete(&world, &second), Some(first.asset.object()));
        assert_eq!(known(&first.asset), []);
        assert_eq!(known(&foreign.asset), [foreign.asset.object()]);
        // The id alone, or under another company, is nothing that is kept.
        let mixed = ObjectName { company: world.company.id, ..foreign.asset.object() };
        let known = world.read(|reads| {
            reads.attachments().assets_among(InstanceScope::SYSTEM, &[mixed])
        });
        assert_eq!(known, []);
    }

    fn assets_of_deleted_issues_are_forgotten(store: &TestStore) {
        let world = World::new(store);
        let (kept, deleted) = (world.open(), world.open());
        let shown = attached(&world, &kept, 1);
        attached(&world, &deleted, 1);
        let mut unshown: Vec<_> =
            (2..5).map(|n| attached(&world, &deleted, n).asset.object()).collect();
        let forget = |limit| world.write(|tx| {
            tx.attachments_mut().delete_unattached(InstanceScope::SYSTEM, limit)
        });
        assert_eq!(forget(10), []);
        world.write(|tx| {
            let held = tx.issues_mut().lock(Scope::SYSTEM, &deleted.id.into())?;
            tx.issues_mut().delete(held.expect("it exists"), later(1))
        });
        let mut forgotten = forget(2);
        assert_eq!(forgotten.len(), 2);
        forgotten.extend(forget(2));
        forgotten.sort();
        unshown.sort();
        assert_eq!(forgotten, unshown);
        assert_eq!(forget(10), []);
        let known = world.read(|reads| {
            reads.attachments().assets_among(InstanceScope::SYSTEM, &[shown.asset.object()])
        });
        assert_eq!(known.len(), 1);
    }

    fn an_asset_that_is_shown_cannot_be_of_another_company(store: &TestStore) {
        let (world, elsewhere) = (World::new(store), World::new(store));
        let foreign = attached(&elsewhere, &elsewhere.open(), 1);
        let issue = world.open();
        let crossed = Attachment {
            asset: Asset { company: world.company.id, ..foreign.asset },
            ..attachment(&issue, asset(&world.company, 9))
        };
        let outcome = try_write(&**store, |tx| tx.attachments_mut().insert(&crossed));
        assert!(matches!(outcome, Err(StoreError::Contended)), "{outcome:?}");
    }
}
