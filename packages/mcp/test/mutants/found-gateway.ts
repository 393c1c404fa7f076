import type { Mutant } from "./mutant.js";

/** Defects of hosts and gateways that were found once, written back into the sources. */
export const FOUND_GATEWAY: readonly Mutant[] = [
  {
    name: "gateway-passes-unexpected-errors",
    recreates: "newcomer H4: strangers read the texts of unexpected errors of servers behind a gateway",
    file: "host/gateway/forward-error.ts",
    search: 'return masksErrors(call) ? mark["reference"].slice(0, MAX_REFERENCE) : undefined;',
    replace: "return undefined;",
    tests: ["test/host/gateway/strangers.test.ts"],
  },
  {
    name: "unexpected-errors-without-mark",
    recreates:
      "newcomer H4: a gateway cannot tell the text of an unexpected error from one that was meant for the caller",
    file: "server/call/call-failure.ts",
    search: "return maskOption(call) === false ? { message } : { message, data: { kind, reference } };",
    replace: "return masksErrors(call) ? { message, data: { kind, reference } } : { message };",
    tests: ["test/host/gateway/strangers.test.ts"],
  },
  {
    name: "gateway-passes-addresses",
    recreates: "host M1: addresses and command lines in errors of the host reach the clients of a gateway",
    file: "host/gateway/forward-error.ts",
    search: "throw CALLER_KINDS.has(error.kind) ? error : neutralError(error, call, server);",
    replace: 'throw error.kind === "connection_closed" ? neutralError(error, call, server) : error;',
    tests: ["test/host/gateway/neutral-errors.test.ts"],
  },
  {
    name: "isolated-lists-pass-errors",
    recreates: "host M1: a list of a server that does not start for its client has the command line in its error",
    file: "host/gateway/host-source.ts",
    search: "throw forwardError(error, call, { server: server.name, names: undefined, connected: false });",
    replace: "throw error;",
    tests: ["test/host/gateway/neutral-errors.test.ts"],
  },
  {
    name: "questions-declared-to-programs-only",
    recreates: "host M4: a shared server over HTTP does not list tools that need sampling or elicitation",
    file: "host/server-entry.ts",
    search: "forwards() && entry.server === undefined ? ANY_QUESTION",
    replace: "forwards() && startsProcess ? ANY_QUESTION",
    tests: ["test/host/gateway/declared-questions.test.ts"],
  },
  {
    name: "changes-without-pause",
    recreates: "host M5: a server that announces a change with every list is listed without end",
    file: "client/changes/change-queue.ts",
    search: "return last + Math.min(FIRST_PAUSE_MS * 2 ** beyond, MAX_PAUSE_MS) - now;",
    replace: "return 0;",
    tests: ["test/host/relisting.test.ts", "src/client/changes/change-pace.test.ts"],
  },
  {
    name: "changes-in-the-same-turn",
    recreates: "host H1: lists are read again in microtasks, so that nothing else runs",
    file: "client/changes/change-queue.ts",
    search: "if (pauseMs <= 0) this.#platform.defer(due);",
    replace: "if (pauseMs <= 0) due();",
    tests: ["src/client/changes/change-pace.test.ts"],
  },
  {
    name: "roots-asked-of-the-application",
    recreates: "newcomer M11: roots of a client never reach a server that asks for them outside of a call",
    file: "host/gateway/forward-request.ts",
    search: "if (peer?.session !== undefined) server.setCallerChannel(peer, outsideChannel(call, peer));",
    replace: "if (peer?.session !== undefined) outsideChannel(call, peer);",
    tests: ["test/host/gateway/declared-questions.test.ts"],
  },
];
