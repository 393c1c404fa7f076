import { connect, fetchHandler, Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { describe, expect, it } from "vitest";
import { errorOf, expectTold, loosely } from "./told.js";

const info = { name: "shop", version: "1" };
const server = () => new Server(info);
const noop = () => "";

/** Options that do not exist: where, the whole message, the whole fix. */
const TYPOS: [option: string, use: () => unknown, of: string, meant: string | undefined, fix?: string][] = [
  ["descripton", () => server().tool("t", loosely({ descripton: "" }), noop), 'tool "t"', "description"],
  ["inputSchema", () => server().tool("t", loosely({ inputSchema: {} }), noop), 'tool "t"', "input"],
  ["outputSchema", () => server().tool("t", loosely({ outputSchema: {} }), noop), 'tool "t"', "output"],
  [
    "readOnly",
    () => server().tool("t", loosely({ annotations: { readOnly: true } }), noop),
    '`annotations` of tool "t"',
    "readOnlyHint",
  ],
  ["argsSchema", () => server().prompt("p", loosely({ argsSchema: {} }), noop), 'prompt "p"', "arguments"],
  ["instruction", () => new Server(info, loosely({ instruction: "" })), "the server", "instructions"],
  [
    "capabilities",
    () => new Server(info, loosely({ capabilities: {} })),
    "the server",
    undefined,
    "Leave it out: capabilities are derived from registrations and handlers.",
  ],
  ["prot", () => serveHttp(server(), loosely({ prot: 3000 })), "serveHttp", "port"],
  ["hots", () => serveHttp(server(), loosely({ hots: "127.0.0.1" })), "serveHttp", "host"],
  [
    "sessionIdGenerator",
    () => serveHttp(server(), loosely({ sessionIdGenerator: undefined })),
    "serveHttp",
    "sessions",
  ],
  [
    "eventStore",
    () => serveHttp(server(), loosely({ eventStore: {} })),
    "serveHttp",
    undefined,
    "Pass `storage` to `new Server`.",
  ],
  ["info", () => connect(server(), loosely({ info })), "connect", "name"],
  ["onElicitt", () => connect(server(), loosely({ onElicitt: noop })), "connect", "onElicit"],
  ["timeout", () => connect(server(), loosely({ timeout: 5 })), "connect", "timeouts"],
];

describe("an option that does not exist", () => {
  it.each(TYPOS)("%s is refused with what was meant", (option, use, of, meant, fix) =>
    expectTold(use, {
      kind: "invalid_definition",
      message: `"${option}" is not an option of ${of}${meant === undefined ? "" : `; did you mean "${meant}"?`}`,
      fix: fix ?? `Write \`${meant}\` in place of \`${option}\`.`,
    }),
  );

  it("of a call is refused too", async () => {
    const client = await connect(server().tool("t", noop));
    await expectTold(() => client.callTool("t", {}, loosely({ timeout: 5 })), {
      kind: "invalid_definition",
      message: '"timeout" is not an option of the call; did you mean "timeouts"?',
      fix: "Write `timeouts` in place of `timeout`.",
    });
    await client.close();
  });

  it("and is like no other is refused with the list of those that exist", async () => {
    const { message, fix } = await errorOf(() => serveHttp(server(), loosely({ enableJsonResponse: true })));
    expect(message).toBe('"enableJsonResponse" is not an option of serveHttp');
    expect(fix).toMatch(/^Leave it out, or use one of: .*\bauthenticate, .*\bport, host, path, .*\.$/);
  });
});

const LIST = 'Write a list of strings, for example ["https://app.example.com"]; `origins` may be "*" for every page.';
const ORIGIN = 'Write scheme, host and port as browsers send them, for example "https://app.example.com".';

const CORS: [cors: unknown, message: string, fix: string][] = [
  [
    true,
    "the options of `cors` are true, not an object",
    "Correct the registration or the option that the message names.",
  ],
  [{}, "`cors.origins` is not a list", LIST],
  [{ origins: "https://app.example.com" }, "`cors.origins` is not a list", LIST],
  [{ origins: ["app.example.com"] }, '"app.example.com" in `cors.origins` is not a valid origin', ORIGIN],
  [
    { origins: ["https://app.example.com/page"] },
    '"https://app.example.com/page" in `cors.origins` is not a valid origin',
    ORIGIN,
  ],
  [
    { origins: ["*"], credentials: true },
    "`cors` allows `credentials` for every origin",
    "List the origins that may send credentials.",
  ],
];

describe("an option of the wrong form", () => {
  it.each(CORS)("`cors: %j` is refused before anything is served", async (cors, message, fix) => {
    const told = { kind: "invalid_definition", message, fix };
    await expectTold(() => fetchHandler(server(), loosely({ cors })), told);
    await expectTold(() => serveHttp(server(), loosely({ port: 0, cors })), told);
  });

  it.each([70_000, -1, 1.5, "http"])("`port: %j` is refused", (port) =>
    expectTold(() => serveHttp(server(), { port: loosely(port) }), {
      kind: "invalid_definition",
      message: `\`port\` is ${port}, not a whole number from 0 to 65535`,
      fix: "Pass the number of a port; 0 picks a free one.",
    }),
  );

  it("nothing in place of a server is refused", () =>
    expectTold(() => serveHttp(loosely(undefined)), {
      kind: "invalid_definition",
      message: "undefined was passed instead of a server",
      fix: "Pass a `Server` first, then the options.",
    }));

  it("a revision that does not exist is refused", () =>
    expectTold(() => connect(server(), { revisions: [loosely("2025-11-26")] }), {
      kind: "unsupported_version",
      message: "the option `revisions` does not list a published revision",
      fix: "List at least one of 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28, or leave the option out.",
    }));

  it("middleware that is not a function is refused", () =>
    expectTold(() => server().use(loosely(5)), {
      kind: "invalid_definition",
      message: "middleware must be a function, not number",
      fix: "Write `server.use((call, next) => next())`.",
    }));
});
