import { type ChildProcessWithoutNullStreams, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  copyFileSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { bundleFixture } from "./bundle-fixture.js";
import { eventually, isRunning } from "./processes.js";

let fixture = "";
const children: ChildProcessWithoutNullStreams[] = [];

beforeAll(async () => {
  fixture = await bundleFixture(new URL("./fixtures/parley-server.ts", import.meta.url));
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

interface Answer {
  id?: number | string;
  result?: unknown;
  error?: { code: number; message: string };
}

/** A server process seen raw: what is written and read is bytes. */
function serve(...words: string[]) {
  const child = spawn(process.execPath, [fixture, ...words]);
  children.push(child);
  const chunks: Buffer[] = [];
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => void chunks.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  child.stdin.on("error", () => {});
  // Not `exit`: what the process wrote last may still be in the pipe then.
  const exited = once(child, "close") as Promise<[number | null, string | null]>;
  const lines = () => Buffer.concat(chunks).toString("utf8").split("\n").filter(Boolean);
  return {
    child,
    exited,
    lines,
    stderr: () => stderr,
    answers: () => lines().map((line) => JSON.parse(line) as Answer),
    write: (...messages: unknown[]) =>
      child.stdin.write(messages.map((message) => `${JSON.stringify(message)}\n`).join("")),
  };
}

const request = (id: number | string, method: string, params: unknown = {}) => ({ jsonrpc: "2.0", id, method, params });

describe("the handle of serveStdio", () => {
  it.each(["dispose", "drain"])("ends the process by %s while the client is still there", async (word) => {
    const server = serve("interval", word);
    expect(await server.exited).toEqual([0, null]);
    expect(server.stderr()).toBe("closed\n");
  });
});

describe("the end of the client", () => {
  it("STDIO-11: the process exits with code 0 after EOF although the program holds a timer", async () => {
    const server = serve("interval");
    server.write(request(1, "echo"));
    expect(await eventually(() => server.lines().length === 1)).toBe(true);
    server.child.stdin.end();
    expect(await server.exited).toEqual([0, null]);
    expect(server.stderr()).toContain("closed");
  });

  it("100 requests in flight at EOF are all answered", async () => {
    const server = serve();
    server.write(...Array.from({ length: 100 }, (_, id) => request(id, "sleep", { ms: 300 })));
    server.child.stdin.end();
    await server.exited;
    expect(new Set(server.answers().map(({ id }) => id)).size).toBe(100);
  });

  it("requests that outlast the drain do not keep the process", async () => {
    const server = serve("short-drain");
    server.write(request(1, "sleep", { ms: 60_000 }), request(2, "echo"));
    server.child.stdin.end();
    expect(await server.exited).toEqual([0, null]);
    expect(server.answers().map(({ id }) => id)).toEqual([2]);
  });

  it("what only the client could end does not hold the process: a question, a subscription", async () => {
    const server = serve();
    const params = { notifications: { toolsListChanged: true } };
    server.write(request(1, "ask"), request(2, "subscriptions/listen", params), request(3, "echo"));
    expect(await eventually(() => server.answers().some(({ id }) => id === 3))).toBe(true);
    server.child.stdin.end();
    expect(await server.exited).toEqual([0, null]);
    expect(server.answers().find(({ id }) => id === 1)?.error).toBeDefined();
    expect(server.answers().some(({ id }) => id === 2)).toBe(false);
  });

  it("a last line without newline is still answered at EOF", async () => {
    const server = serve();
    server.child.stdin.end(JSON.stringify(request("last", "echo", { a: 1 })));
    await server.exited;
    expect(server.answers()).toEqual([{ jsonrpc: "2.0", id: "last", result: { a: 1 } }]);
  });

  it("a client that stops reading in the middle of a reply ends the process with code 0 (EPIPE)", async () => {
    const rounds = Array.from({ length: 8 }, async (_, index) => {
      const server = serve();
      server.write(request(1, "fill", { bytes: 1024 * 1024 }));
      let seen = 0;
      server.child.stdout.on("data", (chunk: Buffer) => {
        seen += chunk.length;
        if (seen > index * 16 * 1024) server.child.stdout.destroy();
      });
      expect(await server.exited).toEqual([0, null]);
    });
    await Promise.all(rounds);
  });

  it("the parent's death ends the server although somebody else holds the pipes", async () => {
    // The streams are there: both are asked for as pipes, which the type of mixed `stdio` does not say.
    // A wrapper that gives its own pipes to the server and is killed alone; the far end of the FIFO stays open here.
    const fifo = join(tmpdir(), `parley-fifo-${process.pid}`);
    execFileSync("mkfifo", [fifo]);
    const stdin = openSync(fifo, "r+");
    rmSync(fifo);
    const wrapper = `const server = require("node:child_process").spawn(process.execPath, [process.argv[1]], { stdio: "inherit" });
      console.error(server.pid);`;
    const child = spawn(process.execPath, ["-e", wrapper, fixture], { stdio: [stdin, "pipe", "pipe"] });
    onTestFinished(() => closeSync(stdin));
    const [line] = (await once(child.stderr as Readable, "data")) as [Buffer];
    const pid = Number(line.toString());
    writeSync(stdin, `${JSON.stringify(request(1, "echo"))}\n`);
    await once(child.stdout as Readable, "data");
    expect(isRunning(pid)).toBe(true);
    child.kill("SIGKILL");
    expect(await eventually(() => !isRunning(pid))).toBe(true);
  });
});

describe("stdout belongs to the protocol", () => {
  it("STDIO-03: what the program prints goes to stderr, with one notice that names the place", async () => {
    const server = serve();
    server.write(request(1, "print"), request(2, "print"));
    server.child.stdin.end();
    await server.exited;
    expect(server.answers().map(({ result }) => result)).toEqual(["printed", "printed"]);
    expect(server.stderr().match(/a stray line/g)).toHaveLength(2);
    expect(server.stderr().match(/another/g)).toHaveLength(2);
    expect(server.stderr().match(/\[parley\]/g)).toHaveLength(1);
    expect(server.stderr()).toMatch(/\[parley\].*parley-server-\w+\.mjs:\d+:\d+/);
  });

  it("the guard can be switched off", async () => {
    const server = serve("no-guard");
    server.write(request(1, "print"));
    server.child.stdin.end();
    await server.exited;
    expect(server.lines()).toContain("a stray line");
  });
});

describe("volume", () => {
  it("200 concurrent replies of 64 KiB over a pipe: none is missing", async () => {
    const server = serve();
    server.write(...Array.from({ length: 200 }, (_, id) => request(id, "fill", { bytes: 64 * 1024 })));
    server.child.stdin.end();
    await server.exited;
    const answers = server.answers();
    expect(answers).toHaveLength(200);
    for (const { result } of answers) expect(result).toHaveLength(64 * 1024);
  });

  it("a client that does not read is not read from either, and is served when it reads again", async () => {
    const server = serve();
    server.child.stdout.pause();
    const lines = Array.from({ length: 20_000 }, (_, id) => JSON.stringify(request(id, "fill", { bytes: 1000 })));
    server.child.stdin.write(`${lines.join("\n")}\n`);
    // The server holds about 1 MiB of answers and then stops reading, so most of the requests stay on this side.
    const stalled = () => server.child.stdin.writableLength > 500_000;
    let steady = 0;
    expect(await eventually(() => ++steady > 30 && stalled())).toBe(true);
    server.child.stdout.resume();
    server.child.stdin.end();
    await server.exited;
    expect(server.answers()).toHaveLength(20_000);
  });

  it("a 64 MiB line in 1 KiB chunks is refused at the cap, and the connection lives", async () => {
    const server = serve();
    server.write(request(1, "memory"));
    expect(await eventually(() => server.answers().length === 1)).toBe(true);
    const chunk = Buffer.alloc(1024, "x");
    for (let i = 0; i < 64 * 1024; i++) {
      if (!server.child.stdin.write(chunk)) await once(server.child.stdin, "drain");
    }
    server.child.stdin.write("\n");
    server.write(request(2, "memory"));
    server.child.stdin.end();
    await server.exited;
    const [, refusal, after] = server.answers();
    expect(refusal?.error?.message).toContain("16777216 bytes");
    expect(refusal).not.toHaveProperty("id");
    expect(after?.id).toBe(2);
  });

  it("STDIO-05: one byte at a time, CRLF, blank lines, NUL, bad UTF-8 and half JSON leave the connection alive", async () => {
    const server = serve();
    const text = `${JSON.stringify(request(1, "echo", { text: "grüße \u2028 🎈" }))}\r\n\r\n\n`;
    for (const byte of Buffer.from(text)) server.child.stdin.write(Buffer.of(byte));
    server.child.stdin.write(Buffer.from([0xff, 0xfe, 0x0a, 0x00, 0x0a]));
    server.child.stdin.write('{"jsonrpc":"2.0","id":\nnoise\n');
    server.write(request(2, "echo"));
    server.child.stdin.end();
    await server.exited;
    const answers = server.answers();
    expect(answers[0]).toEqual({ jsonrpc: "2.0", id: 1, result: { text: "grüße \u2028 🎈" } });
    expect(answers.slice(1, -1).map(({ error }) => error?.code)).toEqual([-32700, -32700, -32700, -32700]);
    expect(answers.at(-1)?.id).toBe(2);
  });

  it("the same id twice in flight is refused the second time", async () => {
    const server = serve();
    server.write(request(7, "sleep", { ms: 50 }), request(7, "echo"));
    server.child.stdin.end();
    await server.exited;
    expect(server.answers().map(({ error }) => error?.code)).toEqual([-32600, undefined]);
  });

  it("stdin from a file and stdout to a file work like pipes", async () => {
    const script = `printf '%s\\n' '${JSON.stringify(request(1, "echo", { a: 1 }))}' > $0.in; "$1" "$2" < $0.in > $0.out; cat $0.out; rm $0.in $0.out`;
    const child = spawn("sh", ["-c", script, `/tmp/parley-file-${process.pid}`, process.execPath, fixture]);
    children.push(child);
    const [out] = (await once(child.stdout, "data")) as [Buffer];
    expect(JSON.parse(out.toString())).toEqual({ jsonrpc: "2.0", id: 1, result: { a: 1 } });
  });
});

const hasTerminal = /util-linux/.test(String(spawnSync("script", ["--version"]).stdout));
if (!hasTerminal) console.log("stdio: `script` of util-linux is not installed; nothing was started in a terminal");

describe.runIf(hasTerminal)("a person who starts the server in a terminal", () => {
  const PATH = `${dirname(process.execPath)}:${process.env["PATH"]}`;

  /** Starts the fixture on a pseudo-terminal that also is its stderr. Its stdout is a file. */
  function inTerminal(...words: string[]) {
    const folder = mkdtempSync(join(tmpdir(), "parley it's "));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    copyFileSync(fixture, join(folder, "my server.mjs"));
    writeFileSync(join(folder, "out"), "");
    const line = `node 'my server.mjs' ${words.join(" ")} > out`;
    const child = spawn("script", ["--quiet", "--return", "--command", line, "/dev/null"], {
      cwd: folder,
      env: { ...process.env, PATH },
    });
    children.push(child);
    let screen = "";
    child.stdout.on("data", (chunk: Buffer) => {
      screen += chunk.toString().replaceAll("\r", "");
    });
    const exited = once(child, "close") as Promise<[number | null, string | null]>;
    const out = () => readFileSync(join(folder, "out"), "utf8");
    return { child, exited, folder, out, screen: () => screen };
  }

  it("reads on stderr what it is and a command that works, and ends it with Ctrl-C", async () => {
    const terminal = inTerminal("'a b'", "it\\'s");
    expect(await eventually(() => terminal.screen().includes("Ctrl-C ends it."))).toBe(true);
    const command = String.raw`node 'my server.mjs' 'a b' 'it'\''s'`;
    expect(terminal.screen()).toBe(
      [
        "fixture 1.0.0 is an MCP server. An application starts this program and speaks JSON-RPC with it on stdin and stdout.",
        "To try it, run one of these instead:",
        `  npx @parley/cli inspect -- ${command}`,
        `  npx @parley/cli list -- ${command}`,
        `  npx @parley/cli call <tool> name=value -- ${command}`,
        "Ctrl-C ends it.",
        "",
      ].join("\n"),
    );
    expect(terminal.out()).toBe("");
    terminal.child.stdin.write("\u0003");
    expect(await terminal.exited).toEqual([130, null]);
    const input = `${JSON.stringify(request(1, "echo", { a: 1 }))}\n`;
    const piped = spawnSync("sh", ["-c", command], { cwd: terminal.folder, env: { ...process.env, PATH }, input });
    expect(String(piped.stdout)).toBe(`{"jsonrpc":"2.0","id":1,"result":{"a":1}}\n`);
    // Nothing about terminals where an application starts it.
    expect(String(piped.stderr)).toBe("closed\n");
  });

  it("gets an answer to a line that is no message, and is served until the end of the input", async () => {
    const terminal = inTerminal();
    expect(await eventually(() => terminal.screen().includes("Ctrl-C ends it."))).toBe(true);
    terminal.child.stdin.write("hello?\n");
    expect(await eventually(() => terminal.out().includes("\n"))).toBe(true);
    expect(JSON.parse(terminal.out())).toMatchObject({ error: { code: -32700 } });
    terminal.child.stdin.write("\u0004");
    expect(await terminal.exited).toEqual([0, null]);
    expect(terminal.screen().split("Ctrl-C ends it.")).toHaveLength(2);
  });

  it("reads nothing with `terminalHint: false`", async () => {
    const terminal = inTerminal("no-hint");
    terminal.child.stdin.write(`${JSON.stringify(request(1, "echo"))}\n`);
    expect(await eventually(() => terminal.out().includes("\n"))).toBe(true);
    terminal.child.stdin.write("\u0004");
    expect(await terminal.exited).toEqual([0, null]);
    expect(terminal.screen()).not.toContain("MCP server");
  });
});
