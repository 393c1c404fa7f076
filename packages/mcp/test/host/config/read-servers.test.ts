// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references of configurations look like placeholders
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readServers } from "@parley/mcp/config";
import { describe, expect, it } from "vitest";

const env = { TOKEN: "t-123", EMPTY: "", HOME: "/home/me" };
const read = (config: unknown, more: Partial<Parameters<typeof readServers>[1]> = {}) =>
  readServers(config, { env, ...more });
const one = (entry: object, more: Partial<Parameters<typeof readServers>[1]> = {}) => {
  const { servers, problems } = read({ servers: { a: entry } }, more);
  return { server: servers.a, problems };
};

describe("readServers takes the files of", () => {
  it("Claude", () => {
    const { servers, problems, dialect } = read(`{
      "mcpServers": {
        "fs": { "command": "npx", "args": ["-y", "fs"], "env": { "KEY": "\${TOKEN}", "LEVEL": "\${LEVEL:-info}" } },
        "api": { "type": "http", "url": "https://a.test/mcp", "headers": { "Authorization": "Bearer \${TOKEN}" }, "timeout": 5000 },
        "old": { "type": "sse", "url": "https://a.test/sse", "oauth": { "clientId": "x" } }
      },
      "projects": {}
    }`);
    expect(problems).toEqual([]);
    expect(dialect).toBe("claude");
    expect(servers).toEqual({
      fs: { command: "npx", args: ["-y", "fs"], env: { KEY: "t-123", LEVEL: "info" } },
      api: {
        transport: "http",
        url: "https://a.test/mcp",
        headers: { Authorization: "Bearer t-123" },
        callMs: 5000,
      },
      old: { transport: "sse", url: "https://a.test/sse" },
    });
  });

  it("Cursor, with comments, trailing commas and a file of variables", () => {
    const files: Record<string, string> = {
      "/w/.env": "# secrets\nexport A=1\nB='two words' # said\nC=\"x\\ny\"\nnot a line\nD=plain # note\n",
    };
    const { servers, problems } = read(
      `// my servers
      { "mcpServers": { /* local */ "db": {
        "command": "\${workspaceFolder}/bin/db", "envFile": ".env", "env": { "B": "own" }, "args": ["\${userHome}\${/}data",],
      }, }, }`,
      { baseFolder: "/w", dialect: "cursor", readFile: (path) => files[path] ?? "" },
    );
    expect(problems).toEqual([]);
    expect(servers.db).toEqual({
      command: "/w/bin/db",
      args: ["/home/me/data"],
      env: { A: "1", B: "own", C: "x\ny", D: "plain" },
    });
  });

  it("VS Code, and asks for its inputs", () => {
    const config = {
      inputs: [{ type: "promptString", id: "key", description: "API key", password: true }],
      servers: {
        api: { type: "http", url: "https://a.test/mcp", headers: { "X-Key": "${input:key}" } },
        local: {
          type: "stdio",
          command: "node",
          cwd: "${workspaceFolder}",
          env: { N: 1, NONE: null, H: "${env:HOME}" },
          dev: {},
        },
      },
    };
    const asked: unknown[] = [];
    const { servers, problems, inputs, dialect } = read(config, {
      workspaceFolder: "/w",
      input: (id, declared) => {
        asked.push([id, declared?.password]);
        return "typed";
      },
    });
    expect({ problems, dialect, asked }).toEqual({ problems: [], dialect: "vscode", asked: [["key", true]] });
    expect(inputs).toEqual([{ type: "promptString", id: "key", description: "API key", password: true }]);
    expect(servers.api?.headers).toEqual({ "X-Key": "typed" });
    expect(servers.local).toEqual({ transport: "stdio", command: "node", cwd: "/w", env: { N: "1", H: "/home/me" } });
    const unanswered = read(config, { workspaceFolder: "/w" });
    expect(unanswered.servers.api?.disabled).toBe(true);
    expect(unanswered.servers.local?.disabled).toBeUndefined();
    expect(unanswered.problems).toMatchObject([
      { path: "servers.api.headers.X-Key", message: 'the input "key" has no value' },
    ]);
  });

  it("Codex, parsed from TOML, whose texts stand as they are", () => {
    const { servers, problems, dialect } = read({
      model: "x",
      mcp_servers: {
        docs: {
          url: "https://a.test/mcp",
          bearer_token_env_var: "TOKEN",
          http_headers: { "X-Region": "eu" },
          env_http_headers: { "X-Home": "HOME" },
          startup_timeout_sec: 2.5,
          tool_timeout_sec: 60,
          enabled: false,
          enabled_tools: ["search"],
          disabled_tools: ["drop"],
          tools: { search: { approval_mode: "approve" } },
        },
        shell: { command: "sh", args: ["-c", "echo ${HOME}"], env_vars: ["PATH", { name: "LANG" }], required: true },
      },
    });
    expect({ problems, dialect }).toEqual({ problems: [], dialect: "codex" });
    expect(servers.docs).toEqual({
      url: "https://a.test/mcp",
      headers: { Authorization: "Bearer t-123", "X-Region": "eu", "X-Home": "/home/me" },
      startMs: 2500,
      callMs: 60_000,
      disabled: true,
      tools: { allow: ["search"], deny: ["drop"] },
    });
    expect(servers.shell).toEqual({
      command: "sh",
      args: ["-c", "echo ${HOME}"],
      inheritEnv: ["PATH", "LANG"],
      required: true,
    });
  });

  it("Gemini, where `$NAME` is a variable too", () => {
    const { servers, problems, dialect } = read({
      mcpServers: {
        a: {
          httpUrl: "https://a.test/mcp",
          headers: { K: "$TOKEN" },
          trust: true,
          includeTools: ["x"],
          excludeTools: ["y"],
        },
        b: { url: "https://a.test/sse", timeout: 30_000, trust: false },
        c: { command: "node", env: { PRICE: "5$ or $MISSING" } },
      },
    });
    expect(dialect).toBe("gemini");
    expect(servers.a).toEqual({
      transport: "http",
      url: "https://a.test/mcp",
      headers: { K: "t-123" },
      trust: "trusted",
      tools: { allow: ["x"], deny: ["y"] },
    });
    expect(servers.b).toEqual({ url: "https://a.test/sse", callMs: 30_000, trust: "untrusted" });
    expect(servers.c).toEqual({ command: "node", env: { PRICE: "5$ or $MISSING" } });
    expect(problems).toMatchObject([{ severity: "warning", path: "mcpServers.c.env.PRICE" }]);
  });

  it("our own form, with every field", () => {
    const entry = {
      command: "node",
      args: ["s.js"],
      env: { A: "1" },
      inheritEnv: ["LANG"],
      cwd: "/w",
      transport: "stdio",
      maxMessageBytes: 1024,
      disabled: false,
      required: true,
      trust: "trusted",
      startMs: 1000,
      callMs: 2000,
      tools: { allow: ["a"], deny: ["b"] },
      connections: 2,
      concurrency: 3,
      queue: 4,
      perSecond: 0.5,
      burst: 2,
      prefix: false,
      isolation: "client",
    };
    expect(one(entry)).toEqual({ server: entry, problems: [] });
  });
});

describe("a reference", () => {
  it.each([
    ["${TOKEN}", "t-123"],
    ["a${TOKEN}b${env:TOKEN}", "at-123bt-123"],
    ["${EMPTY}", ""],
    ["${EMPTY:-x}", "x"],
    ["${NONE:-}", ""],
    ["${env:NONE:-x:-y}", "x:-y"],
    ["${NONE:-${ALSO_NONE:-${TOKEN}}}", "t-123"],
    ["$${TOKEN}", "${TOKEN}"],
    ["$TOKEN and 5$", "$TOKEN and 5$"],
    ["${file:secret}", "from /w/secret"],
    ["${file:~/secret}", "from /home/me/secret"],
    ["${file:${HOME}/x}", "from /home/me/x"],
    ["${workspaceFolderBasename}", "w"],
  ])("%s gives %s", (text, value) => {
    const readFile = (path: string) => ` from ${path}\n`;
    const { server, problems } = one({ command: "c", args: [text] }, { baseFolder: "/w", readFile });
    expect(problems).toEqual([]);
    expect(server?.args).toEqual([value]);
  });

  it("to a file is read from the disk where there is one, and only from an ordinary file of bounded size", () => {
    const folder = fs.mkdtempSync(join(tmpdir(), "parley-servers-"));
    fs.writeFileSync(join(folder, "token"), "\uFEFF s3cret\n");
    fs.writeFileSync(join(folder, "big"), "x".repeat(65_537));
    const read = (name: string) => one({ command: "c", args: [`\${file:${name}}`] }, { baseFolder: folder, files: fs });
    try {
      expect(read("token").server?.args).toEqual(["s3cret"]);
      expect(read("big").problems[0]?.message).toContain("MAX_FILE_BYTES");
      expect(read(".").problems[0]?.message).toMatch(/cannot be read: (it is not a regular file|EISDIR)/);
      expect(read("none").problems[0]?.message).toBe('the file "none" cannot be read: ENOENT');
      expect(one({ command: "c", args: ["${file:token}"] }).problems[0]?.fix).toBe("Pass `readFile` or `files`.");
    } finally {
      fs.rmSync(folder, { recursive: true, force: true });
    }
  });

  it("is not looked for in a value that was filled in", () => {
    const { server } = one(
      { command: "c", args: ["${A}", "${file:f}"] },
      {
        env: { A: "${TOKEN}", TOKEN: "t" },
        readFile: () => "${TOKEN}",
      },
    );
    expect(server?.args).toEqual(["${TOKEN}", "${TOKEN}"]);
    const header = one(
      { url: "http://x", env_http_headers: { K: "A" }, bearer_token_env_var: "A" },
      { env: { A: "${B}" } },
    );
    expect(header).toEqual({
      server: { url: "http://x", headers: { K: "${B}", Authorization: "Bearer ${B}" } },
      problems: [],
    });
  });

  it.each([
    ["${NONE}", "the variable NONE is not set"],
    ["${constructor}", "the variable constructor is not set"],
    ["${TOKEN", "the text has a `${` without a closing `}`"],
    ["${}", "the text has a `${…}` that is not a valid reference"],
    ["${a b}", "the text has a `${…}` that is not a valid reference"],
    ["${command:ls}", "the text has a `${command:…}`, which only its own editor can fill in"],
    ["${file:gone}", 'the file "gone" cannot be read: ENOENT'],
    ["${file:big}", 'the file "big" cannot be read: it is longer than 65536 bytes (MAX_FILE_BYTES)'],
    ["${file:later}", 'the file "later" cannot be read: `readFile` must return a string, not a promise'],
    [`${"${A:-".repeat(10)}${"}".repeat(10)}`, "the text nests references more than 8 deep (MAX_NESTING)"],
  ])("%s disables its server alone", (text, message) => {
    const readFile = (path: string): string => {
      if (path === "big") return "x".repeat(65_537);
      // What a program without types may do.
      if (path === "later") return Promise.reject(new Error("late")) as unknown as string;
      throw Object.assign(new Error("no such secret"), { code: "ENOENT" });
    };
    const { servers, problems } = read(
      { servers: { a: { command: "c", env: { KEY: text } }, b: { command: "c" } } },
      { readFile },
    );
    expect(servers).toEqual({ a: { command: "c", disabled: true }, b: { command: "c" } });
    expect(problems).toEqual([
      expect.objectContaining({ severity: "error", server: "a", path: "servers.a.env.KEY", message }),
    ]);
    expect(problems[0]?.fix).not.toBe("");
  });
});
