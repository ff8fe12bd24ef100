//! How the tests of attachments upload files.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Answer, Api, id};

/// What separates the parts of a form.
pub(crate) const BOUNDARY: &str = "a-boundary-of-the-tests";

/// The content type of a form.
pub(crate) const FORM: &str = "multipart/form-data; boundary=a-boundary-of-the-tests";

/// A part whose head has these lines.
pub(crate) fn part(head: &str, body: &[u8]) -> Vec<u8> {
    let mut part = format!("--{BOUNDARY}\r\n{head}\r\n\r\n").into_bytes();
    part.extend_from_slice(body);
    part.extend_from_slice(b"\r\n");
    part
}

/// A file in the field `file`; quotes in its name must be escaped already.
pub(crate) fn file(name: &str, body: &[u8]) -> Vec<u8> {
    part(
        &format!("Content-Disposition: form-data; name=\"file\"; filename=\"{name}\""),
        body,
    )
}

/// A field of text.
pub(crate) fn field(name: &str, text: &str) -> Vec<u8> {
    part(
        &format!("Content-Disposition: form-data; name=\"{name}\""),
        text.as_bytes(),
    )
}

/// The whole body of a form.
pub(crate) fn form(parts: &[Vec<u8>]) -> Vec<u8> {
    let mut body = parts.concat();
    body.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
    body
}

/// A company, an issue of it and the path of its attachments.
pub(crate) struct Place {
    pub(crate) company: Value,
    pub(crate) issue: Value,
    pub(crate) path: String,
}

impl Place {
    pub(crate) fn of(api: &Api) -> Self {
        let company = api.company("Acme");
        let issue = api.issue(&company, &json!({ "title": "Step" }));
        let path = path(&company, &issue);
        Self {
            company,
            issue,
            path,
        }
    }

    /// What the board is answered to a form.
    pub(crate) fn send(&self, api: &Api, body: &[u8]) -> Answer {
        self.send_with(api, &[], body)
    }

    pub(crate) fn send_with(&self, api: &Api, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut all = vec![("Content-Type", FORM)];
        all.extend_from_slice(headers);
        api.send("POST", &self.path, &all, body)
    }

    /// An attachment that the board made.
    pub(crate) fn attach(&self, api: &Api, name: &str, content: &[u8]) -> Value {
        self.send(api, &form(&[file(name, content)])).ok(201)
    }

    /// The attachments of the issue.
    pub(crate) fn list(&self, api: &Api) -> Value {
        api.get(&format!("/api/issues/{}/attachments", id(&self.issue)))
            .ok(200)
    }
}

/// Where files are attached to an issue.
pub(crate) fn path(company: &Value, issue: &Value) -> String {
    let (company, issue) = (id(company), id(issue));
    format!("/api/companies/{company}/issues/{issue}/attachments")
}

/// How many files lie in the place of objects, unfinished ones too.
pub(crate) fn objects(api: &Api) -> usize {
    files_below(api.objects.path())
}

fn files_below(folder: &Path) -> usize {
    std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| {
            if entry.file_type().unwrap().is_dir() {
                files_below(&entry.path())
            } else {
                1
            }
        })
        .sum()
}
