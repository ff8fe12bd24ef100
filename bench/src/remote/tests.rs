use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use super::*;
use crate::company::AGENTS;

const ID: &str = "01890000-0000-7000-8000-000000000001";

/// What a server says to a request: by its first line and its headers, a status and a body.
type Answers = fn(&str) -> (u16, &'static str);

/// A server of the interface that knows nothing but what it is to say.
struct Imitation {
    url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Imitation {
    fn start(answers: Answers) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let noted = asked.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let noted = noted.clone();
                thread::spawn(move || serve(stream.unwrap(), answers, &noted));
            }
        });
        Self { url, asked }
    }

    fn remote<'a>(&self, urls: &'a [String], tokens: &'a [String]) -> Remote<'a> {
        assert_eq!(urls[0], self.url);
        Remote {
            urls,
            tokens,
            issues: 40,
            pace: Pace {
                warm_up: Duration::ZERO,
                duration: Duration::from_millis(20),
            },
            figures: Figure::ALL.to_vec(),
            connections: vec![2],
        }
    }

    fn measure(&self, tokens: &[&str]) -> Result<()> {
        let tokens: Vec<String> = tokens.iter().map(|&it| it.to_owned()).collect();
        self.remote(std::slice::from_ref(&self.url), &tokens)
            .measure()
    }

    fn site(&self) -> Site {
        let mut site = Site::open(&self.url, &Target::reach(&self.url, None).unwrap()).unwrap();
        site.fill(40).unwrap();
        site
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve(stream: TcpStream, answers: Answers, noted: &Mutex<Vec<String>>) {
    let mut writer = stream.try_clone().unwrap();
    let mut reader = BufReader::new(stream);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if !matches!(reader.read_line(&mut head), Ok(1..)) {
                return;
            }
        }
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("Content-Length: ")?.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        reader.read_exact(&mut body).unwrap();
        let (status, body) = answers(&head);
        noted.lock().unwrap().push(head);
        let length = body.len();
        // In one piece, or the second would wait for the client to have the first.
        let answer = format!("HTTP/1.1 {status} X\r\nContent-Length: {length}\r\n\r\n{body}");
        writer.write_all(answer.as_bytes()).unwrap();
    }
}

fn serves_all(_head: &str) -> (u16, &'static str) {
    (
        200,
        r#"{"id":"01890000-0000-7000-8000-000000000001","key":"agent-key","issuePrefix":"MEA"}"#,
    )
}

#[test]
fn everything_is_made_measured_and_removed() {
    let imitation = Imitation::start(serves_all);
    imitation.measure(&["board-token"]).unwrap();
    let asked = imitation.asked();
    let host = imitation.url.strip_prefix("http://").unwrap();
    for head in &asked {
        assert!(head.contains(&format!("\r\nHost: {host}\r\n")), "{head}");
    }
    let by = |key: &str, line: &str| {
        let credential = format!("Authorization: Bearer {key}\r\n");
        let found = |head: &&String| head.starts_with(line) && head.contains(&credential);
        asked.iter().filter(found).count()
    };
    let below = format!("/api/companies/{ID}");
    assert_eq!(by("board-token", "POST /api/companies HTTP"), 1);
    assert_eq!(by("board-token", &format!("POST {below}/agents ")), AGENTS);
    assert_eq!(by("board-token", &format!("POST {below}/issues ")), 40);
    for figure in [
        "GET /api/agents/me ".to_owned(),
        format!("GET /api/issues/{ID} "),
        format!("GET {below}/issues?status=todo&limit=50 "),
        format!("GET {below}/issues?q="),
        format!("POST /api/issues/{ID}/comments "),
        format!("POST {below}/cost-events "),
        format!("POST /api/issues/{ID}/checkout "),
        format!("POST /api/issues/{ID}/release "),
        format!("POST {below}/issues "),
    ] {
        assert!(by("agent-key", &figure) > 0, "{figure}");
    }
    for page in ["", "/issues", &format!("/issues/{ID}")] {
        assert!(
            by("board-token", &format!("GET /c/MEA{page} ")) > 0,
            "{page}"
        );
    }
    assert_eq!(by("board-token", &format!("POST {below}/archive ")), 1);
    assert_eq!(by("board-token", &format!("DELETE {below} ")), 1);
}

#[test]
fn two_servers_are_asked_alike() {
    let (one, other) = (Imitation::start(serves_all), Imitation::start(serves_all));
    let urls = [one.url.clone(), other.url.clone()];
    one.remote(&urls, &[]).measure().unwrap();
    let made = |of: &Imitation| {
        let begin = |head: &&String| head.starts_with("POST /api/companies HTTP");
        of.asked().iter().filter(begin).count()
    };
    assert_eq!((made(&one), made(&other)), (1, 1));
}

#[test]
fn one_token_is_for_all_servers_and_two_are_one_for_each() {
    let (one, other) = (Imitation::start(serves_all), Imitation::start(serves_all));
    let urls = [one.url.clone(), other.url];
    let tokens = |given: &[&str]| {
        let given: Vec<String> = given.iter().map(|&it| it.to_owned()).collect();
        let targets = one.remote(&urls, &given).targets();
        targets.map(|all| all.into_iter().map(|it| it.token).collect::<Vec<_>>())
    };
    let some = |token: &str| Some(token.to_owned());
    assert_eq!(tokens(&[]).unwrap(), [None, None]);
    assert_eq!(tokens(&["a"]).unwrap(), [some("a"), some("a")]);
    assert_eq!(tokens(&["", "b"]).unwrap(), [None, some("b")]);
    assert!(tokens(&["a", "b", "c"]).is_err());
}

#[test]
fn a_route_that_is_missing_is_named_and_the_others_are_measured() {
    let imitation = Imitation::start(|head| {
        if head.contains("/cost-events ") || head.contains("/goals ") {
            (404, "what?")
        } else {
            serves_all(head)
        }
    });
    imitation.measure(&[]).unwrap();
    let mut site = imitation.site();
    let pace = imitation
        .remote(std::slice::from_ref(&imitation.url), &[])
        .pace;
    assert!(site.measure(pace, 0, Figure::PostCost, 2).is_none());
    assert!(site.measure(pace, 0, Figure::PostComment, 2).is_some());
    assert!(site.measure(pace, 0, Figure::PostIssue, 2).is_some());
    let below = format!("POST /api/companies/{ID}");
    assert_eq!(
        site.notes,
        [
            format!("without goals and projects: {below}/goals: the server answered 404: what?"),
            format!(
                "POST cost event: the server lacks this route: {below}/cost-events: the server \
                 answered 404: what?"
            ),
        ]
    );
}

#[test]
fn without_issues_what_asks_about_them_is_left_out() {
    let imitation = Imitation::start(|head| {
        if head.starts_with("POST") && head.contains("/issues ") {
            (405, "")
        } else {
            serves_all(head)
        }
    });
    let mut site = imitation.site();
    let pace = imitation
        .remote(std::slice::from_ref(&imitation.url), &[])
        .pace;
    assert!(site.measure(pace, 0, Figure::GetIssue, 2).is_none());
    assert!(site.measure(pace, 0, Figure::ListIssues, 2).is_some());
    assert_eq!(site.notes[1], "GET issue: there are no issues");
}

#[test]
fn a_server_that_does_not_know_the_board_says_what_it_needs() {
    let imitation = Imitation::start(|head| {
        if head.contains("Bearer board") || !head.contains("/companies") {
            serves_all(head)
        } else {
            (401, "who?")
        }
    });
    let message = format!("{:#}", imitation.measure(&[]).unwrap_err());
    assert!(message.contains("with --token"), "{message}");
    assert!(
        message.ends_with("GET /api/companies?limit=1: the server answered 401: who?"),
        "{message}"
    );
}

#[test]
fn a_key_that_is_not_accepted_leaves_the_figure_out() {
    let imitation = Imitation::start(|head| {
        if head.contains("/agents/me") {
            (401, "who?")
        } else {
            serves_all(head)
        }
    });
    let mut site = imitation.site();
    let pace = imitation
        .remote(std::slice::from_ref(&imitation.url), &[])
        .pace;
    assert!(site.measure(pace, 0, Figure::AgentMe, 2).is_none());
    assert_eq!(
        site.notes,
        ["GET agent me: not measured: GET /api/agents/me: the server answered 401: who?"]
    );
}

#[test]
fn what_cannot_be_removed_is_told() {
    let imitation = Imitation::start(|head| {
        if head.starts_with("DELETE") {
            (405, "")
        } else {
            serves_all(head)
        }
    });
    let said = imitation.site().clean_up();
    let expected = format!(": left the company {ID} (`Measured by the bench`): archived, not");
    assert!(said.contains(&expected), "{said}");
}

#[test]
fn no_server_is_asked_when_one_does_not_answer() {
    let imitation = Imitation::start(serves_all);
    let gone = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let absent = format!("http://{}", gone.local_addr().unwrap());
    drop(gone);
    let urls = [imitation.url.clone(), absent.clone()];
    let message = format!("{:#}", imitation.remote(&urls, &[]).measure().unwrap_err());
    assert!(
        message.starts_with(&format!("{absent} does not answer")),
        "{message}"
    );
    assert!(imitation.asked().iter().all(|it| it.starts_with("GET")));
}
