"""Six steps with the client that openapi-python-client makes."""

import os
from io import BytesIO
from typing import TypeVar

from workforce_client import Client
from workforce_client.api.agents import create_agent
from workforce_client.api.attachments import add_attachment, get_attachment_content
from workforce_client.api.companies import create_company
from workforce_client.api.issues import check_out_issue, create_issue, list_issues
from workforce_client.models import (
    AgentDetail,
    Attachment,
    CheckOutBody,
    CheckoutConflictProblem,
    Company,
    CreateAgentBody,
    CreateCompany,
    CreatedIssue,
    CreateIssue,
    Issue,
    IssueStatus,
    JsonObject,
    Priority,
    UploadForm,
)
from workforce_client.types import UNSET, File, Unset

T = TypeVar("T")


def expect(kind: type[T], value: object) -> T:
    """The value as what it must be."""
    assert isinstance(value, kind), value
    return value


client = Client(base_url=os.environ["WORKFORCE_URL"])

# 1. A company.
founded = CreateCompany(name="Acme", require_board_approval_for_new_agents=False)
company = expect(Company, create_company.sync(client=client, body=founded))
assert company.name == "Acme"
assert company.description is None


# 2. Agents, each with a configuration that is any object.
def hire(name: str) -> AgentDetail:
    config = JsonObject.from_dict({"command": "/bin/true", "args": ["-v"]})
    body = CreateAgentBody(name=name, role="engineer", adapter_config=config)
    return expect(AgentDetail, create_agent.sync(company.id, client=client, body=body))


ada, bob = hire("Ada"), hire("Bob")
assert ada.adapter_config["command"] == "/bin/true"

# 3. Issues.
issues = []
for title in ("One", "Two", "Three"):
    body = CreateIssue(title=title, status=IssueStatus.TODO, priority=Priority.HIGH)
    issues.append(expect(CreatedIssue, create_issue.sync(company.id, client=client, body=body)))
issue = issues[0]
assert issue.status == IssueStatus.TODO

# 4. A list, page by page.
titles: list[str] = []
cursor: str | Unset = UNSET
pages = 0
while True:
    page = list_issues.sync_detailed(company.id, client=client, limit=2, cursor=cursor)
    titles += [listed.title for listed in expect(list, page.parsed)]
    pages += 1
    if "X-Next-Cursor" not in page.headers:
        break
    cursor = page.headers["X-Next-Cursor"]
assert pages == 2
assert sorted(titles) == ["One", "Three", "Two"]


# 5. A refusal whose code tells what its details hold.
def check_out(agent: AgentDetail) -> object:
    return check_out_issue.sync(str(issue.id), client=client, body=CheckOutBody(agent_id=agent.id))


expect(Issue, check_out(ada))
conflict = expect(CheckoutConflictProblem, check_out(bob))
assert conflict.details.assignee_agent_id == ada.id
assert conflict.details.reason in ("other_assignee", "live_run")

# 6. A file there and back.
content = bytes([0, 1, 2, 253, 254, 255])
form = UploadForm(file=File(payload=BytesIO(content), file_name="some.bin"))
uploaded = add_attachment.sync(company.id, str(issue.id), client=client, body=form)
attachment = expect(Attachment, uploaded)
received = expect(File, get_attachment_content.sync(attachment.id, client=client))
assert received.payload.read() == content

print("openapi-python-client: 6 steps")
