// Six steps with the types of openapi-typescript and the client openapi-fetch.
import assert from "node:assert/strict";

import createClient from "openapi-fetch";

import type { components, paths } from "./generated/schema.js";

// Where a path answers JSON or a stream, JSON is meant.
const client = createClient<paths, `application/${string}`>({ baseUrl: process.env.WORKFORCE_URL });

type Problem = { code: string; detail: string };

/** What a success holds; a refusal ends the program. */
function ok<T>(answer: { data?: T; error?: Problem }): T {
  assert(answer.data !== undefined, `${answer.error?.code}: ${answer.error?.detail}`);
  return answer.data;
}

// 1. A company.
const company = ok(
  await client.POST("/api/companies", {
    body: { name: "Acme", requireBoardApprovalForNewAgents: false },
  }),
);
assert.equal(company.name, "Acme");
const description: string | null = company.description;
assert.equal(description, null);
const inCompany = { companyId: company.id };

// 2. Agents, each with a configuration that is any object.
async function hire(name: string): Promise<components["schemas"]["AgentDetail"]> {
  const agent = await client.POST("/api/companies/{companyId}/agents", {
    params: { path: inCompany },
    body: { name, role: "engineer", adapterConfig: { command: "/bin/true", args: ["-v"] } },
  });
  return ok(agent);
}
const ada = await hire("Ada");
const bob = await hire("Bob");
assert.equal(ada.adapterConfig["command"], "/bin/true");

// 3. Issues.
const issues: components["schemas"]["Issue"][] = [];
for (const title of ["One", "Two", "Three"]) {
  const made = await client.POST("/api/companies/{companyId}/issues", {
    params: { path: inCompany },
    body: { title, status: "todo", priority: "high" },
  });
  issues.push(ok(made));
}
const issue = issues[0]!;
assert.equal(issue.status, "todo");

// 4. A list, page by page.
const titles: string[] = [];
let cursor: string | undefined;
let pages = 0;
do {
  const page = await client.GET("/api/companies/{companyId}/issues", {
    params: { path: inCompany, query: { limit: 2, ...(cursor === undefined ? {} : { cursor }) } },
  });
  titles.push(...ok(page).map((listed) => listed.title));
  cursor = page.response.headers.get("X-Next-Cursor") ?? undefined;
  pages += 1;
} while (cursor !== undefined);
assert.equal(pages, 2);
assert.deepEqual(titles.sort(), ["One", "Three", "Two"]);

// 5. A refusal whose code tells what its details hold.
const checkOut = (agentId: string) =>
  client.POST("/api/issues/{issueId}/checkout", {
    params: { path: { issueId: issue.id } },
    body: { agentId },
  });
ok(await checkOut(ada.id));
const { error } = await checkOut(bob.id);
assert(error?.code === "checkout_conflict");
const holder: string | null = error.details.assigneeAgentId;
assert.equal(holder, ada.id);
assert(["other_assignee", "live_run"].includes(error.details.reason));

// 6. A file there and back.
const bytes = new Uint8Array([0, 1, 2, 253, 254, 255]);
const form = new FormData();
form.append("file", new Blob([bytes]), "some.bin");
const attachment = ok(
  await client.POST("/api/companies/{companyId}/issues/{issueId}/attachments", {
    params: { path: { ...inCompany, issueId: issue.id } },
    body: { file: "some.bin" },
    bodySerializer: () => form,
  }),
);
const content = ok(
  await client.GET("/api/attachments/{attachmentId}/content", {
    params: { path: { attachmentId: attachment.id } },
    parseAs: "arrayBuffer",
  }),
);
assert.deepEqual(new Uint8Array(content), bytes);

console.log("openapi-fetch: 6 steps");
