// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references of configurations look like placeholders
import { McpError } from "@parley/mcp";
import { type ConfigDialect, type ConfigProblem, readServers, writeServers } from "@parley/mcp/config";
import type { HostServer } from "@parley/mcp/host";
import { describe, expect, it } from "vitest";

type Servers = Record<string, HostServer>;

/** A file of each application, as people write them. */
const FILES: Record<ConfigDialect, object> = {
  parley: {
    servers: {
      fs: {
        command: "node",
        args: ["${file:a}", "$${x}"],
        inheritEnv: true,
        perSecond: 0.5,
        prefix: false,
        tools: { deny: ["rm"] },
      },
      web: {
        url: "https://a.test/${PATH_PART:-mcp}",
        headers: { K: "${input:key}" },
        required: true,
        trust: "trusted",
      },
      off: { command: "x", disabled: true },
    },
  },
  claude: {
    mcpServers: {
      fs: { command: "npx", args: ["-y", "fs", "${ROOT:-/tmp}"], env: { KEY: "${KEY}" } },
      web: { type: "http", url: "https://a.test/mcp", headers: { Authorization: "Bearer ${TOKEN}" }, timeout: 5000 },
      old: { type: "sse", url: "https://a.test/sse" },
    },
  },
  cursor: {
    mcpServers: {
      fs: { type: "stdio", command: "${workspaceFolder}/fs", args: ["${userHome}"], env: { KEY: "${env:KEY}" } },
      web: { url: "https://a.test/mcp", headers: { "X-Key": "${env:KEY}" } },
    },
  },
  vscode: {
    inputs: [{ type: "promptString", id: "key", description: "key", password: true }],
    servers: {
      fs: { type: "stdio", command: "npx", cwd: "${workspaceFolder}", env: { KEY: "${input:key}" } },
      web: { type: "http", url: "https://a.test/mcp", headers: { "X-Key": "${env:KEY}" } },
    },
  },
  codex: {
    mcp_servers: {
      fs: { command: "npx", args: ["${plain}"], env_vars: ["LANG"], cwd: "/w", enabled: false, required: true },
      web: {
        url: "https://a.test/mcp",
        bearer_token_env_var: "TOKEN",
        http_headers: { A: "1" },
        env_http_headers: { B: "B_VAR" },
        startup_timeout_sec: 2.5,
        tool_timeout_sec: 60,
        enabled_tools: ["a"],
        disabled_tools: ["b"],
      },
    },
  },
  gemini: {
    mcpServers: {
      fs: { command: "npx", env: { KEY: "$KEY", X: "${X}" }, cwd: "./w", timeout: 30_000, trust: true },
      web: { httpUrl: "https://a.test/mcp", headers: { K: "v" }, includeTools: ["a"], excludeTools: ["b"] },
      auto: { url: "https://a.test/x" },
      old: { url: "https://a.test/sse", type: "sse" },
    },
  },
};
const DIALECTS = Object.keys(FILES) as ConfigDialect[];

const read = (config: unknown, dialect: ConfigDialect): Servers => {
  const { servers, problems } = readServers(config, { env: {}, dialect, expand: false });
  expect(problems).toEqual([]);
  return servers;
};

/** The servers without what the problems say was left out, and with the transport that some forms must name. */
function without(servers: Servers, problems: readonly ConfigProblem[]): Servers {
  const copy: Record<string, Record<string, unknown>> = structuredClone(servers) as never;
  for (const { severity, server = "", path } of problems) {
    if (severity === "error") delete copy[server];
    else delete copy[server]?.[path.split(".")[2] ?? ""];
  }
  return named(copy);
}

/** An address without a transport, and values that say no more than leaving them out, are the same in every form. */
function named(servers: Record<string, HostServer>): Servers {
  return Object.fromEntries(
    Object.entries(servers).map(([name, { transport, trust, disabled, required, ...server }]) => [
      name,
      {
        ...server,
        ...(transport === "sse" ? { transport } : {}),
        ...(trust === "trusted" ? { trust } : {}),
        ...(disabled === true ? { disabled } : {}),
        ...(required === true ? { required } : {}),
      },
    ]),
  );
}

describe("writeServers", () => {
  it.each(DIALECTS)("gives back a file of %s as it was", (dialect) => {
    const servers = read(FILES[dialect], dialect);
    const { config, problems } = writeServers(servers, dialect);
    expect(problems).toEqual([]);
    expect(read(config, dialect)).toEqual(servers);
    // As the file was written, but for the two notations of one variable, and a default that is spelled out.
    const spelled = JSON.stringify(FILES[dialect]).replace('"$KEY"', () => '"${KEY}"');
    expect(config).toEqual(JSON.parse(spelled));
  });

  it.each(DIALECTS.flatMap((from) => DIALECTS.map((to): [ConfigDialect, ConfigDialect] => [from, to])))(
    "carries the servers of %s to %s, and names what it cannot carry",
    (from, to) => {
      const servers = read(FILES[from], from);
      const { config, problems } = writeServers(servers, to);
      expect(named(read(config, to))).toEqual(without(servers, problems));
      expect(problems.every(({ message, fix }) => message !== "" && fix !== "")).toBe(true);
    },
  );

  it("leaves out a server that would be another one, and never says a value", () => {
    const servers: Servers = {
      off: { command: "x", disabled: true },
      secret: { url: "https://a.test/mcp", headers: { K: "s3cret ${file:s3cret}" } },
      broken: { command: "s3cret ${" },
      limited: { command: "x", concurrency: 2, connections: 1 },
    };
    const { config, problems } = writeServers(servers, "claude");
    expect(config).toEqual({ mcpServers: { limited: { command: "x" } } });
    expect(problems.map(({ severity, path }) => `${severity} ${path}`)).toEqual([
      "error servers.off.disabled",
      "error servers.secret.headers.K",
      "error servers.broken.command",
      "warning servers.limited.concurrency",
    ]);
    expect(JSON.stringify(problems)).not.toContain("s3cret");
  });

  it("keeps what looks like a reference and is none", () => {
    for (const text of ["${", "$${", "$$${a}", "a$", "${a}${"]) {
      const servers = read({ mcp_servers: { a: { command: "c", args: [text] } } }, "codex");
      const filled = readServers(writeServers(servers, "parley").config, { env: {} });
      expect(filled).toMatchObject({ servers: { a: { args: [text] } }, problems: [] });
      expect(writeServers(servers, "codex").config).toEqual({ mcp_servers: { a: { command: "c", args: [text] } } });
    }
    const price = readServers(
      { mcpServers: { a: { command: "c", args: ["$$PRICE"] } } },
      { env: {}, dialect: "gemini", expand: false },
    );
    expect(price.problems).toMatchObject([{ message: "the text has a `$` directly before a reference" }]);
  });

  it("refuses a dialect that does not exist", () => {
    expect(() => writeServers({}, "toString" as ConfigDialect)).toThrow(McpError);
  });
});
