//! The imitation as a test sees it.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use tokio::runtime::{self, Runtime};
use tokio::sync::oneshot;

use crate::delivery::{Delivery, Happening};
use crate::failure::Failure;
use crate::kind::ImitatedForge;
use crate::log::LoggedRequest;
use crate::server::serve;
use crate::stage::Stage;
use crate::world::{Check, Draft, Outcome, PullRequest, PullRequestState, Repository};

/// The token that an imitation accepts from the start.
pub const TOKEN: &str = "forge-imitation-token-4711";

/// A stand-in for a forge, on a port of 127.0.0.1.
///
/// It runs in a thread of its own and ends when this value is dropped, with every connection. If
/// it was asked for something that is not described, or answered such a thing, that is a panic
/// then.
#[derive(Debug)]
pub struct ForgeImitation {
    stage: Arc<Stage>,
    host: String,
    /// The thread ends when this is gone.
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ForgeImitation {
    /// Starts it on a free port, without a repository.
    ///
    /// # Errors
    ///
    /// When it cannot listen or the system gives it no thread.
    pub fn start(kind: ImitatedForge) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let host = listener.local_addr()?.to_string();
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let stage = Arc::new(Stage::new(kind, format!("http://{host}")));
        stage.state().tokens.push(TOKEN.to_owned());
        let (stop, stopped) = oneshot::channel();
        let own = Arc::clone(&stage);
        let thread = thread::Builder::new()
            .name("forge-imitation".to_owned())
            .spawn(move || run(&runtime, listener, own, stopped))?;
        Ok(Self {
            stage,
            host,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Which forge it imitates.
    #[must_use]
    pub fn kind(&self) -> ImitatedForge {
        self.stage.kind()
    }

    /// The host of its pages, as `127.0.0.1:PORT`.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Where its interface answers.
    #[must_use]
    pub fn api_url(&self) -> String {
        format!("{}{}", self.stage.web(), self.kind().root())
    }

    /// The address of a repository. Git is not served there.
    #[must_use]
    pub fn repository_url(&self, full_name: &str) -> String {
        format!("{}/{full_name}.git", self.stage.web())
    }

    /// Accepts another token too.
    pub fn accept_token(&self, token: &str) {
        self.stage.state().tokens.push(token.to_owned());
    }

    /// Accepts no token any more.
    pub fn refuse_tokens(&self) {
        self.stage.state().tokens.clear();
    }

    /// Adds a repository without branches.
    pub fn add_repository(&self, full_name: &str) {
        self.stage.state().world.add(full_name, None);
    }

    /// Adds a repository whose branches are those of a repository of git: of a bare one, or of the
    /// folder `.git` of another.
    pub fn add_repository_of(&self, full_name: &str, git_folder: &Path) {
        let folder = Some(git_folder.to_owned());
        self.stage.state().world.add(full_name, folder);
    }

    /// Sets a branch to a commit, as a push does.
    ///
    /// # Panics
    ///
    /// When there is no such repository, as with everything that names one.
    pub fn set_branch(&self, full_name: &str, branch: &str, sha: &str) {
        self.with(full_name, |it| it.set_branch(branch, sha));
    }

    /// Removes a branch, as many do after a merge.
    pub fn remove_branch(&self, full_name: &str, branch: &str) {
        self.with(full_name, |it| {
            it.refresh();
            it.remove_branch(branch);
        });
    }

    /// Gives a repository another name. Who asks by the former one is led to it.
    pub fn rename(&self, full_name: &str, new_name: &str) {
        self.with(full_name, |it| {
            let former = std::mem::replace(&mut it.full_name, new_name.to_owned());
            it.former_names.push(former);
        });
    }

    /// Opens a pull request from a fork, and tells its number.
    pub fn open_from_fork(&self, full_name: &str, fork: &str, head: &str, base: &str) -> u64 {
        let draft = Draft {
            head: head.to_owned(),
            base: base.to_owned(),
            title: format!("From {fork}"),
            body: String::new(),
            is_draft: false,
        };
        let sha = "f".repeat(40);
        self.with(full_name, |it| it.push_from_fork(draft, fork, &sha))
    }

    /// The pull requests of a repository, in the order of their numbers.
    #[must_use]
    pub fn pull_requests(&self, full_name: &str) -> Vec<PullRequest> {
        self.with(full_name, |it| {
            it.refresh();
            it.pulls.clone()
        })
    }

    /// Merges, closes or reopens a pull request.
    ///
    /// # Panics
    ///
    /// When there is no such pull request.
    pub fn set_state(&self, full_name: &str, number: u64, state: PullRequestState) {
        self.with(full_name, |it| {
            it.refresh();
            match it.pull(number) {
                Some(pull) => pull.state = state,
                None => panic!("{full_name} has no pull request {number}"),
            }
        });
    }

    /// Adds a check of a commit, or changes the one of this name.
    pub fn set_check(&self, full_name: &str, sha: &str, name: &str, outcome: Outcome) {
        self.put_check(full_name, sha, name, outcome, false);
    }

    /// As [`set_check`](Self::set_check), for what is a commit status on GitHub and not a check
    /// run. The other forges make no difference.
    pub fn set_status(&self, full_name: &str, sha: &str, name: &str, outcome: Outcome) {
        self.put_check(full_name, sha, name, outcome, true);
    }

    fn put_check(&self, full_name: &str, sha: &str, name: &str, outcome: Outcome, is_status: bool) {
        let check = Check {
            sha: sha.to_owned(),
            name: name.to_owned(),
            is_status,
            outcome,
        };
        self.with(full_name, |it| it.set_check(check));
    }

    /// Hides the checks of a repository from every token.
    pub fn hide_checks(&self, full_name: &str) {
        self.with(full_name, |it| it.hides_checks = true);
    }

    /// Gives no more than so many things on a page of a list.
    pub fn limit_pages(&self, things: usize) {
        self.stage.state().world.page_limit = Some(things);
    }

    /// Takes a second pull request of the same branches from now on, as a forge may do that is
    /// asked twice at once.
    pub fn take_duplicates(&self) {
        self.stage.state().world.takes_duplicates = true;
    }

    /// Fails as told, after the failures that were told before.
    pub fn fail(&self, failure: Failure) {
        self.stage.state().failures.push(failure);
    }

    /// Every request so far, in the order in which they came.
    #[must_use]
    pub fn requests(&self) -> Vec<LoggedRequest> {
        self.stage.state().log.clone()
    }

    /// Forgets the requests so far.
    pub fn forget_requests(&self) {
        self.stage.state().log.clear();
    }

    /// What was not as the interface is described, since it was last asked.
    #[must_use]
    pub fn take_complaints(&self) -> Vec<String> {
        std::mem::take(&mut self.stage.state().complaints)
    }

    /// What the forge would send to a webhook about a pull request as it is now.
    ///
    /// # Panics
    ///
    /// When there is no such pull request.
    #[must_use]
    pub fn delivery(&self, full_name: &str, number: u64, happening: Happening) -> Delivery {
        let (kind, web) = (self.kind(), self.stage.web());
        self.with(full_name, |it| {
            it.refresh();
            match it.pull(number).cloned() {
                Some(pull) => Delivery::about(kind, &pull, &it.full_name, web, happening),
                None => panic!("{full_name} has no pull request {number}"),
            }
        })
    }

    fn with<T>(&self, full_name: &str, change: impl FnOnce(&mut Repository) -> T) -> T {
        match self.stage.state().world.find(full_name) {
            Some(repository) => change(repository),
            None => panic!("there is no repository {full_name}"),
        }
    }
}

fn run(
    runtime: &Runtime,
    listener: TcpListener,
    stage: Arc<Stage>,
    stopped: oneshot::Receiver<()>,
) {
    runtime.block_on(async {
        match tokio::net::TcpListener::from_std(listener) {
            Ok(listener) => serve(listener, stage, stopped).await,
            Err(error) => eprintln!("the forge imitation cannot listen: {error}"),
        }
    });
}

impl Drop for ForgeImitation {
    fn drop(&mut self) {
        drop(self.stop.take());
        let ended = self.thread.take().map(JoinHandle::join);
        let complaints = self.take_complaints();
        // A test that fails already tells why.
        if !thread::panicking() {
            assert!(complaints.is_empty(), "not as described: {complaints:#?}");
            assert!(!matches!(ended, Some(Err(_))), "the imitation panicked");
        }
    }
}
