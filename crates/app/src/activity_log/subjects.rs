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

use super::{Place, Subject, document};

impl<T: Subject> Subject for Locked<T> {
    fn place(&self) -> Place {
        (**self).place()
    }

    fn context(&self) -> Document {
        (**self).context()
    }
}

impl Subject for Company {
    fn place(&self) -> Place {
        Place::new(self.id, Entity::Company, self.id)
    }
}

impl Subject for Agent {
    fn place(&self) -> Place {
        Place::new(self.company, Entity::Agent, self.id)
    }
}

impl Subject for Run {
    fn place(&self) -> Place {
        Place::new(self.company, Entity::HeartbeatRun, self.id)
    }

    fn context(&self) -> Document {
        document(json!({ "agentId": self.agent, "issueId": self.issue }))
    }
}

impl Subject for Goal {
    fn place(&self) -> Place {
        Place::new(self.company, Entity::Goal, self.id)
    }
}

impl Subject for Project {
    fn place(&self) -> Place {
        Place::new(self.company, Entity::Project, self.id)
    }

    fn context(&self) -> Document {
        document(json!({ "projectId": self.id }))
    }
}

impl Subject for Workspace {
    fn place(&self) -> Place {
        Place::new(self.company, Entity::Workspace, self.id)
    }

    fn context(&self) -> Document {
        document(json!({ "projectId": self.project }))
    }
}

impl Subject for Issue {
    fn place(&self) -> Place {
        Place::new(self.company, Entity::Issue, self.id)
    }

    fn context(&self) -> Document {
        document(json!({ "identifier": self.identifier }))
    }
}

impl Subject for IssueLabel {
    fn place(&self) -> Place {
        Place::new(self.company, Entity::Label, self.id)
    }

    fn context(&self) -> Document {
        document(json!({ "name": self.name, "color": self.color }))
    }
}

impl Subject for Approval {
    fn place(&self) -> Place {
        Place::new(self.company, Entity::Approval, self.id)
    }

    fn context(&self) -> Document {
        document(json!({ "type": self.kind, "status": self.status() }))
    }
}

impl Subject for Secret {
    fn place(&self) -> Place {
        Place::new(self.scope().company(), Entity::Secret, self.id)
    }
}

impl Subject for CostEvent {
    fn place(&self) -> Place {
        Place::new(self.company, Entity::CostEvent, self.id)
    }
}
