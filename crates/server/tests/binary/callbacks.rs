//! An agent elsewhere, which works on after its answer.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;

use serde_json::{Value, json};

use crate::harness::{Server, folder};

/// Takes one request, answers that the work is accepted, and then says that it is
/// done. Gives what it was told.
fn work(listener: &TcpListener) -> Value {
    let (mut stream, _) = listener.accept().unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            if line.trim_end().is_empty() {
                break;
            }
            continue;
        };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let told: Value = serde_json::from_slice(&body).unwrap();
    let accepted = b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    stream.write_all(accepted).unwrap();
    drop((stream, reader));
    let token = told["authToken"].as_str().unwrap();
    ureq::post(told["callbackUrl"].as_str().unwrap())
        .header("Authorization", format!("Bearer {token}"))
        .send_json(json!({ "status": "succeeded", "result": "It is built." }))
        .unwrap();
    told
}

#[test]
fn an_agent_elsewhere_calls_back() {
    let data = folder();
    let contained = [("WORKFORCE_CONTAINMENT", "best-effort")];
    let flags = ["--http-allow", "127.0.0.0/8"];
    let server = Server::start_with(data.path(), &flags, &contained);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let agent = std::thread::spawn(move || work(&listener));
    let company = server.post("/api/companies", &json!({ "name": "Acme" }));
    let company = company["id"].as_str().unwrap();
    let secret = json!({ "name": "key", "value": "correct-horse" });
    let secret = server.post(&format!("/api/companies/{company}/secrets"), &secret);
    let reference = json!({ "type": "secret_ref", "secretId": secret["id"] });
    let ada = server.post(
        &format!("/api/companies/{company}/agents"),
        &json!({ "name": "Ada", "adapterType": "http", "adapterConfig": {
            "url": url,
            "headers": { "Authorization": "Bearer {{env.KEY}}" },
            "env": { "KEY": reference },
        } }),
    );
    let ada = ada["id"].as_str().unwrap();
    let run = server.post(&format!("/api/agents/{ada}/heartbeat/invoke"), &json!({}));
    let run = format!("/api/heartbeat-runs/{}", run["id"].as_str().unwrap());
    let ended = server.wait_for(&run, |run| {
        run["status"] != "queued" && run["status"] != "running"
    });
    assert_eq!(
        (&ended["status"], &ended["resultText"]),
        (&json!("succeeded"), &json!("It is built.")),
        "{ended}"
    );
    let told = agent.join().unwrap();
    assert_eq!(told["apiUrl"], server.base);
    assert_eq!(told["agentId"], ada);
}
