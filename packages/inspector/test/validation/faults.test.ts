import type { Revision } from "@parley/mcp/protocol";
import { describe, expect, it } from "vitest";
import { type CheckedMessage, messageProblems } from "../../src/validation/message-problems.js";

/** What a server answered to a method, in which revision. */
interface Answer {
  readonly revision: Revision;
  readonly answers: string;
  readonly result: unknown;
}

/** A fault, and each place and word that it is answered with. */
type Fault<T> = readonly [name: string, given: T, ...problems: string[]];

function lines(judged: CheckedMessage): string[] {
  return messageProblems(judged).problems.map(({ path, message }) => `${path}: ${message}`);
}

const stateful = (answers: string, result: unknown): Answer => ({ revision: "2025-11-25", answers, result });
const stateless = (answers: string, result: object): Answer => {
  return { revision: "2026-07-28", answers, result: { resultType: "complete", ...result } };
};
const called = (result: unknown) => stateful("tools/call", result);
const listed = (tool: object) =>
  stateful("tools/list", { tools: [{ name: "a", inputSchema: { type: "object" } }, tool] });
const cached = { ttlMs: 0, cacheScope: "private" };

const ANSWERS: readonly Fault<Answer>[] = [
  ["content is missing", called({}), "/result/content: is missing; CallToolResult requires an array"],
  [
    "content is one block",
    called({ content: { type: "text", text: "a" } }),
    "/result/content: is an object; CallToolResult requires an array",
  ],
  [
    "content is a text",
    called({ content: "a" }),
    '/result/content: is the string "a"; CallToolResult requires an array',
  ],
  [
    "a block has no type",
    called({ content: [{ text: "a" }] }),
    '/result/content/0/type: is missing; ContentBlock requires "text", "image", "audio", "resource_link" or "resource"',
  ],
  [
    "a block has an unknown type",
    called({
      content: [
        { type: "text", text: "a" },
        { type: "json", json: {} },
      ],
    }),
    '/result/content/1/type: is the string "json"; ContentBlock requires "text", "image", "audio", "resource_link" or "resource"',
  ],
  [
    "a text is a number",
    called({ content: [{ type: "text", text: 5 }] }),
    "/result/content/0/text: is the number 5; TextContent requires a string",
  ],
  [
    "an image has no type of its data",
    called({ content: [{ type: "image", data: "YQ==" }] }),
    "/result/content/0/mimeType: is missing; ImageContent requires a string",
  ],
  [
    "an image has a data URL",
    called({ content: [{ type: "image", data: "data:image/png;base64,YQ==", mimeType: "image/png" }] }),
    '/result/content/0/data: is the string "data:image/png;base64,YQ=="; ImageContent requires Base64 with its padding',
  ],
  [
    "a resource has neither text nor blob",
    called({ content: [{ type: "resource", resource: { uri: "a:b" } }] }),
    "/result/content/0/resource: has no text or blob; TextResourceContents or BlobResourceContents requires it",
  ],
  [
    "a link has a path for a URI",
    called({ content: [{ type: "resource_link", name: "a", uri: "/a" }] }),
    '/result/content/0/uri: is the string "/a"; ResourceLink requires a URI',
  ],
  [
    "a priority is out of range",
    called({ content: [{ type: "text", text: "a", annotations: { priority: 5 } }] }),
    "/result/content/0/annotations/priority: is the number 5; Annotations requires a number from 0 to 1",
  ],
  [
    "an audience is unknown",
    called({ content: [{ type: "text", text: "a", annotations: { audience: ["user", "model"] } }] }),
    '/result/content/0/annotations/audience/1: is the string "model"; Role requires "assistant" or "user"',
  ],
  [
    "isError is a string",
    called({ content: [], isError: "yes" }),
    '/result/isError: is the string "yes"; CallToolResult requires a boolean',
  ],
  [
    "structured content is an array",
    called({ content: [], structuredContent: [1] }),
    "/result/structuredContent: is an array; CallToolResult requires an object",
  ],
  ["_meta is null", called({ content: [], _meta: null }), "/result/_meta: is null; CallToolResult requires an object"],
  ["the result is null", called(null), "/result: is null; Result requires an object"],
  ["the result is a list", called([]), "/result: is an array; Result requires an object"],
  ["tools is missing", stateful("tools/list", {}), "/result/tools: is missing; ListToolsResult requires an array"],
  [
    "a cursor is null",
    stateful("tools/list", { tools: [], nextCursor: null }),
    "/result/nextCursor: is null; ListToolsResult requires a string",
  ],
  [
    "a tool has no name",
    listed({ inputSchema: { type: "object" } }),
    "/result/tools/1/name: is missing; Tool requires a string",
  ],
  ["a tool has no schema", listed({ name: "b" }), "/result/tools/1/inputSchema: is missing; Tool requires an object"],
  [
    "a schema has no type",
    listed({ name: "b", inputSchema: {} }),
    '/result/tools/1/inputSchema/type: is missing; Tool requires "object"',
  ],
  [
    "a schema has another type",
    listed({ name: "b", inputSchema: { type: "string" }, description: null }),
    "/result/tools/1/description: is null; Tool requires a string",
    '/result/tools/1/inputSchema/type: is the string "string"; Tool requires "object"',
  ],
  [
    "capabilities are a list",
    stateful("initialize", { protocolVersion: "2025-11-25", capabilities: ["tools"], serverInfo: { name: "a" } }),
    "/result/capabilities: is an array; ServerCapabilities requires an object",
    "/result/serverInfo/version: is missing; Implementation requires a string",
  ],
  [
    "a capability is true",
    stateful("initialize", {
      protocolVersion: "1",
      capabilities: { tools: true },
      serverInfo: { name: "a", version: "1" },
    }),
    "/result/capabilities/tools: is true; ServerCapabilities requires an object",
  ],
  [
    "a role of a prompt is unknown",
    stateful("prompts/get", { messages: [{ role: "system", content: { type: "text", text: "a" } }] }),
    '/result/messages/0/role: is the string "system"; Role requires "assistant" or "user"',
  ],
  [
    "contents is missing",
    stateful("resources/read", { content: [] }),
    "/result/contents: is missing; ReadResourceResult requires an array",
  ],
  [
    "a template is broken",
    stateful("resources/templates/list", { resourceTemplates: [{ name: "a", uriTemplate: "note://{id" }] }),
    '/result/resourceTemplates/0/uriTemplate: is the string "note://{id"; ResourceTemplate requires a URI template',
  ],
  [
    "a task has no lifetime",
    called({ task: { taskId: "1", status: "working", createdAt: "a", lastUpdatedAt: "b" } }),
    "/result/task/ttl: is missing; Task requires an integer or null",
  ],
  [
    "too many completions",
    stateless("completion/complete", { completion: { values: Array.from({ length: 101 }, String) } }),
    "/result/completion/values: has 101 items; CompleteResult allows at most 100",
  ],
  [
    "resultType is missing",
    { revision: "2026-07-28", answers: "tools/call", result: { content: [] } },
    '/result/resultType: is missing; CallToolResult requires "complete" or "input_required"',
  ],
  [
    "resultType is unknown",
    stateless("tools/list", { ...cached, tools: [], resultType: "done" }),
    '/result/resultType: is the string "done"; ListToolsResult requires "complete"',
  ],
  [
    "a list cannot be cached",
    stateless("tools/list", { tools: [], ttlMs: -1, cacheScope: "all" }),
    '/result/cacheScope: is the string "all"; ListToolsResult requires "private" or "public"',
    "/result/ttlMs: is the number -1; ListToolsResult requires an integer of at least 0",
  ],
  [
    "a list asks a question",
    stateless("tools/list", { resultType: "input_required", requestState: "a" }),
    '/result/resultType: is "input_required"; ListTools does not allow questions',
  ],
  [
    "a round of questions has none",
    stateless("tools/call", { resultType: "input_required" }),
    "/result: has no inputRequests or requestState; InputRequiredResult requires one of them",
  ],
  [
    "a question is of a wrong kind",
    stateless("tools/call", { resultType: "input_required", inputRequests: { a: { method: "tools/call" } } }),
    '/result/inputRequests/a/method: is the string "tools/call"; InputRequest requires "sampling/createMessage", "roots/list" or "elicitation/create"',
  ],
  [
    "a form has no schema",
    stateless("tools/call", {
      resultType: "input_required",
      inputRequests: { a: { method: "elicitation/create", params: { message: "a" } } },
    }),
    "/result/inputRequests/a/params/requestedSchema: is missing; ElicitRequestFormParams requires an object",
  ],
];

const MESSAGES: readonly Fault<Omit<CheckedMessage, "revision">>[] = [
  [
    "an id is null",
    { sender: "client", message: { jsonrpc: "2.0", id: null, method: "ping" } },
    "/id: is null; RequestId requires a string or an integer",
  ],
  [
    "an id is a fraction",
    { sender: "client", message: { jsonrpc: "2.0", id: 1.5, method: "ping" } },
    "/id: is the number 1.5; RequestId requires a string or an integer",
  ],
  [
    "jsonrpc is missing",
    { sender: "server", message: { id: 1, result: {} }, answers: "ping" },
    '/jsonrpc: is missing; JSONRPCResultResponse requires "2.0"',
  ],
  [
    "params are a list",
    { sender: "client", message: { jsonrpc: "2.0", id: 1, method: "tools/call", params: ["a"] } },
    "/params: is an array; CallToolRequestParams requires an object",
  ],
  [
    "a progress token is an object",
    {
      sender: "client",
      message: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "a", _meta: { progressToken: {} } } },
    },
    "/params/_meta/progressToken: is an object; ProgressToken requires a string or an integer",
  ],
  [
    "progress has no token",
    { sender: "server", message: { jsonrpc: "2.0", method: "notifications/progress", params: { progress: "1" } } },
    '/params/progress: is the string "1"; ProgressNotificationParams requires a number',
    "/params/progressToken: is missing; ProgressNotificationParams requires a string or an integer",
  ],
  [
    "a level is unknown",
    {
      sender: "server",
      message: { jsonrpc: "2.0", method: "notifications/message", params: { level: "warn", data: 1 } },
    },
    '/params/level: is the string "warn"; LoggingLevel requires "alert", "critical", "debug", "emergency", "error", "info", "notice" or "warning"',
  ],
  [
    "a server calls a tool",
    { sender: "server", message: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "a" } } },
    "/method: a server does not send tools/call in 2025-11-25",
  ],
  [
    "a method is misspelt",
    { sender: "client", message: { jsonrpc: "2.0", id: 1, method: "tool/list" } },
    '/method: 2025-11-25 has no method "tool/list"; did you mean tools/list?',
  ],
  [
    "a method is of a later revision",
    { sender: "client", message: { jsonrpc: "2.0", id: 1, method: "subscriptions/listen" } },
    '/method: 2025-11-25 has no method "subscriptions/listen"',
  ],
  [
    "an error has a text for a code",
    { sender: "server", message: { jsonrpc: "2.0", id: 1, error: { code: "E1", message: "a" } } },
    '/error/code: is the string "E1"; Error requires an integer',
  ],
  [
    "an error is a text",
    { sender: "server", message: { jsonrpc: "2.0", id: 1, error: "no" } },
    '/error: is the string "no"; Error requires an object',
  ],
  [
    "an error that demands a page has none",
    { sender: "server", message: { jsonrpc: "2.0", id: 1, error: { code: -32042, message: "a" } } },
    "/error/data: is missing; URLElicitationRequiredError requires an object",
  ],
  [
    "a message is two things",
    { sender: "server", message: { jsonrpc: "2.0", id: 1, result: {}, error: { code: 1, message: "a" } } },
    ": has result and error; a message is one request, notification, result or error",
  ],
  [
    "a message is nothing",
    { sender: "server", message: { jsonrpc: "2.0", id: 1 } },
    ": has no method, result or error; a message is one request, notification, result or error",
  ],
];

describe("faults of real servers", () => {
  for (const [name, { revision, answers, result }, ...problems] of ANSWERS) {
    it(`are told where they are: ${name}`, () => {
      const message = { jsonrpc: "2.0", id: 1, result };
      expect(lines({ revision, sender: "server", message, answers })).toEqual(problems);
    });
  }

  for (const [name, judged, ...problems] of MESSAGES) {
    it(`are told where they are, in other messages: ${name}`, () => {
      expect(lines({ revision: "2025-11-25", ...judged })).toEqual(problems);
    });
  }

  it("are told with the definition that demands it", () => {
    const message = { jsonrpc: "2.0", id: 1, result: { content: [{ type: "image", data: "" }] } };
    expect(messageProblems({ revision: "2025-06-18", sender: "server", message, answers: "tools/call" })).toEqual({
      definition: "CallToolResult",
      problems: [
        {
          path: "/result/content/0/mimeType",
          message: "is missing; ImageContent requires a string",
          definition: "ImageContent",
        },
      ],
    });
  });

  it("differ by revision", () => {
    const audio = { content: [{ type: "audio", data: "YQ==", mimeType: "audio/wav" }] };
    const message = { jsonrpc: "2.0", id: 1, result: audio };
    const judged = { sender: "server", message, answers: "tools/call" } as const;
    expect(lines({ revision: "2025-03-26", ...judged })).toEqual([]);
    expect(lines({ revision: "2024-11-05", ...judged })).toEqual([
      '/result/content/0/type: is the string "audio"; CallToolResult requires "text", "image" or "resource"',
    ]);
    const answer = {
      revision: "2026-07-28",
      sender: "client",
      message: { jsonrpc: "2.0", id: 1, result: {} },
    } as const;
    expect(lines(answer)).toContain(": a client sends no responses in 2026-07-28");
  });

  it("are none where an extension has methods and results of its own", () => {
    for (const method of ["tasks/get", "skills/list", "ui/message", "resources/directory/read", "com.example/do"]) {
      const message = { jsonrpc: "2.0", id: 1, method, params: { anything: 1 } };
      expect(messageProblems({ revision: "2026-07-28", sender: "client", message })).toEqual({
        definition: "JSONRPCRequest",
        problems: [],
      });
    }
    for (const method of ["notifications/tasks", "notifications/com.example/done"]) {
      expect(lines({ revision: "2026-07-28", sender: "server", message: { jsonrpc: "2.0", method } })).toEqual([]);
    }
    const message = { jsonrpc: "2.0", id: 1, result: { resultType: "task", taskId: "1" } };
    expect(lines({ revision: "2026-07-28", sender: "server", message, answers: "tools/call" })).toEqual([]);
  });

  it("are none where an old error could not read the id", () => {
    const message = { jsonrpc: "2.0", id: null, error: { code: -32700, message: "no JSON" } };
    expect(lines({ revision: "2025-06-18", sender: "server", message })).toEqual([]);
    expect(lines({ revision: "2025-11-25", sender: "server", message })).toEqual([
      "/id: is null; RequestId requires a string or an integer",
    ]);
  });
});
