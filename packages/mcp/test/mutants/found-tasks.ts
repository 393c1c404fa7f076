import type { Mutant } from "./mutant.js";

const SIMULATION = ["test/simulation/tasks/tasks.test.ts"];

/** What must never happen to a task, written into the sources. */
export const FOUND_TASKS: readonly Mutant[] = [
  {
    name: "task-lease-unchecked",
    recreates: "a process that was taken for gone comes back and writes into a task that another one runs",
    file: "extensions/tasks/stored/leased-task.ts",
    search: "if (record.lease.token !== this.#token) return",
    replace: "if (record.lease.token < 0) return",
    tests: SIMULATION,
  },
  {
    name: "task-end-overwritten",
    recreates: "a handler that ends after the cancellation of its task overwrites it",
    file: "extensions/tasks/stored/leased-task.ts",
    search:
      'return isOver(record) ? new McpError("cancelled", record.statusMessage ?? "the task is over") : undefined;',
    replace: "return undefined;",
    tests: SIMULATION,
  },
  {
    name: "task-cancelled-after-its-end",
    recreates: "a cancellation that comes late takes the result of a task away",
    file: "extensions/tasks/task-server.ts",
    search: 'if (!isOver(found)) return ended(found, "cancelled"',
    replace: 'if (found.id !== "") return ended(found, "cancelled"',
    tests: SIMULATION,
  },
  {
    name: "task-cancel-not-stored",
    recreates: "a client is told that its task is cancelled before that is stored",
    file: "extensions/tasks/task-server.ts",
    search: "const record = await this.#runner.change(id, (found) => {",
    replace:
      "const record = await this.#runner.read(id);\n    void this.#server.platform.timer(500, () => void change.catch(() => {}));\n    const change = this.#runner.change(id, (found) => {",
    tests: SIMULATION,
  },
  {
    name: "task-step-not-stored-first",
    recreates: "a step is done before it is stored that it begins, so that another process does it again",
    file: "extensions/tasks/task-asker.ts",
    search: "    await this.#task.change((record) => withStep(record, key, { begun: true }));\n",
    replace: "",
    tests: SIMULATION,
  },
  {
    name: "task-resumed-in-a-step",
    recreates: "a task goes on after a step that had begun, and does it twice",
    file: "extensions/tasks/task-record.ts",
    search: "if (begun.length === 0 && (done.length > 0 || wasAsked)) return { ...record, lease, stalls };",
    replace:
      "if (begun.length + done.length > 0 || wasAsked) return { ...record, lease, stalls, steps: Object.fromEntries(done) };",
    tests: SIMULATION,
  },
  {
    name: "task-begins-again",
    recreates: "a handler without steps runs again on another process, although its tool does not allow that",
    file: "extensions/tasks/task-record.ts",
    search: "  if (record.retry > 0) {\n",
    replace: "  if (record.retry >= 0) {\n",
    tests: SIMULATION,
  },
  {
    name: "task-runs-twice",
    recreates: "a task that was taken over is taken over again by the same process, and runs twice at once",
    file: "extensions/tasks/take-over.ts",
    search: "!isOver(found) && !this.#runs.has(id) && (found.lease.node",
    replace: "!isOver(found) && (found.lease.node",
    tests: ["test/extensions/tasks/take-over.test.ts", ...SIMULATION],
  },
  {
    name: "task-owner-not-compared",
    recreates: "whoever has the id of a task reads its result, answers its questions and cancels it",
    file: "extensions/tasks/task-server.ts",
    search: "  return owner === ((exchange.principal ?? exchange.peer?.principal)?.key ?? null);",
    replace: "  return owner !== undefined && exchange !== undefined;",
    tests: SIMULATION,
  },
  {
    name: "task-told-to-others",
    recreates: "a stream of changes tells of a task of another caller",
    file: "extensions/tasks/task-server.ts",
    search: "(record !== undefined && isOwner(record, call) ? [record.id] : [])",
    replace: "(record !== undefined ? [record.id] : [])",
    tests: SIMULATION,
  },
  {
    name: "task-answers-nobody-asked-for",
    recreates: "answers to questions that a task has not asked are stored, and used by questions that come later",
    file: "extensions/tasks/task-record.ts",
    search: "const known = Object.entries(given).filter(([name]) => Object.hasOwn(record.questions, name));",
    replace: "const known = Object.entries(given);",
    tests: SIMULATION,
  },
  {
    name: "task-claims-stored",
    recreates: "the claims of a caller's token are written into the storage",
    file: "era/stored-call.ts",
    search: "const { claims: _claims, ...identity } = principal;",
    replace: "const identity = principal;",
    tests: SIMULATION,
  },
  {
    name: "task-expired-before-stored",
    recreates: "a beat takes a task for expired that is being stored, and nobody runs it",
    file: "extensions/tasks/task-run.ts",
    search: "if (!this.#began || this.#ended) return;",
    replace: "if (this.#ended) return;",
    tests: SIMULATION,
  },
  {
    name: "task-of-a-client-that-left",
    recreates: "a call becomes a task after its client has gone, and nobody runs it",
    file: "extensions/tasks/task-runner.ts",
    search: "      if (signal.aborted) throw McpError.from(signal.reason);\n",
    replace: "",
    tests: ["test/extensions/tasks/seeds.test.ts"],
  },
  {
    name: "task-close-fails-with-the-storage",
    recreates: "a server does not close because its storage fails",
    file: "extensions/tasks/stored/task-nodes.ts",
    search: "    }).catch((error: unknown) => this.#warn(error));\n",
    replace: "    });\n",
    tests: ["test/extensions/tasks/seeds.test.ts"],
  },
  {
    name: "task-result-never-answered",
    recreates:
      "a client waits for ever for a result on a connection that is gone, although it sees the end of the task",
    file: "extensions/tasks/followed-task.ts",
    search: "    if (this.#awaitsEnd) this.#result = undefined;\n",
    replace: "",
    tests: ["test/extensions/tasks/seeds.test.ts"],
  },
  {
    name: "task-cancelled-by-a-lost-answer",
    recreates: "a client cancels a task because the connection broke while it sent an answer",
    file: "extensions/tasks/followed-task.ts",
    search:
      '    await this.#patiently(pushes, signal, () => this.#client.request("tasks/update", params, { signal }));\n',
    replace:
      '    await this.#client.request("tasks/update", params, { signal }).catch(async (error: unknown) => {\n      await this.cancel();\n      throw error;\n    });\n',
    tests: ["test/extensions/tasks/patient-client.test.ts"],
  },
  {
    name: "ended-session-opened-again",
    recreates: "a GET request that was on its way opens a session again that its client has ended, and it stays open",
    file: "transport/http/session/store.ts",
    search: "if (!session.opened && this.#sessions.get(session.id) === session) this.#open(session);",
    replace: "if (!session.opened) this.#open(session);",
    tests: ["test/http/ended-sessions.test.ts"],
  },
];
