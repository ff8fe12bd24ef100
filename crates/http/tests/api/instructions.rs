use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use serde_json::{Value, json};
use workforce_testkit::ports::make_fifo;

use crate::support::{Answer, Api, api_tests, id};

fn bundle(agent: &Value) -> String {
    format!("/api/agents/{}/instructions-bundle", id(agent))
}

fn put(api: &Api, agent: &Value, body: &Value) -> Answer {
    let path = format!("{}/file", bundle(agent));
    api.send("PUT", &path, &[], body.to_string().as_bytes())
}

fn read(api: &Api, agent: &Value, path: &str) -> Answer {
    api.get(&format!("{}/file?path={path}", bundle(agent)))
}

fn delete(api: &Api, agent: &Value, path: &str) -> Answer {
    let path = format!("{}/file?path={path}", bundle(agent));
    api.send("DELETE", &path, &[], b"")
}

fn paths(bundle: &Value) -> Vec<&str> {
    let files = bundle["files"].as_array().unwrap();
    files
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect()
}

/// A folder that may hold an external bundle, with an entry file.
fn folder(api: &Api, name: &str) -> PathBuf {
    let folder = api.home.path().canonicalize().unwrap().join(name);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("AGENTS.md"), "outside").unwrap();
    folder
}

api_tests! {
    fn a_managed_bundle_is_written_read_and_rolled_back(api) {
        let ada = api.agent(&api.company("Acme"), "Ada");
        let first = api.get(&bundle(&ada)).ok(200);
        assert_eq!((&first["mode"], &first["entryFile"]), (&json!("managed"), &json!("AGENTS.md")));
        assert_eq!(paths(&first), ["AGENTS.md"]);
        assert_eq!(first["rootPath"], first["managedRootPath"]);
        assert_eq!(first["editable"], true);
        let given = read(api, &ada, "AGENTS.md").ok(200);
        assert_eq!((&given["isEntryFile"], &given["markdown"]), (&json!(true), &json!(true)));

        let made = put(api, &ada, &json!({ "path": "notes\\plan.md", "content": "one" })).ok(200);
        assert_eq!((&made["path"], &made["content"]), (&json!("notes/plan.md"), &json!("one")));
        assert_eq!(paths(&made["bundle"]), ["AGENTS.md", "notes/plan.md"]);
        let seen = made["sha256"].clone();
        let again = json!({ "path": "notes/plan.md", "content": "two", "ifMatch": seen });
        put(api, &ada, &again).ok(200);
        put(api, &ada, &again).problem(409, "instructions_file_conflict");
        delete(api, &ada, "AGENTS.md").problem(422, "entry_file_protected");
        let change = json!({ "entryFile": "notes/plan.md" });
        assert_eq!(api.patch(&bundle(&ada), &change).ok(200)["entryFile"], "notes/plan.md");
        assert_eq!(delete(api, &ada, "AGENTS.md").ok(200)["ok"], true);
        delete(api, &ada, "AGENTS.md").problem(404, "not_found");
        read(api, &ada, "AGENTS.md").problem(404, "not_found");

        let revisions = format!("/api/agents/{}/config-revisions", id(&ada));
        let listed = api.get(&revisions).ok(200);
        let sources: Vec<&str> =
            listed.as_array().unwrap().iter().map(|one| one["source"].as_str().unwrap()).collect();
        assert_eq!(
            sources,
            [
                "instructions_bundle_file_delete", "instructions_bundle_patch",
                "instructions_bundle_file_put", "instructions_bundle_file_put", "create",
            ]
        );
        let back = format!("{revisions}/{}/rollback", id(&listed[3]));
        api.post(&back, &json!({})).ok(200);
        assert_eq!(read(api, &ada, "notes/plan.md").ok(200)["content"], "one");
        assert_eq!(read(api, &ada, "AGENTS.md").ok(200)["content"], given["content"]);
        let back = format!("{revisions}/{}/rollback", id(&listed[4]));
        api.post(&back, &json!({})).ok(200);
        let now = api.get(&bundle(&ada)).ok(200);
        assert_eq!(now["files"], first["files"]);
        // What comes next does not overwrite what was.
        put(api, &ada, &json!({ "path": "x.md", "content": "x" })).ok(200);
        assert_eq!(api.get(&bundle(&ada)).ok(200)["version"], 4);
    }

    fn rebuilding_keeps_the_entry_file_alone(api) {
        let company = api.company("Acme");
        let path = format!("/api/companies/{}/agents", id(&company));
        let boss = json!({
            "name": "Boss", "role": "ceo",
            "adapterConfig": { "promptTemplate": "old", "bootstrapPromptTemplate": "older" },
        });
        let boss = api.post(&path, &boss).ok(201);
        let first = api.get(&bundle(&boss)).ok(200);
        assert_eq!(
            paths(&first),
            ["AGENTS.md", "HEARTBEAT.md", "SOUL.md", "TOOLS.md", "promptTemplate.legacy.md"]
        );
        assert_eq!(first["legacyPromptTemplateActive"], true);
        assert_eq!(first["legacyBootstrapPromptTemplateActive"], true);
        let legacy = read(api, &boss, "promptTemplate.legacy.md").ok(200);
        assert_eq!((&legacy["virtual"], &legacy["deprecated"]), (&json!(true), &json!(true)));
        assert_eq!(legacy["content"], "old");
        put(api, &boss, &json!({ "path": "promptTemplate.legacy.md", "content": "x" }))
            .problem(422, "invalid_field");
        let soul = read(api, &boss, "SOUL.md").ok(200);
        let change = json!({
            "mode": "managed", "entryFile": "SOUL.md", "replaceExisting": true,
            "clearLegacyPromptTemplate": true,
        });
        let rebuilt = api.patch(&bundle(&boss), &change).ok(200);
        assert_eq!(paths(&rebuilt), ["SOUL.md"]);
        assert_eq!(read(api, &boss, "SOUL.md").ok(200)["content"], soul["content"]);
        let agent = api.get(&format!("/api/agents/{}", id(&boss))).ok(200);
        assert_eq!(agent["adapterConfig"], json!({}));
        let renamed = json!({ "entryFile": "START.md", "replaceExisting": true });
        api.patch(&bundle(&boss), &renamed).ok(200);
        assert_eq!(read(api, &boss, "START.md").ok(200)["content"], soul["content"]);
        let missing = api.patch(&bundle(&boss), &json!({ "entryFile": "new.md" })).ok(200);
        assert_eq!(read(api, &boss, "new.md").ok(200)["content"], "");
        assert!(missing["warnings"][0].as_str().unwrap().contains("new.md"));
    }

    fn an_external_bundle_is_a_folder_that_the_operator_allows(api) {
        let ada = api.agent(&api.company("Acme"), "Ada");
        let root = folder(api, "prompts");
        fs::write(root.join("more.txt"), "text").unwrap();
        fs::write(root.join("picture.png"), [0, 1, 2]).unwrap();
        let mode = json!({ "mode": "external" });
        let problem = api.patch(&bundle(&ada), &mode).problem(422, "invalid_field");
        assert_eq!(problem["details"][0]["pointer"], "/rootPath");
        let change = json!({ "mode": "external", "rootPath": root, "entryFile": "AGENTS.md" });
        let moved = api.patch(&bundle(&ada), &change).ok(200);
        assert_eq!((&moved["mode"], &moved["rootPath"]), (&json!("external"), &json!(root)));
        assert_eq!(paths(&moved), ["AGENTS.md", "more.txt"]);
        assert_eq!(moved["resolvedEntryPath"], json!(root.join("AGENTS.md")));
        assert_eq!(read(api, &ada, "AGENTS.md").ok(200)["content"], "outside");
        let missing = json!({ "entryFile": "none.md" });
        api.patch(&bundle(&ada), &missing).problem(422, "invalid_field");

        let own = api.key(&ada);
        let own = api.bearing(&own);
        assert_eq!(own.get(&bundle(&ada)).ok(200)["editable"], false);
        let file = format!("{}/file", bundle(&ada));
        let body = json!({ "path": "AGENTS.md", "content": "mine" });
        own.send("PUT", &file, &body).problem(403, "board_required");
        let text = put(api, &ada, &json!({ "path": "more.txt", "content": "changed" })).ok(200);
        let stale = json!({ "path": "more.txt", "content": "x", "ifMatch": "0".repeat(64) });
        put(api, &ada, &stale).problem(409, "instructions_file_conflict");
        let fresh = json!({ "path": "more.txt", "content": "again", "ifMatch": text["sha256"] });
        put(api, &ada, &fresh).ok(200);
        assert_eq!(fs::read_to_string(root.join("more.txt")).unwrap(), "again");
        put(api, &ada, &json!({ "path": "new.md", "content": "x" })).problem(404, "not_found");
        put(api, &ada, &json!({ "path": "picture.png", "content": "x" }))
            .problem(422, "invalid_field");
        delete(api, &ada, "AGENTS.md").problem(422, "entry_file_protected");
        delete(api, &ada, "more.txt").ok(200);
        assert!(!root.join("more.txt").exists());

        let back = json!({ "mode": "managed", "replaceExisting": true });
        assert_eq!(paths(&api.patch(&bundle(&ada), &back).ok(200)), ["AGENTS.md"]);
        assert_eq!(read(api, &ada, "AGENTS.md").ok(200)["content"], "outside");
    }

    fn an_agent_writes_its_own_managed_bundle_and_nothing_else(api) {
        let company = api.company("Acme");
        let (ada, peer) = (api.agent(&company, "Ada"), api.agent(&company, "Peer"));
        let root = folder(api, "prompts");
        let (own, other) = (api.key(&ada), api.key(&peer));
        let (own, other) = (api.bearing(&own), api.bearing(&other));
        let file = format!("{}/file", bundle(&ada));
        let body = json!({ "path": "notes.md", "content": "mine" });
        own.send("PUT", &file, &body).ok(200);
        own.patch(&bundle(&ada), &json!({ "entryFile": "notes.md" })).ok(200);
        for change in [
            json!({ "mode": "external", "rootPath": root }),
            json!({ "mode": "external" }),
            json!({ "rootPath": root }),
            json!({ "clearLegacyPromptTemplate": true }),
        ] {
            own.patch(&bundle(&ada), &change).problem(403, "board_required");
        }
        let path = format!("/api/agents/{}/instructions-path", id(&ada));
        let legacy = json!({ "path": root.join("AGENTS.md") });
        own.patch(&path, &legacy).problem(403, "board_required");
        other.get(&bundle(&ada)).problem(403, "forbidden");
        other.send("PUT", &file, &body).problem(403, "forbidden");
        let manages = json!({ "reportsTo": id(&peer) });
        api.patch(&format!("/api/agents/{}", id(&ada)), &manages).ok(200);
        assert_eq!(other.get(&bundle(&ada)).ok(200)["editable"], false);
        other.send("PUT", &file, &body).problem(403, "forbidden");
        assert_eq!(api.get(&bundle(&ada)).ok(200)["mode"], "managed");
    }

    fn the_path_of_old_still_works(api) {
        let ada = api.agent(&api.company("Acme"), "Ada");
        let root = folder(api, "legacy");
        let path = format!("/api/agents/{}/instructions-path", id(&ada));
        let file = root.join("AGENTS.md");
        let set = api.patch(&path, &json!({ "path": file })).ok(200);
        assert_eq!(set["adapterConfigKey"], "instructionsFilePath");
        assert_eq!((&set["bundle"]["mode"], &set["bundle"]["rootPath"]), (&json!("external"), &json!(root)));
        let agent = api.get(&format!("/api/agents/{}", id(&ada))).ok(200);
        assert_eq!(agent["adapterConfig"]["instructionsFilePath"], json!(file));
        let later = api.patch(&path, &json!({ "path": root.join("later.md") })).ok(200);
        assert_eq!(later["bundle"]["entryFile"], "later.md");
        assert!(!later["bundle"]["warnings"].as_array().unwrap().is_empty());
        let cleared = api.patch(&path, &json!({ "path": null })).ok(200);
        assert_eq!((&cleared["path"], &cleared["bundle"]["mode"]), (&json!(null), &json!("managed")));
        assert_eq!(cleared["bundle"]["entryFile"], "AGENTS.md");
        let elsewhere = api.patch(&path, &json!({ "path": "/etc/passwd" })).ok(200);
        assert_eq!(elsewhere["bundle"]["mode"], "managed");
        api.patch(&path, &json!({})).problem(400, "invalid_json");
        api.patch(&path, &json!({ "Path": null })).problem(400, "invalid_json");
        for refused in ["AGENTS.md", "/", "/x/../y", "/a\nb", ""] {
            api.patch(&path, &json!({ "path": refused })).problem(422, "invalid_field");
        }
        for key in ["command", "a b", ""] {
            let body = json!({ "path": file, "adapterConfigKey": key });
            api.patch(&path, &body).problem(422, "invalid_field");
        }
        api.patch(&path, &json!({ "path": 5 })).problem(400, "invalid_json");
    }

    fn a_path_means_itself_with_its_blanks(api) {
        let company = api.company("Acme");
        let agent = api.agent(&company, "Ada");
        put(api, &agent, &json!({ "path": "kept", "content": "here" })).ok(200);
        for blank in ["kept%20", "kept+", "kept%09", "%20kept", "%20", "a%20/kept"] {
            let path = format!("{}/file?path={blank}", bundle(&agent));
            for method in ["GET", "DELETE"] {
                api.send(method, &path, &[], b"").problem(422, "invalid_field");
            }
        }
        let own = json!({ "path": "kept ", "content": "x" });
        put(api, &agent, &own).problem(422, "invalid_field");
        assert_eq!(read(api, &agent, "kept").ok(200)["content"], "here");
    }

    fn no_trick_leads_out_of_a_bundle(api) {
        let ada = api.agent(&api.company("Acme"), "Ada");
        let root = folder(api, "prompts");
        let secret = root.parent().unwrap().join("secret.md");
        fs::write(&secret, "secret").unwrap();
        fs::create_dir_all(root.join("real")).unwrap();
        symlink(&secret, root.join("link.md")).unwrap();
        symlink(root.parent().unwrap(), root.join("up")).unwrap();
        fs::hard_link(&secret, root.join("hard.md")).unwrap();
        fs::write(root.join(".hidden.md"), "secret").unwrap();
        fs::write(root.join("binary.md"), [0xff, 0xfe]).unwrap();
        make_fifo(&root.join("fifo.md"));
        let change = json!({ "mode": "external", "rootPath": root });
        for is_external in [false, true] {
            if is_external {
                assert_eq!(paths(&api.patch(&bundle(&ada), &change).ok(200))[0], "AGENTS.md");
            }
            let long = "x".repeat(201);
            for path in [
                "../secret.md", "..%2Fsecret.md", "%2e%2e/secret.md", "%252e%252e/secret.md",
                "a/../../secret.md", "..%5Csecret.md", "/etc/passwd", "C:/x", "%5C%5Chost%5Cx",
                "a%00b", "a%0Ab", "./AGENTS.md", "a//b", "NUL", "com1.md", "a.", "%EF%BC%8E%EF%BC%8E/x",
                "1/2/3/4/5/6/7/8/9", long.as_str(), "link.md", "up/secret.md", "fifo.md", "hard.md",
                ".hidden.md", "real", "binary.md", "",
            ] {
                for answer in [read(api, &ada, path), delete(api, &ada, path)] {
                    if path == "binary.md" && is_external && answer.status == 200 {
                        // It is a plain file of the folder, so it may go.
                        fs::write(root.join("binary.md"), [0xff, 0xfe]).unwrap();
                        continue;
                    }
                    assert!((400..500).contains(&answer.status), "{path}: {}", answer.text);
                    assert!(!answer.text.contains("secret\""), "{path}");
                }
            }
            for path in [
                "../secret.md", "a/../../secret.md", "..\\secret.md", "/etc/x", "C:\\x", "a\u{7}b",
                "%2e%2e/secret.md", "\u{2025}/x", "aux", "x ", "",
            ] {
                put(api, &ada, &json!({ "path": path, "content": "x" })).problem(422, "invalid_field");
            }
        }
        for path in ["link.md", "up/secret.md", "up/new.md", "fifo.md", "hard.md", ".hidden.md"] {
            let answer = put(api, &ada, &json!({ "path": path, "content": "x" }));
            assert!((400..500).contains(&answer.status), "{path}: {}", answer.text);
        }
        assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
        assert!(root.join("link.md").is_symlink());

        // A folder that becomes a link after it was chosen is not followed.
        fs::rename(&root, root.with_extension("old")).unwrap();
        symlink(root.with_extension("old"), &root).unwrap();
        read(api, &ada, "AGENTS.md").problem(409, "instructions_unavailable");
        put(api, &ada, &json!({ "path": "AGENTS.md", "content": "x" }))
            .problem(409, "instructions_unavailable");
        let broken = api.get(&bundle(&ada)).ok(200);
        assert!(!broken["warnings"].as_array().unwrap().is_empty());
    }

    fn no_trick_makes_another_folder_a_bundle(api) {
        let ada = api.agent(&api.company("Acme"), "Ada");
        let home = api.home.path().canonicalize().unwrap();
        for name in [".ssh", "data/companies", "plain/.git"] {
            folder(api, name);
        }
        symlink("/etc", home.join("etc")).unwrap();
        symlink(home.join("plain"), home.join("alias")).unwrap();
        fs::write(home.join("file.md"), "x").unwrap();
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        let roots = [
            "/".to_owned(), "/etc".into(), "/root".into(), "/proc/self".into(), "/dev".into(),
            text(home.join(".ssh")), text(home.join("data")), text(home.join("data/companies")),
            text(home.join("plain/.git")), text(home.join("etc")), text(home.join("alias")),
            text(home.join("none")), text(home.join("file.md")), text(home.join("plain/../..")),
            text(home.join("plain/../../../etc")), format!("{}\u{7}", home.display()),
            text(home.join("%2e%2e")), "relative".into(), "~".into(), String::new(),
            format!("{}/{}", home.display(), "x/".repeat(3000)),
        ];
        for root in roots {
            let change = json!({ "mode": "external", "rootPath": root, "entryFile": "AGENTS.md" });
            let answer = api.patch(&bundle(&ada), &change);
            assert_eq!(answer.status, 422, "{root}: {}", answer.text);
        }
        assert_eq!(api.get(&bundle(&ada)).ok(200)["mode"], "managed");
        let nul = b"{\"mode\":\"external\",\"rootPath\":\"/a\\u0000b\"}";
        api.send("PATCH", &bundle(&ada), &[], nul).problem(400, "invalid_json");
        // The home itself may be one, and what is left out of it stays out.
        fs::write(home.join("AGENTS.md"), "home").unwrap();
        fs::write(home.join("data/key.md"), "key").unwrap();
        let change = json!({ "mode": "external", "rootPath": home });
        let whole = api.patch(&bundle(&ada), &change).ok(200);
        assert!(paths(&whole).iter().all(|path| !path.starts_with("data/")));
        for path in [".ssh/AGENTS.md", "data/key.md", "data/companies/AGENTS.md"] {
            read(api, &ada, path).problem(422, "invalid_field");
        }
    }

    fn a_bundle_has_its_limits(api) {
        let ada = api.agent(&api.company("Acme"), "Ada");
        let put = |path: &str, content: &str| {
            put(api, &ada, &json!({ "path": path, "content": content }))
        };
        let mebibyte = "x".repeat(1 << 20);
        put("big.md", &format!("{mebibyte}x")).problem(413, "body_too_large");
        for n in 0..7 {
            put(&format!("big{n}.md"), &mebibyte).ok(200);
        }
        put("big7.md", &mebibyte).problem(413, "body_too_large");
        put("AGENTS.md/x", "x").problem(422, "invalid_field");
        put("a", "").ok(200);
        put("a/b", "").problem(422, "invalid_field");
        for n in 0..191 {
            put(&format!("small/{n}.md"), "").ok(200);
        }
        put("one-more.md", "").problem(422, "invalid_field");
        assert_eq!(paths(&api.get(&bundle(&ada)).ok(200)).len(), 200);
    }
}
