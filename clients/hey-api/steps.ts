// Six steps with the client that @hey-api/openapi-ts makes.
import assert from "node:assert/strict";

import { client } from "./generated/client.gen.js";
import * as api from "./generated/sdk.gen.js";
import type { AgentDetail, Issue } from "./generated/types.gen.js";

client.setConfig({ baseUrl: process.env.WORKFORCE_URL ?? "" });

type Problem = { code: string; detail: string };

/** What a success holds; a refusal ends the program. */
function ok<T>(answer: { data: T | undefined; error: Problem | undefined } | { data?: T; error?: Problem }): T {
  assert(answer.data !== undefined, `${answer.error?.code}: ${answer.error?.detail}`);
  return answer.data;
}

// 1. A company.
const company = ok(
  await api.createCompany({ body: { name: "Acme", requireBoardApprovalForNewAgents: false } }),
);
assert.equal(company.name, "Acme");
const description: string | null = company.description;
assert.equal(description, null);
const path = { companyId: company.id };

// 2. Agents, each with a configuration that is any object.
async function hire(name: string): Promise<AgentDetail> {
  const adapterConfig = { command: "/bin/true", args: ["-v"] };
  return ok(await api.createAgent({ path, body: { name, role: "engineer", adapterConfig } }));
}
const ada = await hire("Ada");
const bob = await hire("Bob");
assert.equal(ada.adapterConfig["command"], "/bin/true");

// 3. Issues.
const issues: Issue[] = [];
for (const title of ["One", "Two", "Three"]) {
  issues.push(ok(await api.createIssue({ path, body: { title, status: "todo", priority: "high" } })));
}
const issue = issues[0]!;
assert.equal(issue.status, "todo");

// 4. A list, page by page.
const titles: string[] = [];
let cursor: string | null = null;
let pages = 0;
do {
  const query: { limit: number; cursor?: string } = cursor === null ? { limit: 2 } : { limit: 2, cursor };
  const page: Awaited<ReturnType<typeof api.listIssues>> = await api.listIssues({ path, query });
  titles.push(...ok(page).map((listed) => listed.title));
  cursor = page.response?.headers.get("X-Next-Cursor") ?? null;
  pages += 1;
} while (cursor !== null);
assert.equal(pages, 2);
assert.deepEqual(titles.sort(), ["One", "Three", "Two"]);

// 5. A refusal whose code tells what its details hold.
const checkOut = (agentId: string) =>
  api.checkOutIssue({ path: { issueId: issue.id }, body: { agentId } });
ok(await checkOut(ada.id));
const { error } = await checkOut(bob.id);
assert(error?.code === "checkout_conflict");
const holder: string | null = error.details.assigneeAgentId;
assert.equal(holder, ada.id);
assert(["other_assignee", "live_run"].includes(error.details.reason));

// 6. A file there and back.
const bytes = new Uint8Array([0, 1, 2, 253, 254, 255]);
const attachment = ok(
  await api.addAttachment({
    path: { ...path, issueId: issue.id },
    body: { file: new File([bytes], "some.bin") },
  }),
);
const content = ok(
  await api.getAttachmentContent({ path: { attachmentId: attachment.id }, parseAs: "blob" }),
);
assert.deepEqual(new Uint8Array(await content.arrayBuffer()), bytes);

console.log("@hey-api/openapi-ts: 6 steps");
