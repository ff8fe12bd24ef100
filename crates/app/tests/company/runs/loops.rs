//! Agents that wake each other without end are slowed down
//! (docs/heartbeats.md#loops).

use std::time::Duration;

use workforce_app::issues::{self, AddComment};
use workforce_app::runs;
use workforce_domain::Document;
use workforce_domain::activity::Action;
use workforce_domain::agent::Agent;
use workforce_domain::issue::Issue;
use workforce_domain::text::CommentBody;
use workforce_domain::wake::Wake;
use workforce_testkit::world::{Acting, World, done};

use crate::support::{count, happened};

const MINUTE: Duration = Duration::from_secs(60);

#[track_caller]
fn say(who: Acting<'_>, issue: &Issue, text: &str) {
    let body = CommentBody::parse(text).unwrap();
    let command = AddComment {
        body,
        reopen: Some(false),
        interrupt: Some(false),
    };
    done(who.write(|tx, ctx| issues::add_comment(tx, ctx, &issue.id.into(), command.clone())));
}

/// Two agents that answer each other's mention on an issue of nobody's.
struct Chat {
    world: World,
    issue: Issue,
    ada: Agent,
    bob: Agent,
}

impl Chat {
    /// Begun by Ada, outside of any run.
    fn begun() -> Self {
        let world = World::sqlite();
        let company = world.company("Acme").id;
        let (ada, bob) = (world.hired(company, "Ada"), world.hired(company, "Bob"));
        let issue = world.todo(company, "Talk");
        say(world.agent(ada.id), &issue, "@Bob, what do you think?");
        Self {
            world,
            issue,
            ada,
            bob,
        }
    }

    /// Whoever was called answers; false when nobody may start. Takes no time.
    fn answer(&self) -> Option<&Agent> {
        let started = self.world.start_next()?;
        let (speaker, text) = if started.run.agent == self.ada.id {
            (&self.ada, "@Bob, and you?")
        } else {
            (&self.bob, "@Ada, and you?")
        };
        say(self.world.run_of(started.run.id), &self.issue, text);
        assert!(self.world.finish(&started.run));
        Some(speaker)
    }

    /// Talks until nobody may start; tells how often Ada and Bob were run.
    fn exhaust(&self, pace: Duration) -> (usize, usize) {
        let (mut ada, mut bob) = (0, 0);
        while let Some(speaker) = self.answer() {
            if speaker.id == self.ada.id {
                ada += 1;
            } else {
                bob += 1;
            }
            assert!(ada + bob < 100, "they talk without end");
            self.world.advance(pace);
        }
        (ada, bob)
    }

    /// The one wake that is kept.
    #[track_caller]
    fn kept(&self) -> Wake {
        let mut wakes = self.world.pending_wakes(&self.ada);
        wakes.extend(self.world.pending_wakes(&self.bob));
        assert_eq!(wakes.len(), 1);
        wakes.remove(0)
    }
}

#[test]
fn two_agents_that_call_each_other_are_slowed_down() {
    let chat = Chat::begun();
    let (ada, bob) = chat.exhaust(Duration::from_secs(1));
    assert_eq!((ada, bob), (7, 7));
    let wake = chat.kept();
    assert_eq!(wake.agent, chat.bob.id);
    assert!(wake.not_before > chat.world.now());
    let rows = happened(&chat.world, chat.ada.company);
    let told: Vec<_> = rows
        .iter()
        .filter(|row| row.action == Action::WakeLoopSuspected)
        .collect();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].entity_id, chat.bob.id.to_string());
    assert_eq!(told[0].details["issueId"], serde_json::json!(chat.issue.id));
}

#[test]
fn nothing_is_lost_and_each_further_wake_is_kept_longer() {
    let chat = Chat::begun();
    chat.exhaust(Duration::from_secs(1));
    let mut delays = Vec::new();
    for _ in 0..4 {
        let wake = chat.kept();
        delays.push(wake.not_before.since(wake.created_at));
        chat.world.clock().set(wake.not_before);
        assert_eq!(chat.answer().unwrap().id, wake.agent);
    }
    assert_eq!(delays, [MINUTE, MINUTE, MINUTE * 2, MINUTE * 2]);
}

#[test]
fn a_word_of_an_agent_does_not_release_a_kept_wake() {
    let chat = Chat::begun();
    chat.exhaust(Duration::from_secs(1));
    say(chat.world.agent(chat.ada.id), &chat.issue, "@Bob, please!");
    let wake = chat.kept();
    assert_eq!(wake.count, 2);
    assert!(wake.not_before > chat.world.now());
    assert!(chat.world.start_next().is_none());
}

#[test]
fn a_word_of_the_board_releases_it() {
    let chat = Chat::begun();
    chat.exhaust(Duration::from_secs(1));
    say(chat.world.board(), &chat.issue, "@Bob, go on");
    let wake = chat.kept();
    assert!(wake.not_before <= chat.world.now());
    let started = chat.world.start_next().unwrap();
    assert_eq!(started.run.agent, chat.bob.id);
    assert_eq!(started.wake.comments.len(), 2);
}

#[test]
fn what_a_person_said_begins_the_count_anew() {
    let chat = Chat::begun();
    chat.exhaust(Duration::from_secs(1));
    chat.world.advance(Duration::from_secs(1));
    say(chat.world.board(), &chat.issue, "@Bob, go on");
    chat.world.advance(Duration::from_secs(1));
    let (ada, bob) = chat.exhaust(Duration::from_secs(1));
    assert!(ada >= 6 && bob >= 6, "{ada} and {bob} runs");
    assert!(ada <= 8 && bob <= 8, "{ada} and {bob} runs");
}

#[test]
fn a_talk_at_leisure_is_no_loop() {
    let chat = Chat::begun();
    for _ in 0..40 {
        assert!(chat.answer().is_some());
        chat.world.advance(MINUTE * 5);
    }
    assert_eq!(
        count(&chat.world, chat.ada.company, Action::WakeLoopSuspected),
        0
    );
}

#[test]
fn an_agent_that_asks_for_itself_in_every_run_is_slowed_down_too() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let ada = world.hired(company, "Ada");
    let invoke = |who: Acting<'_>| {
        done(who.write(|tx, ctx| runs::invoke(tx, ctx, ada.id, Document::new())));
    };
    invoke(world.board());
    let mut count = 0;
    while let Some(started) = world.start_next() {
        count += 1;
        assert!(count < 100, "it runs without end");
        invoke(world.run_of(started.run.id));
        assert!(world.finish(&started.run));
        world.advance(Duration::from_secs(1));
    }
    assert_eq!(count, 7);
    assert!(world.pending_wakes(&ada)[0].not_before > world.now());
    // A person need not wait.
    invoke(world.board());
    assert!(world.start_next().is_some());
}
