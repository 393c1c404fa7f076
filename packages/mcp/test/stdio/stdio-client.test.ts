import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import type { LaunchReportData } from "../../src/node/stdio/launch-report.js";
import { type StdioOptions, stdioTransport } from "../../src/node/stdio/stdio-client.js";
import { McpError } from "../../src/protocol/error.js";
import { eventually, isRunning } from "./processes.js";
import { RawClient } from "./raw-client.js";

const foreign = fileURLToPath(new URL("./fixtures/foreign-server.mjs", import.meta.url));
const open: RawClient[] = [];

async function start(faults = "", options: Partial<StdioOptions> = {}): Promise<RawClient> {
  const client = new RawClient(stdioTransport({ command: process.execPath, args: [foreign, faults], ...options }));
  open.push(client);
  return client.open();
}

async function failureOf(request: Promise<unknown>): Promise<McpError & { data: LaunchReportData }> {
  const error = await request.then(
    () => new Error("the request was answered"),
    (reason: unknown) => reason,
  );
  if (!McpError.is(error)) throw error;
  return error as McpError & { data: LaunchReportData };
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.transport.close()));
});

describe("a server that cannot be started says why", () => {
  it("missing binary: names the command and how to give its path", async () => {
    const client = new RawClient(stdioTransport({ command: "no-such-program-anywhere" }));
    const error = await failureOf((await client.open()).ask("ping"));
    expect(error.kind).toBe("connect_failed");
    expect(error.data).toMatchObject({ reason: "missing_binary", command: "no-such-program-anywhere" });
    expect(error.message).toContain("no-such-program-anywhere");
    expect(error.fix).toContain("PATH");
    expect(client.endings).toHaveLength(1);
  });

  it("missing environment: names the variable, and gives it when asked to", async () => {
    const error = await failureOf((await start("needs-env")).ask("ping"));
    expect(error.data).toMatchObject({ reason: "missing_env", exitCode: 1, resolvedPath: process.execPath });
    expect(error.message).toContain("EXAMPLE_API_KEY is required");
    expect(error.fix).toContain("EXAMPLE_API_KEY");
    const fixed = await start("needs-env", { env: { EXAMPLE_API_KEY: "k" } });
    expect(await fixed.ask("ping", { a: 1 })).toEqual({ a: 1 });
  });

  it("syntax error: quotes the interpreter", async () => {
    const folder = mkdtempSync(join(tmpdir(), "parley-"));
    const file = join(folder, "broken.mjs");
    writeFileSync(file, "const x = ;\n");
    const error = await failureOf((await start("", { args: [file] })).ask("ping"));
    rmSync(folder, { recursive: true });
    expect(error.data.reason).toBe("syntax_error");
    expect(error.data.stderr.join("\n")).toContain("const x = ;");
    expect(error.message).toContain("SyntaxError");
  });

  it("missing module: points at the arguments", async () => {
    const error = await failureOf((await start("", { args: ["/no/such/server.js"] })).ask("ping"));
    expect(error.data.reason).toBe("missing_module");
    expect(error.fix).toContain("`args`");
  });

  it("text on stdout instead of messages: quotes the first line", async () => {
    const error = await failureOf((await start("banner-exit")).ask("ping"));
    expect(error.data).toMatchObject({ reason: "stdout_noise", firstNonJsonLine: "usage: foreign-server [options]" });
    expect(error.message).toContain("usage: foreign-server");
  });

  it("text on stdout without end: gives up", async () => {
    const endless =
      "const text = 'y\\n'.repeat(30000); const print = () => process.stdout.write(text, print); print();";
    const client = await start("", { args: ["-e", endless] });
    const error = await failureOf(client.ask("ping"));
    expect(error.data).toMatchObject({ reason: "stdout_noise", firstNonJsonLine: "y" });
    expect(client.faults).toHaveLength(1000);
    await client.transport.close();
  });

  it("exit 1: gives the code and the last lines of stderr", async () => {
    const error = await failureOf((await start("exit-1")).ask("ping"));
    expect(error.data).toMatchObject({ reason: "exited", exitCode: 1, stderr: ["the database is locked"] });
    expect(error.message).toContain("exited with code 1");
    expect(error.message).toContain("the database is locked");
  });

  it("a hang: the transport explains a timeout with what it saw", async () => {
    const client = await start("hang,banner");
    const pending = client.ask("ping").catch(() => {});
    expect(await eventually(() => client.faults.length > 0)).toBe(true);
    const error = client.transport.explain?.(new Error("timed out")) as McpError & { data: LaunchReportData };
    expect(error.kind).toBe("connect_failed");
    expect(error.data).toMatchObject({ reason: "stdout_noise", nonJsonLines: 1 });
    const silent = (await start("hang")).transport.explain?.(new Error("timed out")) as McpError;
    expect(silent.data).toMatchObject({ reason: "no_answer" });
    await client.transport.close();
    await pending;
  });

  it("a folder that does not exist is not taken for a missing program", async () => {
    const error = await failureOf((await start("", { cwd: "/no/such/folder" })).ask("ping"));
    expect(error.data.reason).toBe("bad_cwd");
  });

  it("a file that may not be executed", async () => {
    const error = await failureOf((await start("", { command: foreign })).ask("ping"));
    expect(error.data.reason).toBe("not_executable");
  });
});

describe("what a running server prints and holds", () => {
  it("STDIO-06: lines that are no messages are skipped, counted and reported; the connection lives", async () => {
    const client = await start("banner,noise");
    expect(await client.ask("echo", { n: 1 })).toEqual({ n: 1 });
    expect(client.faults).toHaveLength(3);
    for (const fault of client.faults) expect(McpError.from(fault).data).toEqual({ line: expect.any(String) });
    expect(client.faults[0]?.message).toContain('"Foreign server v1.2.3');
  });

  it("lines that are no messages are reported a thousand times at most; the connection lives", async () => {
    const client = await start("");
    expect(await client.ask("chatter", { lines: 2000 })).toEqual({ lines: 2000 });
    expect(await client.ask("chatter", { lines: 20_000 })).toEqual({ lines: 20_000 });
    expect(await client.ask("echo", { n: 1 })).toEqual({ n: 1 });
    expect(client.faults.length).toBeLessThanOrEqual(1000);
  });

  it("STDIO-04: 10 MB on stderr do not stall the server", async () => {
    const client = await start("stderr-flood");
    expect(await client.ask("echo", { n: 1 })).toEqual({ n: 1 });
  });

  it("stderr goes line by line to the function that was given", async () => {
    const lines: string[] = [];
    const client = await start("exit-1", { stderr: (line) => void lines.push(line) });
    await failureOf(client.ask("ping"));
    expect(lines).toEqual(["the database is locked"]);
  });

  it("a child inherits a short list of names, and what was named, but no secrets", async () => {
    process.env.PARLEY_TEST_API_KEY = "secret";
    process.env.PARLEY_TEST_EXTRA = "extra";
    const client = await start("", { env: { OWN: "1" }, inheritEnv: ["PARLEY_TEST_EXTRA"] });
    const environment = await client.ask("environment");
    expect(environment).toMatchObject({ OWN: "1", PARLEY_TEST_EXTRA: "extra", PATH: process.env.PATH });
    expect(environment).not.toHaveProperty("PARLEY_TEST_API_KEY");
  });

  it("no shell reads the arguments", async () => {
    const client = await start("; echo hacked; $(id)");
    expect(await client.ask("echo", { n: 1 })).toEqual({ n: 1 });
    expect(client.faults).toEqual([]);
  });
});

describe("a server that ends", () => {
  it("answers that were written before the end all arrive, whatever holds the pipe", async () => {
    const client = await start("grandchild-holds-stdout");
    const answers = Array.from({ length: 200 }, (_, i) => client.ask("silence", {}, 1000 + i));
    void client.ask("answer-and-exit", { first: 1000, count: 200, bytes: 64 * 1024 }).catch(() => {});
    for (const answer of await Promise.all(answers)) expect(answer).toHaveLength(64 * 1024);
  });

  it("a request that gets no answer rejects with exit code and stderr, and `closed` comes once", async () => {
    const client = await start();
    await client.ask("echo");
    const error = await failureOf(client.ask("exit", { code: 7 }));
    expect(error.kind).toBe("connection_closed");
    expect(error.data).toMatchObject({ reason: "exited", exitCode: 7 });
    await client.transport.close();
    expect(client.endings).toHaveLength(1);
    expect((await failureOf(client.ask("late"))).kind).toBe("connection_closed");
  });

  it("a server that closes stdout but lives rejects what is pending and is ended", async () => {
    const client = await start();
    const pid = Number(await client.ask("pid"));
    const error = await failureOf(client.ask("close-stdout"));
    expect(error.data.reason).toBe("stdout_closed");
    await client.transport.close();
    expect(isRunning(pid)).toBe(false);
  });

  it("a server that closes its stdin does not break the host (EPIPE)", async () => {
    const client = await start();
    await client.ask("close-stdin");
    void client.ask("echo", { text: "x".repeat(1_000_000) }).catch(() => {});
    await client.transport.close();
  });
});

describe("close", () => {
  it("STDIO-10: closing stdin is enough for a good server", async () => {
    const client = await start();
    const pid = Number(await client.ask("pid"));
    await client.transport.close();
    expect(isRunning(pid)).toBe(false);
    expect(client.endings).toEqual([]);
  });

  it("a server that ignores EOF and SIGTERM is ended; what is pending rejects first", async () => {
    const client = await start("ignore-eof,ignore-term");
    const pid = Number(await client.ask("pid"));
    const order: string[] = [];
    const pending = failureOf(client.ask("silence")).finally(() => order.push("rejected"));
    await Promise.all([client.transport.close(), client.transport.close()]).finally(() => order.push("closed"));
    expect((await pending).kind).toBe("connection_closed");
    expect(order).toEqual(["rejected", "closed"]);
    expect(await eventually(() => !isRunning(pid))).toBe(true);
  });

  it("grandchildren end with the server, also those that ignore SIGTERM", async () => {
    let grandchild = 0;
    const note = (line: string) => {
      grandchild = Number(/grandchild (\d+)/.exec(line)?.[1] ?? grandchild);
    };
    const client = await start("grandchild", { stderr: note });
    await client.ask("echo");
    expect(await eventually(() => grandchild > 0)).toBe(true);
    expect(isRunning(grandchild)).toBe(true);
    await client.transport.close();
    expect(await eventually(() => !isRunning(grandchild))).toBe(true);
  });

  it("before open, twice, and while the process starts", async () => {
    const never = stdioTransport({ command: process.execPath, args: [foreign] });
    await never.close();
    const client = await start();
    await Promise.all([client.transport.close(), client.transport.close()]);
  });

  it("file descriptors come back", async () => {
    const count = () => readdirSync("/proc/self/fd").length;
    const before = count();
    for (let round = 0; round < 2; round++) {
      const clients = await Promise.all([start(), start("grandchild-holds-stdout"), start("stderr-flood")]);
      await Promise.all(clients.map((client) => client.ask("echo")));
      await Promise.all(clients.map((client) => client.transport.close()));
    }
    expect(await eventually(() => Math.abs(count() - before) <= 2)).toBe(true);
  });
});
