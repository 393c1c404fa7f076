// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references of configurations look like placeholders
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, McpError, Server } from "@parley/mcp";
import {
  type AppConfig,
  configVariables,
  defineConfig,
  type HttpSettings,
  type LoadConfigOptions,
  type LoadedConfig,
  loadConfig,
  type Settings,
  type StdioSettings,
} from "@parley/mcp/config";
import { Host } from "@parley/mcp/host";
import { readConfigFile, type ServeHttpOptions, type ServeStdioOptions, serveHttp } from "@parley/mcp/node";
import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from "vitest";

const file = (content: unknown, folder = "/w") => ({ path: "/w/parley.config.json", folder, content });

function refused(options: LoadConfigOptions): McpError {
  try {
    loadConfig(options);
  } catch (error) {
    if (McpError.is(error)) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

const messageOf = (options: LoadConfigOptions) => refused(options).message;

describe("loadConfig", () => {
  it("lets each source win over those before it, setting by setting", () => {
    const config = loadConfig({
      defaults: { http: { port: 1, host: "a", path: "/a", limits: { maxStreams: 1 } }, server: { pageSize: 1 } },
      file: file('{ "http": { "port": 2, "host": "b", "path": "/b", "limits": { "maxSessions": 2 }, }, } // mine'),
      env: { PARLEY_HTTP_PORT: "3", PARLEY_HTTP_HOST: "c", OTHER: "x", PARLEY_CONFIG: "f", PARLEY_HOME: "d" },
      overrides: { http: { port: 4, path: undefined } },
    });
    expect(config.http).toEqual({ port: 4, host: "c", path: "/b", limits: { maxStreams: 1, maxSessions: 2 } });
    expect(config.server).toEqual({ pageSize: 1 });
    expect(config.client).toEqual({});
    expect(config.from).toEqual({
      "http.port": "overrides",
      "http.host": "PARLEY_HTTP_HOST",
      "http.path": "file",
      "http.limits.maxStreams": "defaults",
      "http.limits.maxSessions": "file",
      "server.pageSize": "defaults",
    });
  });

  it.each<[string, string, keyof LoadedConfig, object]>([
    ["PARLEY_SERVER_PAGE_SIZE", "20", "server", { pageSize: 20 }],
    ["PARLEY_SERVER_LIST_CHANGED", "off", "server", { listChanged: false }],
    ["PARLEY_SERVER_SECRET", "a,b", "server", { secret: "a,b" }],
    ["PARLEY_SERVER_SECRET", '["a","b"]', "server", { secret: ["a", "b"] }],
    ["PARLEY_SERVER_CACHE_TOOLS_TTL_MS", "0", "server", { cache: { tools: { ttlMs: 0 } } }],
    ["PARLEY_SERVER_TOOLS_OVERFLOW", "link", "server", { tools: { overflow: "link" } }],
    ["PARLEY_CLIENT_TIMEOUTS_IDLE_MS", " 500 ", "client", { timeouts: { idleMs: 500 } }],
    ["PARLEY_CLIENT_HEADERS", '{"X-A":"b"}', "client", { headers: { "X-A": "b" } }],
    ["PARLEY_HTTP_ALLOWED_HOSTS", "a.test, b.test", "http", { allowedHosts: ["a.test", "b.test"] }],
    ["PARLEY_HTTP_HEALTH_PATH", "false", "http", { healthPath: false }],
    ["PARLEY_HTTP_SESSIONS", "Yes", "http", { sessions: true }],
    ["PARLEY_HTTP_SESSIONS", "auto", "http", { sessions: "auto" }],
    ["PARLEY_HOST_DEFAULTS_PER_SECOND", "0.5", "host", { defaults: { perSecond: 0.5 } }],
    ["PARLEY_HOST_CIRCUIT", "off", "host", { circuit: false }],
    ["PARLEY_HOST_CIRCUIT_OPEN_MS", "50", "host", { circuit: { openMs: 50 } }],
    ["PARLEY_STDIO_GUARD_STDOUT", "0", "stdio", { guardStdout: false }],
  ])("reads %s=%s", (name, text, section, expected) => {
    expect(loadConfig({ env: { [name]: text } })[section]).toEqual(expected);
  });

  it("turns a group off or on again as a whole", () => {
    const off = file({ host: { health: false } });
    expect(loadConfig({ defaults: { host: { health: { failures: 2 } } }, file: off })).toMatchObject({
      host: { health: false },
      from: { "host.health": "file" },
    });
    const on = loadConfig({ file: off, env: { PARLEY_HOST_HEALTH_FAILURES: "5" } });
    expect(on.host).toEqual({ health: { failures: 5 } });
    expect(on.from).toEqual({ "host.health.failures": "PARLEY_HOST_HEALTH_FAILURES" });
    expect(refused({ env: { PARLEY_HOST_HEALTH: "true" } }).message).toContain("must be false or an object");
  });

  it("refuses keys and variables that do not exist, all at once, with the nearest that does", () => {
    const error = refused({
      file: file({ http: { prot: 1, limits: { maxStream: 1 } }, sever: {}, server: { onError: "x" } }),
      env: { PARLEY_HTTP_PROT: "1", PARLEY_ZZZ: "1" },
      overrides: { client: { nmae: "x" } } as AppConfig,
    });
    expect(error.kind).toBe("invalid_definition");
    expect(error.message.split("\n")).toEqual([
      'the configuration is invalid: http.prot: "prot" is not a setting; did you mean "port"?',
      'http.limits.maxStream: "maxStream" is not a setting; did you mean "maxStreams"?',
      'sever: "sever" is not a setting; did you mean "server"?',
      expect.stringMatching(/^server.onError: "onError" is not a setting/),
      'PARLEY_HTTP_PROT: "PARLEY_HTTP_PROT" is not a known variable; did you mean "PARLEY_HTTP_PORT"?',
      'PARLEY_ZZZ: "PARLEY_ZZZ" is not a known variable',
      'client.nmae: "nmae" is not a setting; did you mean "name"?',
    ]);
    expect(error.fix).toBe("Write `port`.");
    expect(error.data).toMatchObject({ problems: [{ path: "http.prot" }, {}, {}, {}, {}, {}, {}] });
  });

  it("refuses values that do not fit, and never shows them", () => {
    const CANARY = "c4n4ry";
    const error = refused({
      file: file({
        http: { port: CANARY, cors: CANARY },
        server: { secret: 5, maskErrors: CANARY, instructions: `\${${CANARY}!}` },
      }),
      env: {
        PARLEY_HTTP_MAX_CONNECTIONS: "0",
        PARLEY_HTTP_SESSIONS: CANARY,
        PARLEY_SERVER_INVALID_ARGUMENTS: CANARY,
        PARLEY_CLIENT_HEADERS: `{"a":"${CANARY}`,
        PARLEY_CLIENT_STRICT: "constructor",
        PARLEY_CLIENT_MAX_ROUNDS: "1e3",
      },
    });
    expect(error.message.replace(/^.*invalid: /, "").split("\n")).toEqual([
      "http.port: the value must be a whole number, 0 or above",
      "http.cors: the value must be an object",
      "server.secret: the value must be a string or a list of strings",
      "server.maskErrors: the value must be true or false",
      "server.instructions: the text has a `${…}` that is not a valid reference",
      "PARLEY_HTTP_MAX_CONNECTIONS: the value must be a whole number above 0",
      'PARLEY_HTTP_SESSIONS: the value must be true, false or "auto"',
      'PARLEY_SERVER_INVALID_ARGUMENTS: the value must be one of "result", "protocol"',
      "PARLEY_CLIENT_HEADERS: the value must be an object whose values are strings",
      "PARLEY_CLIENT_STRICT: the value must be true or false",
      "PARLEY_CLIENT_MAX_ROUNDS: the value must be a whole number above 0",
    ]);
    expect(JSON.stringify([error.message, error.fix, error.data, error.stack])).not.toContain(CANARY);
    expect(refused({ file: file(`{ "a": ${CANARY} }`) }).message).not.toContain(CANARY);
    expect(refused({ file: file([CANARY]) }).message).toBe("the configuration is invalid: the file must be an object");
  });

  it("fills in references of the file, and only there", () => {
    const config = loadConfig({
      file: file({ server: { secret: ["${S}", "${file:old}"], instructions: "${NONE:-none}" } }),
      env: { S: "s1", PARLEY_CLIENT_NAME: "${S}" },
      readFile: (path) => `${path}\n`,
    });
    expect(config.server).toEqual({ secret: ["s1", "/w/old"], instructions: "none" });
    expect(config.client).toEqual({ name: "${S}" });
    expect(refused({ file: file({ client: { headers: { A: "${NONE}" } } }) }).message).toContain(
      "client.headers: the variable NONE is not set",
    );
  });

  it("gives the servers of a host, whose problems disable them alone", () => {
    const config = loadConfig({
      defaults: { servers: { a: { command: "default" }, d: { command: "d" } } },
      file: file({ servers: { a: { command: "${CMD}" }, b: { command: "${NONE}" } }, inputs: [] }),
      env: { CMD: "x" },
    });
    expect(config.servers).toEqual({ a: { command: "x" }, b: { disabled: true }, d: { command: "d" } });
    expect(config.problems).toMatchObject([{ path: "servers.b.command" }]);
  });

  it("refuses a server that is required and cannot be used", () => {
    const servers = { a: { command: "${NONE}", required: true }, b: { command: "${NONE}" } };
    const error = refused({ file: file({ servers }) });
    expect(error.message).toBe("the configuration is invalid: servers.a.command: the variable NONE is not set");
  });

  it("has one variable for each setting", () => {
    const names = configVariables();
    expect(new Set(names).size).toBe(names.length);
    expect(names).toContain("PARLEY_HTTP_LIMITS_MAX_STREAMS_PER_PRINCIPAL");
    // A number, a flag, a text or a list: whatever it wants, each name is known.
    const text = messageOf({ env: Object.fromEntries(names.map((name) => [name, "\u0000"])) });
    expect(text).toContain("PARLEY_HTTP_PORT: the value must be");
    expect(text).not.toContain("is not a variable");
  });

  it("follows the options that it sets", () => {
    expectTypeOf<HttpSettings>().toExtend<ServeHttpOptions>();
    expectTypeOf<Settings<ServeHttpOptions>>().toExtend<HttpSettings>();
    expectTypeOf<keyof Settings<ServeHttpOptions>>().toEqualTypeOf<keyof HttpSettings>();
    expectTypeOf<StdioSettings>().toExtend<ServeStdioOptions>();
    expectTypeOf<keyof Settings<ServeStdioOptions>>().toEqualTypeOf<keyof StdioSettings>();
  });
});

it("a host takes what was loaded, and a server that cannot be used stays out of the way", async () => {
  const seen: (string | undefined)[] = [];
  const server = new Server({ name: "s", version: "1" }).tool("hello", {}, () => "hi").tool("hidden", {}, () => "no");
  const handle = await serveHttp(server, {
    port: 0,
    authenticate: (request) => {
      seen.push(request.header("x-key"));
      return { key: "host" };
    },
  });
  const config = loadConfig({
    file: file({
      host: { startWaitMs: 20_000, health: false },
      servers: {
        good: { url: "${URL}", headers: { "X-Key": "${KEY}" }, tools: { deny: ["hidden"] } },
        bad: { command: "${NONE}" },
      },
    }),
    env: { URL: handle.url, KEY: "k" },
  });
  const host = new Host({ ...config.host, servers: config.servers });
  try {
    await host.start();
    expect(host.tools().map(({ name }) => name)).toEqual(["good__hello"]);
    expect(await host.call("good__hello")).toBe("hi");
    expect(new Set(seen)).toEqual(new Set(["k"]));
    expect(config.problems).toMatchObject([{ server: "bad", path: "servers.bad.command" }]);
  } finally {
    await host.close();
    await handle.close();
  }
});

describe("readConfigFile", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "parley-config-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("finds JSON, and what it sets is used", async () => {
    writeFileSync(join(folder, "token"), "s3cret\n");
    writeFileSync(
      join(folder, "parley.config.json"),
      '{ // comment\n "http": { "port": 0, "path": "/x" }, "server": { "pageSize": 1, "instructions": "${file:token}" } }',
    );
    const config = loadConfig({ file: await readConfigFile({ folder }), env: { PARLEY_HTTP_PATH: "/y" } });
    expect(config.server).toEqual({ pageSize: 1, instructions: "s3cret" });
    const server = new Server({ name: "s", version: "1" }, config.server)
      .tool("a", {}, () => "a")
      .tool("b", {}, () => "b");
    const handle = await serveHttp(server, config.http);
    expect(new URL(handle.url).pathname).toBe("/y");
    const client = await connect(handle.url, config.client);
    const first: { tools: unknown[]; nextCursor?: string } = (await client.request("tools/list")) as never;
    expect(first.tools).toHaveLength(1);
    await client.close();
    await handle.close();
  });

  it("imports a module", async () => {
    writeFileSync(join(folder, "parley.config.mjs"), "export default { client: { name: 'from-module' } };");
    const found = await readConfigFile({ folder });
    expect(found).toMatchObject({ folder, content: { client: { name: "from-module" } } });
    expect(loadConfig({ file: found }).client).toEqual({ name: "from-module" });
  });

  it("finds nothing where there is nothing, but refuses a file that was asked for", async () => {
    expect(await readConfigFile({ folder })).toBeUndefined();
    await expect(readConfigFile({ folder, file: "own.json" })).rejects.toThrow(/own\.json cannot be read \(ENOENT\)/);
    writeFileSync(join(folder, "own.mjs"), "export const config = {};");
    await expect(readConfigFile({ folder, file: "own.mjs" })).rejects.toThrow("has no default export");
    writeFileSync(join(folder, "big.json"), " ".repeat(1024 * 1024 + 1));
    await expect(readConfigFile({ folder, file: "big.json" })).rejects.toThrow("MAX_CONFIG_BYTES");
  });
});

it("defineConfig gives back what it got", () => {
  const config: AppConfig = { server: { pageSize: 5 } };
  expect(defineConfig(config)).toBe(config);
  // @ts-expect-error functions are set in the program
  defineConfig({ server: { onError: () => {} } });
});
