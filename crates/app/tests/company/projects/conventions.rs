//! The conventions of a project (docs/workspaces.md#conventions).

use serde_json::json;
use workforce_app::access::Denied;
use workforce_app::agents::CreateAgent;
use workforce_app::conventions::{
    self, ConventionsError, ConventionsView, ReplaceConventions, UpdateConventions,
};
use workforce_app::{Failure, Refusal};
use workforce_domain::activity::Action;
use workforce_domain::change::Change;
use workforce_domain::conventions::CompactSource;
use workforce_domain::id::ProjectId;
use workforce_domain::text::CompactContext;
use workforce_testkit::world::{Acting, World, description, done, new_agent, new_project, refused};

use crate::support::{count, role};

fn get(who: Acting<'_>, id: ProjectId) -> ConventionsView {
    done(who.read(|reads, ctx| conventions::get(reads, ctx, id)))
}

fn update(
    who: Acting<'_>,
    id: ProjectId,
    command: &UpdateConventions,
) -> Result<ConventionsView, Failure<ConventionsError>> {
    who.write(|tx, ctx| conventions::update(tx, ctx, id, command.clone()))
}

fn compact(who: Acting<'_>, id: ProjectId) -> Result<ConventionsView, Failure<ConventionsError>> {
    who.write(|tx, ctx| conventions::compact(tx, ctx, id, 400))
}

fn rules(text: &str) -> UpdateConventions {
    UpdateConventions {
        conventions_md: Change::Set(description(text)),
        ..UpdateConventions::default()
    }
}

fn source(view: &ConventionsView) -> Option<CompactSource> {
    view.conventions
        .compact
        .as_ref()
        .map(|compact| compact.origin.source())
}

fn text(view: &ConventionsView) -> Option<&str> {
    view.conventions
        .compact
        .as_ref()
        .map(|compact| compact.text.as_str())
}

#[test]
fn a_short_form_is_stale_once_its_text_changes_and_goes_when_it_is_replaced() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let id = world.project_with(company, &new_project("Site")).project.id;
    let board = world.board();
    assert_eq!(get(board, id).conventions.updated_at, None);
    done(update(board, id, &rules("- Never push.")));
    let made = done(compact(board, id));
    assert_eq!(
        (text(&made), source(&made)),
        (Some("- Never push."), Some(CompactSource::Generated))
    );
    assert!(!made.compact_stale);
    let changed = done(update(board, id, &rules("- Never pull.")));
    assert_eq!(
        (text(&changed), changed.compact_stale),
        (Some("- Never push."), true)
    );
    assert!(get(board, id).compact_stale);
    let back = done(update(board, id, &rules("- Never push.")));
    assert!(!back.compact_stale);

    let by_hand = UpdateConventions {
        compact_context: Change::Set(CompactContext::parse("be kind").unwrap()),
        ..UpdateConventions::default()
    };
    let by_hand = done(update(board, id, &by_hand));
    assert_eq!(
        (text(&by_hand), source(&by_hand)),
        (Some("be kind"), Some(CompactSource::Manual))
    );
    assert_eq!(&*by_hand.conventions.conventions_md, "- Never push.");
    let cleared = UpdateConventions {
        compact_context: Change::Clear,
        conventions_md: Change::Clear,
        ..UpdateConventions::default()
    };
    let cleared = done(update(board, id, &cleared));
    assert_eq!(
        (text(&cleared), &*cleared.conventions.conventions_md),
        (None, "")
    );

    done(compact(board, id));
    let command = ReplaceConventions {
        backstory: Some(description("Once.")),
        ..ReplaceConventions::default()
    };
    let replaced = done(board.write(|tx, ctx| conventions::replace(tx, ctx, id, command.clone())));
    assert_eq!(
        (text(&replaced), &*replaced.conventions.backstory),
        (None, "Once.")
    );
    assert_eq!(get(board, id), replaced);
    assert_eq!(count(&world, company, Action::ConventionsCompacted), 2);
}

#[test]
fn nothing_is_told_of_what_changes_nothing() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let id = world.project_with(company, &new_project("Site")).project.id;
    let first = done(update(world.board(), id, &rules("x")));
    world.advance(std::time::Duration::from_secs(5));
    assert_eq!(done(update(world.board(), id, &rules("x"))), first);
    assert_eq!(count(&world, company, Action::ConventionsUpdated), 1);
}

#[test]
fn the_board_the_lead_and_a_ceo_write_and_everyone_reads() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let lead = world.hired(company, "Lead");
    let worker = world.hired(company, "Worker");
    let ceo = CreateAgent {
        role: Some(role("ceo")),
        ..new_agent("Chief")
    };
    let ceo = world.hired_with(company, &ceo);
    let mut command = new_project("Site");
    command.lead_agent_id = Some(lead.id);
    let id = world.project_with(company, &command).project.id;
    for who in [world.board(), world.agent(lead.id), world.agent(ceo.id)] {
        done(update(who, id, &rules("- x")));
        done(compact(who, id));
    }
    let who = world.agent(worker.id);
    assert_eq!(text(&get(who, id)), Some("- x"));
    let replace = |tx: &mut dyn workforce_domain::port::Tx, ctx: &workforce_app::Context<'_>| {
        conventions::replace(tx, ctx, id, ReplaceConventions::default())
    };
    for refusal in [
        refused(update(who, id, &rules("- y"))),
        refused(compact(who, id)),
        refused(who.write(replace)),
    ] {
        assert!(
            matches!(refusal, ConventionsError::Denied(Denied::Forbidden(_))),
            "{refusal:?}"
        );
    }
    let foreign = world.hired(world.company("Other").id, "Spy");
    let spy = world.agent(foreign.id);
    for refusal in [
        refused(spy.read(|reads, ctx| conventions::get(reads, ctx, id))),
        refused(update(spy, id, &rules("- y"))),
        refused(compact(spy, id)),
        refused(spy.write(replace)),
    ] {
        assert_eq!(
            refusal,
            ConventionsError::Denied(Denied::NotFound("project"))
        );
    }
}

#[test]
fn further_sources_are_bounded() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let id = world.project_with(company, &new_project("Site")).project.id;
    let set = |references| UpdateConventions {
        extra_references: Change::Set(references),
        ..UpdateConventions::default()
    };
    done(update(
        world.board(),
        id,
        &set(json!("x".repeat(60 * 1024))),
    ));
    for references in [
        json!("x".repeat(64 * 1024)),
        json!(vec![json!(1); 40_000]),
        json!({ "all": vec!["text"; 10_000] }),
    ] {
        let refusal = refused(update(world.board(), id, &set(references)));
        assert_eq!(refusal.details().unwrap()[0]["pointer"], "/extraReferences");
    }
}
