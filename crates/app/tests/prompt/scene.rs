//! A company at work, and the prompts of its agents.

use std::collections::BTreeMap;
use std::convert::Infallible;

use workforce_app::Failure;
use workforce_app::agents::CreateAgent;
use workforce_app::issues::{self, AddComment, UpdateIssue};
use workforce_app::prompt::{self, Prompt, PromptFacts, PromptInput, WorkingPlace};
use workforce_domain::actor::Scope;
use workforce_domain::agent::Agent;
use workforce_domain::change::Replace;
use workforce_domain::company::Company;
use workforce_domain::issue::{Comment, Issue, IssueStatus};
use workforce_domain::port::ClaimedRun;
use workforce_domain::text::{CommentBody, Role};
use workforce_testkit::world::{Acting, World, done, label, new_agent, no_change};

/// A company with a manager and an engineer below her.
pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) company: Company,
    pub(crate) mara: Agent,
    pub(crate) ada: Agent,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::in_world(World::sqlite())
    }

    pub(crate) fn in_world(world: World) -> Self {
        let company = world.company("Acme");
        let role = |role: &str| Some(Role::parse(role).unwrap());
        let mara = world.hired_with(
            company.id,
            &CreateAgent {
                role: role("manager"),
                ..new_agent("Mara")
            },
        );
        let ada = world.hired_with(
            company.id,
            &CreateAgent {
                role: role("engineer"),
                title: Some(label("Printer expert")),
                reports_to: Some(mara.id),
                ..new_agent("Ada")
            },
        );
        Self {
            world,
            company,
            mara,
            ada,
        }
    }

    /// The next run that may start, which must be Ada's.
    #[track_caller]
    pub(crate) fn claim(&self) -> ClaimedRun {
        let started = self.world.start_next().unwrap();
        assert_eq!(started.run.agent, self.ada.id);
        let company = self.company.id;
        let company: Result<_, Failure<Infallible>> = self
            .world
            .store()
            .read(|reads| Ok(reads.companies().find(Scope::SYSTEM, company)?));
        ClaimedRun {
            run: started.run,
            wake: started.wake,
            agent: self.world.stored_agent(self.ada.id),
            company: done(company).unwrap(),
        }
    }

    /// Answers what waits, and ends the runs well.
    #[track_caller]
    pub(crate) fn settle(&self) {
        loop {
            let started = self.world.start_all();
            if started.is_empty() {
                return;
            }
            // What is left undone is followed up.
            for started in started {
                self.world.finish(&started.run);
            }
        }
    }

    #[track_caller]
    pub(crate) fn facts(&self, claimed: &ClaimedRun) -> PromptFacts {
        let now = self.world.now();
        let facts: Result<_, Failure<Infallible>> = self
            .world
            .store()
            .read(|reads| Ok(prompt::facts(reads, claimed, now)?));
        done(facts)
    }

    /// The prompt of the next run, without anything of its own.
    #[track_caller]
    pub(crate) fn next_prompt(&self) -> Prompt {
        let claimed = self.claim();
        let facts = self.facts(&claimed);
        prompt::compose(&input(&claimed, &facts))
    }

    #[track_caller]
    pub(crate) fn move_to(&self, issue: &Issue, status: IssueStatus) {
        let change = UpdateIssue {
            status: Replace::Set(status),
            ..no_change()
        };
        let board = self.world.board();
        done(board.write(|tx, ctx| issues::update(tx, ctx, &issue.id.into(), change.clone())));
    }
}

/// Comments on an issue.
#[track_caller]
pub(crate) fn says(who: Acting<'_>, issue: &Issue, body: &str) -> Comment {
    let command = AddComment {
        body: CommentBody::parse(body).unwrap(),
        reopen: None,
        interrupt: None,
    };
    done(who.write(|tx, ctx| issues::add_comment(tx, ctx, &issue.id.into(), command.clone())))
        .comment
}

/// A run with nothing but what the store tells.
pub(crate) const fn input<'a>(claimed: &'a ClaimedRun, facts: &'a PromptFacts) -> PromptInput<'a> {
    PromptInput {
        claimed,
        facts,
        instructions: None,
        skill: None,
        project_layer: None,
        place: Some(WorkingPlace {
            cwd: "/srv/work",
            branch: None,
            base_branch: None,
            findings: &[],
        }),
        template: None,
        hand_over: None,
        resumed: false,
    }
}

/// A text with its ids numbered in the order in which they come.
pub(crate) fn numbered(text: &str) -> String {
    const LENGTH: usize = 36;
    let mut known = BTreeMap::new();
    let mut numbered = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        match rest.get(..LENGTH).filter(|id| is_id(id)) {
            Some(id) => {
                let next = known.len() + 1;
                let number = *known.entry(id).or_insert(next);
                numbered.push_str(&format!("ID-{number}"));
                rest = &rest[LENGTH..];
            }
            None => {
                numbered.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    numbered
}

fn is_id(text: &str) -> bool {
    text.bytes().enumerate().all(|(place, byte)| match place {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    })
}
