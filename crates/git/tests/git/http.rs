//! A remote that is spoken to over HTTP, on loopback.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use workforce_git::{Branch, Credential, Git, GitError, PushOutcome, Rejection, Remote, Settings};

use crate::lfs;
use crate::support::{World, branch, committed, git, message, write};

const TOKEN: &str = "t0p-s3cret";
/// `x-access-token:t0p-s3cret`.
const ENCODED: &str = "eC1hY2Nlc3MtdG9rZW46dDBwLXMzY3JldA==";

/// Serves a folder by `git http-backend` to whoever has the token, and leads paths
/// below `/moved` elsewhere. Gives its address.
fn serve(root: PathBuf) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            answer(stream.unwrap(), &root);
        }
    });
    format!("http://{address}")
}

fn answer(mut stream: TcpStream, root: &Path) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, target) = (words.next()?, words.next()?);
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line
            .trim_end()
            .split_once(": ")
            .map(|(n, v)| (n.to_lowercase(), v.to_owned()))
        else {
            break;
        };
        headers.push((name, value));
    }
    let header = |wanted: &str| {
        let found = headers.iter().find(|(name, _)| name == wanted);
        found.map_or("", |(_, value)| value.as_str())
    };
    let mut body = vec![0; header("content-length").parse().unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    let reply = |status: &str, rest: &str| {
        format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: 0\r\n{rest}\r\n")
    };
    if let Some(rest) = target.strip_prefix("/moved") {
        let text = reply("301 Moved", &format!("Location: {rest}\r\n"));
        return stream.write_all(text.as_bytes()).ok();
    }
    if header("authorization") != format!("Basic {ENCODED}") {
        let text = reply("401 Unauthorized", "WWW-Authenticate: Basic realm=x\r\n");
        return stream.write_all(text.as_bytes()).ok();
    }
    if let Some(text) = answer_of_lfs(&method, &target, header("host"), &body, root) {
        return stream.write_all(text.as_bytes()).ok();
    }
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let mut backend = Command::new("git")
        .args(["-c", "http.receivepack=true", "http-backend"])
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("GIT_PROTOCOL", header("git-protocol"))
        .env("REQUEST_METHOD", method)
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("CONTENT_TYPE", header("content-type"))
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
        .env("CONTENT_LENGTH", body.len().to_string())
        .env("REMOTE_USER", "agent")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let mut input = backend.stdin.take()?;
    let feed = thread::spawn(move || input.write_all(&body));
    let output = backend.wait_with_output().ok()?;
    let _ = feed.join();
    let text = String::from_utf8_lossy(&output.stdout);
    let status = text
        .strip_prefix("Status: ")
        .and_then(|rest| rest.lines().next());
    let status = status.unwrap_or("200 OK");
    let head = format!("HTTP/1.1 {status}\r\nConnection: close\r\n");
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(&output.stdout).ok()
}

/// What a server of Git LFS answers, which keeps objects in the folder `uploaded`; nothing is
/// said to what others answer. A file `full` leaves it no room, and `confused` has it ask for other
/// sizes.
fn answer_of_lfs(
    method: &str,
    target: &str,
    host: &str,
    body: &[u8],
    root: &Path,
) -> Option<String> {
    let reply = |status: &str, body: &str| {
        let kind = "Content-Type: application/vnd.git-lfs+json";
        let size = body.len();
        format!(
            "HTTP/1.1 {status}\r\nConnection: close\r\n{kind}\r\nContent-Length: {size}\r\n\r\n{body}"
        )
    };
    if target.ends_with("/remote.git/info/lfs/objects/batch") {
        if root.join("full").exists() {
            return Some(reply("507 Full", r#"{"message":"no room is left"}"#));
        }
        let mut text = String::from_utf8_lossy(body).into_owned();
        if root.join("confused").exists() {
            text = text.replace(r#""size":3"#, r#""size":0"#);
        }
        let objects = text.split(r#"{"oid":""#).skip(1).filter_map(|rest| {
            let (object, _) = rest.split_once('}')?;
            let href = format!("http://{host}/uploaded/{}", &object[..64]);
            Some(format!(
                r#"{{"oid":"{object},"actions":{{"upload":{{"href":"{href}"}}}}}}"#
            ))
        });
        let objects = objects.collect::<Vec<_>>().join(",");
        let answer = format!(r#"{{"transfer":"basic","objects":[{objects}]}}"#);
        return Some(reply("200 OK", &answer));
    }
    if method == "PUT" && target.starts_with("/uploaded/") {
        let file = root.join(&target[1..]);
        std::fs::create_dir_all(file.parent()?).ok()?;
        std::fs::write(file, body).ok()?;
        return Some(reply("200 OK", ""));
    }
    None
}

#[tokio::test]
async fn objects_of_git_lfs_are_uploaded_with_the_token_or_nothing_is_pushed() {
    if !workforce_skipped_tests::has("git-lfs") {
        return;
    }
    let world = lfs::with_lfs().await;
    let address = serve(world.path(""));
    let plain = Remote::new(&format!("{address}/remote.git")).unwrap();
    let remote = plain.clone().with_credential(Credential::token(TOKEN));
    let worktree = world.worktree().await;
    for name in ["one", "two"] {
        write(worktree.path(), &format!("{name}.bin"), name);
    }
    let head = committed(worktree.commit(&message("Work")).await.unwrap());

    std::fs::write(world.path("full"), "").unwrap();
    let refused = worktree.push(&remote, &head).await.unwrap_err();
    assert!(refused.to_string().contains("no room is left"), "{refused}");
    let pushed = world.git.remote_head(&remote, &branch()).await.unwrap();
    assert_eq!(pushed, None);
    std::fs::remove_file(world.path("full")).unwrap();
    std::fs::write(world.path("confused"), "").unwrap();
    let refused = worktree.push(&remote, &head).await.unwrap_err();
    assert!(refused.to_string().contains("corrupt"), "{refused}");
    std::fs::remove_file(world.path("confused")).unwrap();
    let other = plain.with_credential(Credential::token("an0ther"));
    let refused = worktree.push(&other, &head).await.unwrap_err();
    assert!(
        matches!(refused, GitError::Unauthorized { .. }),
        "{refused}"
    );

    let pushed = worktree.push(&remote, &head).await.unwrap();
    assert_eq!(pushed, PushOutcome::Pushed);
    for content in ["one", "two"] {
        let object = lfs::object(content);
        let (_, oid) = object.rsplit_once('/').unwrap();
        let uploaded = std::fs::read_to_string(world.path("uploaded").join(oid));
        assert_eq!(uploaded.unwrap(), content);
    }
}

#[tokio::test]
async fn a_token_is_sent_and_never_shown() {
    let world = World::new().await;
    let address = serve(world.path(""));
    let worktree = world.worktree().await;
    write(worktree.path(), "x", "x");
    let head = committed(worktree.commit(&message("Work")).await.unwrap());
    let plain = Remote::new(&format!("{address}/remote.git")).unwrap();
    let remote = plain.clone().with_credential(Credential::token(TOKEN));
    let main = Branch::new("main").unwrap();

    assert_eq!(
        world.git.default_branch(&remote).await.unwrap(),
        Some(main.clone())
    );
    assert_eq!(
        world.git.remote_head(&remote, &main).await.unwrap(),
        Some(world.main())
    );
    assert_eq!(
        worktree.push(&remote, &head).await.unwrap(),
        PushOutcome::Pushed
    );
    assert_eq!(
        worktree.push(&remote, &head).await.unwrap(),
        PushOutcome::UpToDate
    );
    let repository = world.open().await;
    let fetched = repository.fetch(&remote, &branch()).await.unwrap();
    assert_eq!(fetched, Some(head.clone()));

    let other = plain.clone().with_credential(Credential::token("an0ther"));
    for remote in [&plain, &other] {
        let refused = worktree.push(remote, &head).await.unwrap_err();
        assert!(
            matches!(refused, GitError::Unauthorized { .. }),
            "{refused}"
        );
        let text = format!("{refused} {refused:?}");
        assert!(!text.contains("an0ther"), "{text}");
        let refused = repository.fetch(remote, &main).await.unwrap_err();
        assert!(
            matches!(refused, GitError::Unauthorized { .. }),
            "{refused}"
        );
    }
    // A helper in the settings of the agent is not asked.
    let helper = format!("!f() {{ echo username=x-access-token; echo password={TOKEN}; }}; f");
    git(&world.source(), &["config", "credential.helper", &helper]);
    let refused = worktree.push(&plain, &head).await.unwrap_err();
    assert!(
        matches!(refused, GitError::Unauthorized { .. }),
        "{refused}"
    );

    let moved = Remote::new(&format!("{address}/moved/remote.git")).unwrap();
    let moved = moved.with_credential(Credential::token(TOKEN));
    let refused = worktree.push(&moved, &head).await.unwrap_err();
    assert!(matches!(refused, GitError::Unreachable { .. }), "{refused}");
    assert!(!format!("{refused:?}").contains(TOKEN));

    let missing = Remote::new(&format!("{address}/missing.git")).unwrap();
    let missing = missing.with_credential(Credential::token(TOKEN));
    let refused = worktree.push(&missing, &head).await.unwrap_err();
    assert!(matches!(refused, GitError::Unreachable { .. }), "{refused}");
}

#[tokio::test]
async fn what_a_remote_says_is_told() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    write(worktree.path(), "x", "x");
    let head = committed(worktree.commit(&message("Work")).await.unwrap());
    let remote = world.path("remote.git");
    git(&remote, &["config", "receive.denyCurrentBranch", "refuse"]);
    git(
        &remote,
        &["config", "transfer.hideRefs", "refs/heads/feature"],
    );
    let outcome = worktree.push(&world.remote(), &head).await.unwrap();
    let PushOutcome::Rejected(Rejection::Other(reason)) = outcome else {
        panic!("{outcome:?}");
    };
    assert!(reason.contains("hidden ref"), "{reason}");
    let nowhere = Remote::new("/no/such/folder").unwrap();
    let refused = worktree.push(&nowhere, &head).await.unwrap_err();
    assert!(matches!(refused, GitError::Unreachable { .. }), "{refused}");
    let closed = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let nobody = Remote::new(&format!("http://u:hunter2@{closed}/a")).unwrap();
    let refused = world.git.default_branch(&nobody).await.unwrap_err();
    assert!(matches!(refused, GitError::Unreachable { .. }), "{refused}");
    assert!(!format!("{refused:?}").contains("hunter2"));
}

#[tokio::test]
async fn a_remote_that_never_answers_is_told_from_a_slow_repository() {
    let world = World::new().await;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("http://{}/a", listener.local_addr().unwrap());
    let mut settings = Settings::new(world.path("managed"), world.path("scratch"));
    settings.network_limit = Duration::from_secs(1);
    let git = Git::new(settings).await.unwrap();
    let refused = git.default_branch(&Remote::new(&silent).unwrap()).await;
    let refused = refused.unwrap_err();
    assert!(
        matches!(refused, GitError::RemoteTimeout { .. }),
        "{refused}"
    );
    let told = "the remote did not answer in time: git ls-remote took longer than 1 s";
    assert_eq!(refused.to_string(), told);
}
