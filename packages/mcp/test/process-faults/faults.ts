import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { platform } from "../../src/node/platform.js";
import { stdioTransport } from "../../src/node/stdio/stdio-client.js";
import type { Spawn } from "../../src/platform/platform.js";
import { eventually, isRunning, parentOf, stateOf } from "../stdio/processes.js";
import { RawClient } from "../stdio/raw-client.js";

/** The programs that faults happen to, as files that plain Node runs. */
export interface Programs {
  server: string;
  host: string;
}

/** What one fault led to. */
export interface Outcome {
  fault: string;
  /** Processes that still ran three seconds later, and children of this process that nobody waited for. */
  left: number[];
  /** From the moment the fault could be seen to the last rejection, in milliseconds, where something was pending. */
  rejectedAfter?: number;
  /** What went against the rules. */
  problems: string[];
}

export type Fault = (programs: Programs) => Promise<Outcome>;

const foreign = fileURLToPath(new URL("../stdio/fixtures/foreign-server.mjs", import.meta.url));
const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "faults", version: "1.0.0" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** One client and the process it started. */
class Run {
  readonly client: RawClient;
  readonly pids: number[] = [];
  readonly problems: string[] = [];
  /** When this process was first told that the server, or its stdout, has ended. */
  readonly faultSeen: Promise<number>;
  #waiting = 0;

  constructor(command: string, args: string[]) {
    let seen: () => void = () => {};
    this.faultSeen = new Promise((resolve) => {
      seen = () => {
        resolve(performance.now());
        this.#expectRejections();
      };
    });
    const watched = watchedSpawn(
      (pid) => this.pids.push(pid),
      () => seen(),
    );
    const transport = stdioTransport({ command, args }, { ...platform, spawn: watched });
    this.client = new RawClient(transport);
  }

  /** Calls a tool and returns its text. */
  async call(name: string): Promise<string> {
    const result = await this.client.ask("tools/call", { name, arguments: {}, _meta: META });
    return (result as { content: { text: string }[] }).content[0]?.text ?? "";
  }

  /** Calls that never end by themselves, and the time of the last rejection once all have ended. */
  pending(): Promise<number> {
    const calls = Array.from({ length: 5 }, async () => {
      this.#waiting++;
      await this.call("wait").then(
        () => this.problems.push("a pending request was answered"),
        () => {},
      );
      this.#waiting--;
    });
    return Promise.all(calls).then(() => performance.now());
  }

  /**
   * Looks after 50 ms by a timer of this very event loop: on a busy machine that timer is late by as much as those of the
   * transport are, so that the rule is judged and not the load.
   */
  #expectRejections(): void {
    setTimeout(() => {
      setImmediate(() =>
        setImmediate(() => {
          if (this.#waiting > 0) this.problems.push(`${this.#waiting} requests were pending after 50 ms`);
        }),
      );
    }, 50);
  }

  async outcome(fault: string, rejectedAfter?: number): Promise<Outcome> {
    const since = performance.now();
    await this.client.transport.close();
    if (performance.now() - since > 4000) this.problems.push("close took longer than 4 s");
    if (this.client.endings.length > 1) this.problems.push("closed was told more than once");
    const left = await leftOver(this.pids);
    return { fault, left, problems: this.problems, ...(rejectedAfter === undefined ? {} : { rejectedAfter }) };
  }
}

function watchedSpawn(started: (pid: number) => void, ended: () => void): Spawn {
  return (options) => {
    const child = platform.spawn?.(options);
    if (child === undefined) throw new Error("no processes here");
    if (child.pid !== undefined) started(child.pid);
    const listen = child.on.bind(child);
    child.on = (events) =>
      listen({
        stdout: (chunk) => events.stdout(chunk),
        stderr: (chunk) => events.stderr(chunk),
        drained: () => events.drained(),
        stdoutClosed() {
          ended();
          events.stdoutClosed();
        },
        exited(end) {
          ended();
          events.exited(end);
        },
      });
    return child;
  };
}

async function leftOver(pids: readonly number[]): Promise<number[]> {
  const left = () => pids.filter((pid) => isRunning(pid) || (stateOf(pid) === "Z" && parentOf(pid) === process.pid));
  await eventually(() => left().length === 0, 3000);
  return left();
}

const started = async (server: string) => {
  const run = new Run(process.execPath, [server]);
  await run.client.open();
  await run.call("pid");
  return run;
};

const killServer: Fault = async ({ server }) => {
  const run = await started(server);
  const pending = run.pending();
  process.kill(run.pids[0] ?? 0, "SIGKILL");
  const seen = await run.faultSeen;
  return run.outcome("kill -9 of the server", (await pending) - seen);
};

const killServerWithGrandchild: Fault = async ({ server }) => {
  const run = await started(server);
  run.pids.push(Number(await run.call("grandchild-with-stdout")));
  const pending = run.pending();
  process.kill(run.pids[0] ?? 0, "SIGKILL");
  const seen = await run.faultSeen;
  return run.outcome("kill -9 of the server while a grandchild holds its stdout", (await pending) - seen);
};

const killShell: Fault = async ({ server }) => {
  const run = new Run("sh", ["-c", `"${process.execPath}" "${server}"; exit $?`]);
  await run.client.open();
  run.pids.push(Number(await run.call("pid")));
  const pending = run.pending();
  process.kill(run.pids[0] ?? 0, "SIGKILL");
  const seen = await run.faultSeen;
  return run.outcome("kill -9 of the shell between client and server", (await pending) - seen);
};

const grandchildren: Fault = async ({ server }) => {
  const run = await started(server);
  for (let i = 0; i < 2; i++) run.pids.push(Number(await run.call("grandchild")));
  return run.outcome("close with grandchildren that ignore SIGTERM");
};

const ignoresTerm: Fault = async ({ server }) => {
  const run = await started(server);
  await run.call("ignore-everything");
  const pending = run.pending();
  const since = performance.now();
  const outcome = run.outcome("close of a server that ignores EOF and SIGTERM");
  const rejectedAfter = (await pending) - since;
  return { ...(await outcome), rejectedAfter };
};

const closesStdout: Fault = async ({ server }) => {
  const run = await started(server);
  const pending = run.pending();
  await run.call("close-stdout").catch(() => {});
  const seen = await run.faultSeen;
  return run.outcome("stdout closed while the server lives", (await pending) - seen);
};

const floodsStderr: Fault = async ({ server }) => {
  const run = await started(server);
  if ((await run.call("stderr-flood")) !== "flooded") run.problems.push("the flood was not answered");
  return run.outcome("10 MB on stderr");
};

const hosts = new Set<ChildProcess>();

/** Ends the client programs of faults that did not come to their end. */
export function endHosts(): void {
  for (const host of hosts) host.kill("SIGTERM");
}

/** Ends a client program in some way and looks for what it leaves behind. */
function hostFault(fault: string, mode: "wait" | "exit", args: string[], signal?: NodeJS.Signals): Fault {
  return async ({ server, host }) => {
    const target = args.length > 0 ? args : [server];
    const child = spawn(process.execPath, [host, mode, process.execPath, ...target], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    hosts.add(child);
    const exited = once(child, "exit");
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    if (signal !== undefined) child.kill(signal);
    await exited;
    return {
      fault,
      left: await leftOver([...line.toString().trim().split(" ").map(Number), child.pid ?? 0]),
      problems: [],
    };
  };
}

const stubborn = [foreign, "ignore-eof,ignore-term"];

/** Every kind of fault, the frequent ones more often. */
export const FAULTS: readonly Fault[] = [
  killServer,
  killServer,
  killServerWithGrandchild,
  killShell,
  grandchildren,
  ignoresTerm,
  closesStdout,
  floodsStderr,
  hostFault("kill -9 of the client", "wait", [], "SIGKILL"),
  hostFault("SIGTERM to a client of a foreign server that ignores EOF", "wait", stubborn, "SIGTERM"),
  hostFault("SIGINT to a client of a foreign server that ignores EOF", "wait", stubborn, "SIGINT"),
  hostFault("exit of a client that never closed", "exit", stubborn),
];

/** Causes `count` faults, `width` at a time. */
export async function causeFaults(programs: Programs, count: number, width: number): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let next = 0;
  const lane = async () => {
    for (let index = next++; index < count; index = next++) {
      const fault = FAULTS[index % FAULTS.length];
      if (fault !== undefined) outcomes.push(await fault(programs));
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  return outcomes;
}
