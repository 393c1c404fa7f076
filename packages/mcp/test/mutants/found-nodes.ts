import type { Mutant } from "./mutant.js";

/** Defects of several nodes on one storage that were found once, written back into the sources. */
export const FOUND_NODES: readonly Mutant[] = [
  {
    name: "limit-ends-sessions-of-other-nodes",
    recreates: "a node's limit of sessions ends sessions that are busy on another node",
    file: "transport/http/session/session-room.ts",
    search: "if (store.alone) return",
    replace: "if (store.alone || session.id !== undefined) return",
    tests: ["test/nodes/session-limits.test.ts"],
  },
  {
    name: "sessions-of-other-nodes-unbounded",
    recreates: "a node remembers every session that it ever served, beyond its limits",
    file: "transport/http/session/store.ts",
    search: "        this.room.makeRoomForKnown(principal?.key);\n",
    replace: "",
    tests: ["test/nodes/session-limits.test.ts"],
  },
  {
    name: "silent-node-is-idle",
    recreates: "a node's limit of sessions ends a session that is busy on a node that does not answer in time",
    file: "transport/http/session/nodes/session-nodes.ts",
    search: "    for (const node of silent) if (await this.#lease.isHeldBy(node)) return false;\n",
    replace: "",
    tests: ["test/nodes/session-limits.test.ts"],
  },
  {
    name: "late-node-unseen",
    recreates: "a node's limit of sessions ends a session that another node has begun to serve after the question",
    file: "transport/http/session/nodes/session-nodes.ts",
    search: "kv.delete(key, { ifVersion: stored.version })",
    replace: "kv.delete(key)",
    tests: ["test/nodes/session-limits.test.ts"],
  },
  {
    name: "demoted-primary-kept",
    recreates:
      "after a planned failover of Redis a node keeps its connection to the former primary and never writes again",
    file: "packages/redis/src/commands.ts",
    search: "      this.#route.retire(node, error);\n",
    replace: "",
    tests: ["packages/redis/test/failover.test.ts"],
  },
  {
    name: "readiness-only-reads",
    recreates: "a node whose storage refuses writes says that it is ready",
    file: "transport/http/probes.ts",
    search: 'await kv.set("http/ready", "1", { ttlMs: KEY_MS });',
    replace: 'await kv.get("http/ready");',
    tests: ["test/telemetry/probes.test.ts"],
  },
  {
    name: "call-of-ended-session-acknowledged",
    recreates: "a call whose session ends is answered with an empty 202, and official clients wait for their time-out",
    file: "transport/http/server/exchange.ts",
    search: "this.#end(isResumable ? undefined : { text: error.answerTo(this.id) });",
    replace: "this.#end(undefined);",
    tests: ["test/http/ended-sessions.test.ts"],
  },
  {
    name: "streamed-call-of-ended-session-unanswered",
    recreates: "the event stream of a call whose session ends is closed without an answer",
    file: "transport/http/session/session.ts",
    search: "      for (const stream of streams) stream.abandon();\n",
    replace: "      for (const stream of streams) void stream.close(true);\n",
    tests: ["test/http/ended-sessions.test.ts"],
  },
  {
    name: "draining-connections-kept",
    recreates: "replies of a server that drains keep their connections alive",
    file: "node/http/handler.ts",
    search: "response.shouldKeepAlive = false;\n    const headers",
    replace: "response.shouldKeepAlive = true;\n    const headers",
    tests: ["test/http/drain.test.ts"],
  },
];
