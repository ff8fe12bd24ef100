//! What activity is about.

use serde_json::json;
use workforce_domain::Document;
use workforce_domain::activity::Entity;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::agent::Agent;
use workforce_domain::approval::Approval;
use workforce_domain::company::Company;
use workforce_domain::cost::CostEvent;
use workforce_domain::goal::Goal;
use workforce_domain::issue::Issue;
use workforce_domain::label::IssueLabel;
use workforce_domain::port::Locked;
use workforce_domain::project::{Project, Workspace};
use workforce_domain::run::Run;
use workforce_domain::secret::Secret;

use super::{ActivitySubject, SubjectRef, document};

impl<T: ActivitySubject> ActivitySubject for Locked<T> {
    fn subject_ref(&self) -> SubjectRef {
        (**self).subject_ref()
    }

    fn context(&self) -> Document {
        (**self).context()
    }
}

impl ActivitySubject for Company {
    fn subject_ref(&self) -> SubjectRef {
        SubjectRef::new(self.id, Entity::Company, self.id)
    }
}

impl ActivitySubject for Agent {
    fn subject_ref(&self) -> SubjectRef {
        SubjectRef::new(self.company, Entity::Agent, self.id)
    }
}

impl ActivitySubject for Run {
    fn subject_ref(&self) -> SubjectRef {
        SubjectRef::new(self.company, Entity::HeartbeatRun, self.id)
    }

    fn context(&self) -> Document {
        document(json!({ "agentId": self.agent, "issueId": self.issue }))
    }
}

impl ActivitySubject for Goal {
    fn subject_ref(&self) -> SubjectRef {
        SubjectRef::new(self.company, Entity::Goal, self.id)
    }
}

impl ActivitySubject for Project {
    fn subject_ref(&self) -> SubjectRef {
        SubjectRef::new(self.company, Entity::Project, self.id)
    }

    fn context(&self) -> Document {
        document(json!({ "projectId": self.id }))
    }
}

impl ActivitySubject for Workspace {
    fn subject_ref(&self) -> SubjectRef {
        SubjectRef::new(self.company, Entity::Workspace, self.id)
    }

    fn context(&self) -> Document {
        document(json!({ "projectId": self.project }))
    }
}

impl ActivitySubject for Issue {
    fn subject_ref(&self) -> SubjectRef {
        SubjectRef::new(self.company, Entity::Issue, self.id)
    }

    fn context(&self) -> Document {
        document(json!({ "identifier": self.identifier }))
    }
}

impl ActivitySubject for IssueLabel {
    fn subject_ref(&self) -> SubjectRef {
        SubjectRef::new(self.company, Entity::Label, self.id)
    }

    fn context(&self) -> Document {
        document(json!({ "name": self.name, "color": self.color }))
    }
}

impl ActivitySubject for Approval {
    fn subject_ref(&self) -> SubjectRef {
        SubjectRef::new(self.company, Entity::Approval, self.id)
    }

    fn context(&self) -> Document {
        document(json!({ "type": self.kind, "status": self.status() }))
    }
}

impl ActivitySubject for Secret {
    fn subject_ref(&self) -> SubjectRef {
        SubjectRef::new(self.scope().company(), Entity::Secret, self.id)
    }
}

impl ActivitySubject for CostEvent {
    fn subject_ref(&self) -> SubjectRef {
        SubjectRef::new(self.company, Entity::CostEvent, self.id)
    }
}
