import { connect } from "@parley/mcp";
import { describe, expect, it, onTestFinished } from "vitest";
import { type DrivenEngine, driveEngine, ERAS } from "../engine/opened-engine.js";
import { servePostedJson } from "../kit/posted-json.js";

const [SESSIONS, STATELESS] = ERAS;
const NOTE = "not offered: the client falls back to initialize";
const serverInfo = { name: "older", version: "1" };
const INITIALIZED = { protocolVersion: SESSIONS, capabilities: { tools: {} }, serverInfo };
const DISCOVERED = {
  resultType: "complete",
  ttlMs: 0,
  cacheScope: "private",
  supportedVersions: [STATELESS],
  capabilities: { tools: {} },
  _meta: { "io.modelcontextprotocol/serverInfo": serverInfo },
};

/** A status, and either a text or the error of a JSON-RPC response. */
type Refusal = readonly [status: number, answer: string | { code: number; message: string; data?: object }];

const NOT_FOUND: Refusal = [200, { code: -32601, message: "Method not found" }];
const REFUSALS: Readonly<Record<string, Refusal>> = {
  "an unknown method": NOT_FOUND,
  "an unknown method, as HTTP says it too": [404, { code: -32601, message: "Method not found" }],
  "a missing session": [400, { code: -32000, message: "Bad Request: no session" }],
  "a revision that it does not speak": [
    400,
    { code: -32022, message: "Unsupported", data: { supported: [SESSIONS], requested: STATELESS } },
  ],
  "a status alone": [404, "Not Found"],
};
const FAILURES: Readonly<Record<string, Refusal>> = {
  "a server that is overloaded": [503, { code: -32603, message: "Overloaded" }],
  "headers that do not match": [400, { code: -32020, message: "Header mismatch" }],
  "revisions that nobody knows": [400, { code: -32022, message: "Unsupported", data: { supported: ["2031-01-01"] } }],
};

/** An inspector of a server whose answers to `server/discover` are these, in turn, the last of them for ever. */
async function inspect(answers: readonly (Refusal | "discovered")[]): Promise<DrivenEngine> {
  let asked = 0;
  const server = await servePostedJson(({ id, method }, _request, response) => {
    if (id === undefined) return void response.writeHead(202).end();
    const answer = method === "server/discover" ? answers[Math.min(asked++, answers.length - 1)] : undefined;
    const [status, words] = answer === undefined || answer === "discovered" ? [200, undefined] : answer;
    if (typeof words === "string") return void response.writeHead(status).end(words);
    const result = answer === "discovered" ? DISCOVERED : method === "initialize" ? INITIALIZED : { tools: [] };
    const body = { jsonrpc: "2.0", id, ...(words === undefined ? { result } : { error: words }) };
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  onTestFinished(() => server.close());
  const { url } = server;
  const target = { kind: "url", shown: url, url, open: (options: object) => connect(url, options) } as const;
  return driveEngine({ targets: [target] });
}

/** Sends `server/discover` as a user does, and waits for how it ends. */
async function discover({ act, when }: DrivenEngine, connection: string): Promise<void> {
  const request = { kind: "request", method: "server/discover", params: {} } as const;
  const { call } = await act("call", { connection, request });
  await when(({ calls }) => calls.find(({ id, status }) => id === call && status === "failed"));
}

const failures = ({ entries }: DrivenEngine) => entries().filter(({ failed }) => failed);

describe("a probe that an older server refuses", () => {
  it.each(Object.entries(REFUSALS))("is no failure, and says what it means: %s", async (_name, refusal) => {
    const engine = await inspect([refusal]);
    const { connection } = await engine.act("connect", { target: "target-1" });
    expect(await engine.reaches(connection, "ready")).toMatchObject({ revision: SESSIONS });
    expect(failures(engine)).toEqual([]);
    const [status, answer] = refusal;
    const noted = engine.entries().filter(({ note }) => note === NOTE);
    expect(noted.map(({ kind, problems }) => ({ kind, problems }))).toEqual([
      ...(status === 200 ? [] : [{ kind: "http", problems: 0 }]),
      ...(typeof answer === "string" ? [] : [{ kind: "error", problems: 0 }]),
    ]);
    expect(engine.entries().filter(({ note }) => note !== undefined)).toEqual(noted);
  });

  it("is a failure where the user lets the client speak nothing older", async () => {
    const engine = await inspect([NOT_FOUND]);
    const { connection } = await engine.act("connect", { target: "target-1", revision: STATELESS });
    await engine.reaches(connection, "failed");
    const [first] = failures(engine);
    expect(first).toMatchObject({ kind: "error", label: "server/discover" });
    expect(first?.note).toBeUndefined();
  });

  it.each(Object.entries(FAILURES))("is a failure where it ends the attempt: %s", async (_name, refusal) => {
    const engine = await inspect([refusal]);
    const { connection } = await engine.act("connect", { target: "target-1" });
    await engine.reaches(connection, "failed");
    const errors = engine.entries().filter(({ kind }) => kind === "error");
    expect(errors.map(({ label, failed, note }) => ({ label, failed, note }))).toContainEqual({
      label: "server/discover",
      failed: true,
      note: undefined,
    });
  });
});

describe.each([
  ["without sessions", STATELESS, "discovered"],
  ["with sessions", SESSIONS, NOT_FOUND],
] as const)("the same request of a user, %s", (_name, revision, first) => {
  it.each(["an unknown method", "a status alone"])("is a failure: %s", async (name) => {
    const engine = await inspect([first, REFUSALS[name] ?? NOT_FOUND]);
    const { connection } = await engine.act("connect", { target: "target-1" });
    expect(await engine.reaches(connection, "ready")).toMatchObject({ revision });
    const before = engine.entries().length;
    await discover(engine, connection);
    const later = engine.entries().slice(before);
    expect(later.filter(({ failed }) => failed).length).toBeGreaterThan(0);
    expect(later.filter(({ note }) => note !== undefined)).toEqual([]);
  });
});
