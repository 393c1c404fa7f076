// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references of configurations look like placeholders
import { readFileSync } from "node:fs";
import { McpError } from "@parley/mcp";
import { readServers } from "@parley/mcp/config";
import { describe, expect, it } from "vitest";

const read = (config: unknown, more: Partial<Parameters<typeof readServers>[1]> = {}) =>
  readServers(config, { env: {}, ...more });
const problemsOf = (entry: unknown) => read({ servers: { a: entry } }).problems;

describe("a field that cannot be used", () => {
  it.each<[unknown, string, string]>([
    [{ command: 5 }, "servers.a.command", "the value must be a string"],
    [{ command: " " }, "servers.a.command", "the command is empty"],
    [{ command: "c", args: "x" }, "servers.a.args", "the value must be a list of strings"],
    [{ command: "c", args: ["x", 1] }, "servers.a.args.1", "the value must be a string"],
    [{ command: "c", args: Array(1001).fill("x") }, "servers.a.args", "there are more than 1000 entries (MAX_ITEMS)"],
    [{ command: "c\0" }, "servers.a.command", "the string contains a NUL character"],
    [{ command: "c", env: { A: true } }, "servers.a.env.A", "the value must be a string"],
    [{ command: "c", env: { "A=B": "x" } }, "servers.a.env.A=B", '"A=B" is not a valid name of a variable'],
    [{ url: "http://x", headers: { "a b": "x" } }, "servers.a.headers.a b", '"a b" is not a valid name of a header'],
    [{ url: "http://x", headers: { a: "x\ny" } }, "servers.a.headers.a", "the header contains a line break"],
    [{ url: "ftp://x" }, "servers.a.url", "`url` is not an HTTP URL"],
    [{ url: "nonsense" }, "servers.a.url", "`url` is not an HTTP URL"],
    [{}, "servers.a", "the server has neither `command` nor `url`"],
    [{ command: "c", url: "http://x" }, "servers.a", "the server has both `command` and `url`"],
    [{ command: "c", transport: "http" }, "servers.a", 'the transport "http" cannot be used with `command`'],
    [{ url: "http://x", transport: "stdio" }, "servers.a", 'the transport "stdio" cannot be used with `url`'],
    [
      { url: "http://x", transport: "pigeon" },
      "servers.a.transport",
      'the value must be one of "stdio", "http", "sse"',
    ],
    [{ command: "c", startMs: 0 }, "servers.a.startMs", "the value must be a whole number above 0"],
    [{ command: "c", callMs: "5" }, "servers.a.callMs", "the value must be a whole number above 0"],
    [{ command: "c", perSecond: -1 }, "servers.a.perSecond", "the value must be a number above 0"],
    [{ command: "c", required: "yes" }, "servers.a.required", "the value must be true or false"],
    [{ command: "c", tools: { allow: [1] } }, "servers.a.tools.allow.0", "the value must be a string"],
    [null, "servers.a", "the entry must be an object"],
    [["c"], "servers.a", "the entry must be an object"],
  ])("%j is an error at %s", (entry, path, message) => {
    const { servers, problems } = read({ servers: { a: entry, b: { command: "c" } } }, { dialect: "parley" });
    expect(problems).toEqual([expect.objectContaining({ severity: "error", server: "a", path, message })]);
    expect(servers.a?.disabled).toBe(true);
    expect(servers.b).toEqual({ command: "c" });
  });

  it("is named with the nearest one that exists, if nobody has it", () => {
    expect(problemsOf({ command: "c", hedaers: {}, startMS: 5, zzz: 1, tools: { alow: [] } })).toMatchObject([
      { severity: "warning", message: '"hedaers" is not a field of a server; did you mean "headers"?' },
      { severity: "warning", fix: "Write `startMs` in place of `startMS`." },
      { severity: "warning", message: '"zzz" is not a field of a server', fix: "Remove it." },
      { severity: "warning", path: "servers.a.tools.alow" },
    ]);
  });

  it("passes in silence if it is known to be another application's", () => {
    expect(problemsOf({ command: "c", dev: {}, alwaysAllow: [], description: "x", scopes: [] })).toEqual([]);
  });

  it("is said of a program that would print headers, which is never started", () => {
    expect(problemsOf({ url: "http://x", headersHelper: "/bin/x" })).toMatchObject([
      { severity: "warning", path: "servers.a.headersHelper" },
    ]);
  });
});

describe("names", () => {
  it.each(["", " ", "__proto__", "constructor", "a\u001b[2J", "a\nb", "x".repeat(129)])(
    "refuse the server %j",
    (name) => {
      const { servers, problems } = read(
        JSON.stringify({ servers: { x: 1 } }).replace('"x":1', `${JSON.stringify(name)}:{"command":"c"}`),
      );
      expect(servers).toEqual({});
      expect(problems).toMatchObject([
        { severity: "error", fix: "Use another name of up to 128 printable characters." },
      ]);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: that none is left is what is tested
      expect(JSON.stringify(problems)).not.toMatch(/[\u0000-\u001f]/);
    },
  );

  it("of the language change nothing", () => {
    const text = `{ "__proto__": { "polluted": 1 }, "servers": { "a": {
      "command": "c", "env": { "__proto__": "x" }, "__proto__": { "disabled": false }, "constructor": {}, "prototype": {}
    } } }`;
    const { servers, problems } = read(text);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect(servers.a?.disabled).toBe(true);
    expect(problems.filter(({ severity }) => severity === "error")).toMatchObject([
      { path: "servers.a.env.__proto__" },
    ]);
    expect(problems).toHaveLength(4);
  });
});

describe("a value", () => {
  const CANARY = "c4n4ry-s3cret";
  const entries: Record<string, unknown> = {
    command: { command: `${CANARY}\0` },
    args: { command: "c", args: [`${CANARY}\${NONE}`, `${CANARY}\${`, `\${${CANARY} x}`] },
    argsNumber: { command: "c", args: CANARY },
    env: { command: "c", env: { A: `${CANARY}\0`, B: `\${NONE:-\${${CANARY}!}}`, C: [CANARY] } },
    headers: { url: "http://x", headers: { A: `${CANARY}\n`, B: `\${file:\${X:-${CANARY}}}`, C: { CANARY } } },
    url: { url: `${CANARY}://${CANARY}@x` },
    type: { url: "http://x", type: CANARY },
    token: { url: "http://x", bearer_token_env_var: `${CANARY} x` },
    tokens: { url: "http://x", env_http_headers: { A: `${CANARY}!` } },
    file: { command: "c", args: ["${file:f}"], envFile: "f" },
    asked: { command: "c", args: ["${input:i}"] },
    secretVariable: { command: "c", args: ["${SECRET}${NONE}"] },
    cut: { command: "c", startMs: CANARY, required: CANARY, trust: CANARY, tools: CANARY, isolation: CANARY },
  };

  it.each(Object.keys(entries))("never appears in a problem: %s", (name) => {
    const failing = (): never => {
      throw new Error(CANARY);
    };
    const { problems } = read(
      { servers: { a: entries[name] } },
      { dialect: "parley", env: { SECRET: CANARY }, readFile: failing, input: failing },
    );
    expect(problems.length).toBeGreaterThan(0);
    expect(JSON.stringify(problems)).not.toContain(CANARY);
  });

  it("never appears when it was written in place of the name of a variable", () => {
    const pasted = ["ghp_16C7e42F292c6912E7", "AKIAIOSFODNN7EXAMPLE", "sk_live_abc"];
    for (const token of pasted) {
      const entry = { url: "http://x", bearer_token_env_var: token, env_http_headers: { "X-Key": token } };
      const { problems } = read({ mcp_servers: { a: entry } });
      expect(problems.map(({ message }) => message)).toEqual(Array(2).fill("the variable named here is not set"));
      expect(JSON.stringify(problems)).not.toContain(token);
    }
    const named = read({ mcp_servers: { a: { url: "http://x", bearer_token_env_var: "GITHUB_TOKEN" } } });
    expect(named.problems).toMatchObject([
      { path: "mcp_servers.a.bearer_token_env_var", message: "the variable GITHUB_TOKEN is not set" },
    ]);
  });

  it("never appears in the error for a text that is no JSON, which says where it breaks", () => {
    for (const text of [
      `{"a": "${CANARY}" "b"}`,
      `{"a": ${CANARY}}`,
      `{"a": "${CANARY}`,
      `{${CANARY}: 1}`,
      `[/* ${CANARY}`,
    ]) {
      const error = thrown(() => read(text));
      expect(error.kind).toBe("invalid_definition");
      expect(error.message).toMatch(/line 1, column \d+/);
      expect(`${error.message}${error.fix}${error.stack}${String(error.cause)}`).not.toContain(CANARY);
    }
  });
});

describe("a whole file", () => {
  it.each([
    ['{\n  "servers": {\n    "a": 1,,\n  }\n}', "expected a name in double quotes (line 3, column 12)"],
    ['{"a": [1 2]}', "a comma is missing (line 1, column 10)"],
    ['{"a": tru}', "this is not a JSON value (line 1, column 7)"],
    ['{"a": }', "a value is missing (line 1, column 7)"],
    ['{"a": 1', "`{` is not closed (line 1, column 1)"],
    ['{"a" 1}', "a colon is missing after a name (line 1, column 6)"],
    ["{} {}", "there is text after the end of the value (line 1, column 4)"],
    ['{"a": "x\ny"}', "a string does not end on its line (line 1, column 7)"],
    [`${"[".repeat(70)}`, "arrays and objects are nested more than 64 deep (MAX_DEPTH) (line 1, column 66)"],
    ["", "a value is missing (line 1, column 1)"],
  ])("that breaks says where: %j", (text, message) => {
    expect(thrown(() => read(text)).message).toBe(`the configuration is not valid JSON: ${message}`);
  });

  it("reads what JSON.parse reads, and the same", () => {
    const files = ["package.json", "packages/mcp/package.json", "biome.json", "package-lock.json"];
    for (const file of files) {
      const text = readFileSync(new URL(`../../../../../${file}`, import.meta.url), "utf8");
      const nested = `{ "servers": {}, "rest": ${text} }`;
      expect(() => read(nested)).not.toThrow();
      expect(
        read(text.replace(/^\{/, '\uFEFF// c\n{ "servers": { "a": { "command": "\\u0063\\"" } },')).servers,
      ).toEqual({
        a: { command: 'c"' },
      });
    }
  });

  it.each([undefined, null, 5, [], {}, { servers: [] }, { mcpServers: 5 }])(
    "without servers is a problem: %j",
    (config) => {
      expect(read(config)).toMatchObject({ servers: {}, problems: [{ severity: "error", path: "" }] });
    },
  );

  it("holds at most 1000 servers", () => {
    const servers = Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`s${at}`, { command: "c" }]));
    const found = read({ servers });
    expect(Object.keys(found.servers)).toHaveLength(1000);
    expect(found.problems).toMatchObject([{ path: "servers", message: expect.stringContaining("MAX_SERVERS") }]);
  });

  it("lists at most 1000 problems, and counts the rest", () => {
    const servers = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`s${at}`, { command: 1, url: 2 }]));
    const { problems } = read({ servers });
    expect(problems).toHaveLength(1001);
    expect(problems.at(-1)?.message).toBe("1000 more problems are not listed");
  });

  it("needs an environment and known options", () => {
    // What a program without types may pass.
    const loose = readServers as (config: unknown, options?: unknown) => unknown;
    expect(thrown(() => loose({})).message).toBe("`env` of readServers is missing");
    expect(thrown(() => loose({}, { env: {}, dialekt: "x" })).fix).toContain("`dialect`");
    expect(thrown(() => loose({}, { env: {}, dialect: "toString" })).fix).toContain("claude");
  });
});

function thrown(run: () => unknown): McpError {
  try {
    run();
  } catch (error) {
    if (McpError.is(error)) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}
