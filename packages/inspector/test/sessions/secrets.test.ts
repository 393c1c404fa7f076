import { connect, Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { parseRecording } from "@parley/mcp/recording";
import { describe, expect, it, onTestFinished } from "vitest";
import type { InspectorTarget } from "../../src/connections/inspector-target.js";
import type { SharedSession } from "../../src/contract/inspector-state.js";
import { type DrivenEngine, driveEngine, ERAS } from "../engine/opened-engine.js";
import { builtPage } from "../kit/built-page.js";

/** Each is a secret in its own way; none may be in a file that is kept. */
const CANARIES = {
  header: "canary-of-a-header-1234",
  password: "canary-of-a-password",
  member: "canary-of-a-member",
  bearer: "canary0of0a0bearer0token",
  key: "sk-canary-of-a-key-0123456789",
  userInfo: "canary-of-an-address",
  query: "canary-of-a-query",
  nested: "canary-of-a-nested-text",
  notification: "canary-of-a-notification",
};

const ANYTHING = { type: "object", additionalProperties: true } as const;

/** A server that repeats what it was told, in results, errors, logs and names. */
const leaky = () =>
  new Server({ name: "leaky", version: "1" }, { onError: () => {}, platform: { warn: () => {} } })
    .tool("echo", { input: ANYTHING }, (args, context) => {
      context.log("info", { password: CANARIES.notification, repeated: CANARIES.header });
      return [
        `you sent ${JSON.stringify(args)}`,
        `Authorization: Bearer ${CANARIES.bearer}`,
        `see https://user:${CANARIES.userInfo}@example.com/a?signature=${CANARIES.query}`,
        `the header was ${CANARIES.header}`,
      ].join("\n");
    })
    .tool("fail", { input: ANYTHING }, () => {
      throw new Error(`no access with ${CANARIES.header}`);
    });

async function leakySession(revision: (typeof ERAS)[number]): Promise<[driven: DrivenEngine, connection: string]> {
  const handle = await serveHttp(leaky(), { port: 0 });
  onTestFinished(() => handle.close());
  const headers = { authorization: `Bearer ${CANARIES.header}`, "x-tenant": CANARIES.header };
  const url = `${handle.url}?key=${CANARIES.query}`;
  const target: InspectorTarget = {
    kind: "url",
    shown: handle.url,
    url,
    secrets: [CANARIES.header],
    authorized: true,
    open: (options) => connect(url, { ...options, headers }),
  };
  const driven = driveEngine({ targets: [target] }, await builtPage());
  const { connection } = await driven.act("connect", { target: "target-1", revision });
  await driven.reaches(connection, "ready");
  await driven.act("setLogLevel", { connection, level: "debug" });
  const args = {
    password: CANARIES.password,
    apiKey: CANARIES.key,
    note: `{"token": "${CANARIES.member}"}`,
    options: { clientSecret: CANARIES.nested, when: "today" },
    link: `https://example.com/file?X-Amz-Signature=${CANARIES.query}`,
  };
  for (const name of ["echo", "fail"]) {
    const request = { kind: "tool", name, arguments: args } as const;
    const { call } = await driven.act("call", { connection, request });
    await driven.when(({ calls }) => calls.some(({ id, status }) => id === call && status !== "running"));
  }
  return [driven, connection];
}

const leaked = (text: string, canaries: readonly string[]) => canaries.filter((canary) => text.includes(canary));

describe.each(ERAS)("secrets of a session in %s", (revision) => {
  it("are in the messages, so that the test can fail", async () => {
    const [driven] = await leakySession(revision);
    const details = await Promise.all(driven.entries().map(({ seq }) => driven.act("entry", { seq })));
    const all = JSON.stringify(details.map(({ text }) => text));
    expect(leaked(all, Object.values(CANARIES))).toEqual(Object.values(CANARIES));
  });

  it("are not in its export, which still can be read", async () => {
    const [driven, connection] = await leakySession(revision);
    const { text } = await driven.act("exportSession", { connection });
    // Queries stay, since a replay needs addresses; a secret there has a name that says so, or is one of the target's.
    const { query: _kept, ...secrets } = CANARIES;
    expect(leaked(text, Object.values(secrets))).toEqual([]);
    const { messages } = parseRecording(text, "kept");
    expect(JSON.stringify(messages)).toContain('"when":"today"');
  });

  it("are not in the file that is shared", async () => {
    const [driven] = await leakySession(revision);
    const { text, name } = await driven.act("share", {});
    expect(name).toMatch(/^leaky-[0-9-]+\.html$/);
    expect(leaked(text, Object.values(CANARIES))).toEqual([]);
    const json = /<script type="application\/json" id="shared-session">(.*?)<\/script>/s.exec(text)?.[1] ?? "";
    const session = JSON.parse(json) as SharedSession;
    expect(session.entries).toHaveLength(driven.entries().length);
    expect(session.connections).toMatchObject([{ status: "imported", server: { name: "leaky" } }]);
    const request = session.entries.find(({ http }) => http !== undefined);
    expect(request?.http?.url).toContain("?[redacted]");
    expect(request?.http?.requestHeaders).toMatchObject({ "content-type": "application/json" });
  });

  it("are not in what is shared after their connection was removed", async () => {
    const [driven, connection] = await leakySession(revision);
    await driven.act("disconnect", { connection });
    await driven.act("forget", { connection });
    const { text } = await driven.act("share", {});
    const json = /<script type="application\/json" id="shared-session">(.*?)<\/script>/s.exec(text)?.[1] ?? "";
    const { entries, leftOut } = JSON.parse(json) as SharedSession;
    expect(entries).toEqual([]);
    expect(leftOut).toBe(driven.entries().length);
  });
});
