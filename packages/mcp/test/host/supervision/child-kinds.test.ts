import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { createServer } from "node:net";
import { Worker } from "node:worker_threads";
import { connect, Server } from "@parley/mcp";
import { nodeHandler, serveHttp } from "@parley/mcp/node";
import { type ChildSpec, Supervisor } from "@parley/mcp/supervision";
import { afterEach, describe, expect, it } from "vitest";

const FAST = { firstMs: 1, longestMs: 1, jitter: 0 };
const open: Supervisor[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function running<C>(spec: Pick<ChildSpec<C>, "start"> & Partial<ChildSpec<C>>): Promise<Supervisor> {
  const supervisor = new Supervisor({ name: "s", backOff: FAST, children: [{ id: "a", ...spec }] });
  open.push(supervisor);
  await supervisor.start();
  return supervisor;
}

/** Resolves when the child has been started again. */
function again(supervisor: Supervisor): Promise<string | undefined> {
  let reason: string | undefined;
  return new Promise((resolve) => {
    supervisor.on("child", (event) => {
      reason = event.reason ?? reason;
      if (event.to === "running") resolve(reason);
    });
  });
}

const plain = () => new Server({ name: "plain", version: "1.0.0" }).tool("hello", {}, () => "hi");

describe("what a supervisor watches and ends by itself", () => {
  it("a client, which ends with its connection", async () => {
    const server = plain();
    const supervisor = await running({ start: () => connect(server) });
    const client = supervisor.child("a") as Awaited<ReturnType<typeof connect>>;
    expect(await client.call("hello")).toBe("hi");
    const restarted = again(supervisor);
    await client.close();
    expect(await restarted).toBe("closed");
    const second = supervisor.child("a") as typeof client;
    expect(await second.call("hello")).toBe("hi");
    await supervisor.close();
    expect(second.state).toBe("closed");
  });

  it("a handle that serves, which ends when it is closed", async () => {
    const server = plain();
    const supervisor = await running({ start: () => serveHttp(server, { port: 0 }) });
    const handle = supervisor.child("a") as Awaited<ReturnType<typeof serveHttp>>;
    const restarted = again(supervisor);
    await handle.close();
    expect(await restarted).toBe("closed");
    const { url } = supervisor.child("a") as typeof handle;
    const client = await connect(url);
    expect(await client.call("hello")).toBe("hi");
    await client.close();
  });

  it.each([
    ["throws", "throw new Error('burst')", "burst"],
    ["exits", "process.exit(3)", "exited with code 3"],
  ])("a worker thread that %s", async (_how, last, reason) => {
    const text = `require("node:worker_threads").parentPort.once("message", () => { ${last} })`;
    const start = async () => {
      const worker = new Worker(text, { eval: true });
      await once(worker, "online");
      return worker;
    };
    const supervisor = await running({ start });
    const restarted = again(supervisor);
    (supervisor.child("a") as Worker).postMessage("end");
    expect(await restarted).toBe(reason);
    const worker = supervisor.child("a") as Worker;
    await supervisor.close();
    expect(worker.threadId).toBe(-1);
  });

  it("a child process, also one that ignores the signal to end", async () => {
    const text = "process.on('SIGTERM', () => {}); console.log('up'); setInterval(() => {}, 1000)";
    const start = async () => {
      const child = spawn(process.execPath, ["-e", text], { stdio: ["ignore", "pipe", "inherit"] });
      await once(child.stdout, "data");
      return child;
    };
    const supervisor = await running({ start, stopMs: 50 });
    const first = supervisor.child("a") as ReturnType<typeof spawn>;
    const restarted = again(supervisor);
    first.kill("SIGKILL");
    expect(await restarted).toBe("exited with signal SIGKILL");
    const second = supervisor.child("a") as typeof first;
    await supervisor.close();
    expect(second.signalCode).toBe("SIGKILL");
  });

  it("a process that cannot be started fails, and is tried again", async () => {
    const supervisor = new Supervisor({ name: "s", backOff: FAST, intensity: { restarts: 2 } });
    await supervisor.start();
    void supervisor.startChild({ id: "a", start: () => spawn("/no/such/program") });
    expect((await supervisor.ended).reason).toContain("ENOENT");
  });

  it("another emitter, which ends with `close`", async () => {
    const start = async () => {
      const server = createServer();
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      return server;
    };
    const supervisor = await running({ start });
    const first = supervisor.child("a") as ReturnType<typeof createServer>;
    const restarted = again(supervisor);
    first.close();
    await restarted;
    const second = supervisor.child("a") as typeof first;
    await supervisor.close();
    expect(second.listening).toBe(false);
  });

  it("a handler, which is a function with an end", async () => {
    const supervisor = await running({ start: () => nodeHandler(plain()) });
    const first = supervisor.child("a") as ReturnType<typeof nodeHandler>;
    const restarted = again(supervisor);
    await first.close();
    expect(await restarted).toBe("closed");
    const second = supervisor.child("a") as typeof first;
    await supervisor.close();
    await second.closed;
  });

  it("an emitter whose error nobody else handles, which would end the process", async () => {
    const supervisor = await running({ start: () => new EventEmitter() });
    const restarted = again(supervisor);
    (supervisor.child("a") as EventEmitter).emit("error", new Error("reset"));
    expect(await restarted).toBe("reset");
  });

  it("no emitter whose error the program handles", async () => {
    const supervisor = await running({ start: () => new EventEmitter().on("error", () => {}) });
    const first = supervisor.child("a") as EventEmitter;
    first.emit("error", new Error("handled"));
    await new Promise((resolve) => setImmediate(resolve));
    expect(supervisor.child("a")).toBe(first);
  });

  it.each([
    ["asynchronously disposable", (done: () => void) => ({ [Symbol.asyncDispose]: async () => done() })],
    ["disposable", (done: () => void) => ({ [Symbol.dispose]: done })],
    ["with `close`", (done: () => void) => ({ close: done })],
  ])("anything %s is ended so", async (_how, make) => {
    let ended = 0;
    const supervisor = await running({ start: () => make(() => void ended++) });
    await supervisor.close();
    expect(ended).toBe(1);
  });

  it("a plain value, which only has a start", async () => {
    const supervisor = await running({ start: () => 42 });
    expect(supervisor.child("a")).toBe(42);
    await supervisor.close();
    expect(supervisor.child("a")).toBeUndefined();
  });
});
