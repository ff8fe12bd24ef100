//! GitLab: <https://docs.gitlab.com/user/project/integrations/webhook_events/>.

use serde::Deserialize;

use super::event::{Event, EventKind, Head, Place};
use super::read;

/// All deliveries say what they are about, also those of an instance, whose header does not.
#[derive(Deserialize)]
struct Kinded {
    object_kind: String,
}

#[derive(Deserialize)]
struct Project {
    web_url: String,
    path_with_namespace: String,
}

impl Project {
    fn place(&self) -> Place<'_> {
        Place {
            page: &self.web_url,
            full_name: &self.path_with_namespace,
        }
    }
}

#[derive(Deserialize)]
struct MergeRequestDelivery {
    /// The one that it is to be merged into.
    project: Project,
    object_attributes: MergeRequest,
}

#[derive(Deserialize)]
struct MergeRequest {
    iid: u64,
    action: Option<String>,
    source_branch: String,
    last_commit: Commit,
    /// Only where an update brings other commits.
    oldrev: Option<String>,
}

#[derive(Deserialize)]
struct Commit {
    id: String,
}

#[derive(Deserialize)]
struct PipelineDelivery {
    project: Project,
    object_attributes: Pipeline,
    /// Only where the pipeline was made for a merge request.
    merge_request: Option<NamedRequest>,
}

#[derive(Deserialize)]
struct Pipeline {
    r#ref: Option<String>,
    #[serde(default)]
    tag: bool,
    sha: String,
    status: String,
}

#[derive(Deserialize)]
struct NamedRequest {
    iid: u64,
}

pub(super) fn parse(body: &[u8]) -> Option<Event> {
    match read::<Kinded>(body)?.object_kind.as_str() {
        "merge_request" => read::<MergeRequestDelivery>(body)?.event(),
        "pipeline" => read::<PipelineDelivery>(body)?.event(),
        // The jobs of a pipeline say nothing that it does not say when it ends.
        _ => None,
    }
}

impl MergeRequestDelivery {
    fn event(self) -> Option<Event> {
        let request = self.object_attributes;
        let kind = match request.action.as_deref()? {
            "open" => EventKind::Opened,
            "reopen" => EventKind::Reopened,
            "update" if request.oldrev.is_some() => EventKind::Synchronized,
            "merge" => EventKind::Merged,
            "close" => EventKind::Closed,
            _ => return None,
        };
        let head = Head {
            sha: &request.last_commit.id,
            branches: vec![request.source_branch],
        };
        Event::new(kind, &self.project.place(), vec![request.iid], head)
    }
}

impl PipelineDelivery {
    fn event(self) -> Option<Event> {
        let pipeline = self.object_attributes;
        if !["success", "failed", "canceled", "skipped"].contains(&pipeline.status.as_str()) {
            return None;
        }
        let branch = pipeline.r#ref.filter(|_| !pipeline.tag);
        let numbers = self.merge_request.map(|request| request.iid);
        let head = Head {
            sha: &pipeline.sha,
            branches: branch.into_iter().collect(),
        };
        let place = self.project.place();
        Event::new(
            EventKind::ChecksCompleted,
            &place,
            numbers.into_iter().collect(),
            head,
        )
    }
}
