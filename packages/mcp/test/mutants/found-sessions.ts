import type { Mutant } from "./mutant.js";

/** Findings of reviews about sessions, written back into the sources. */
export const FOUND_SESSIONS: readonly Mutant[] = [
  {
    name: "full-storage-loses-answers",
    recreates: "an answer that the event log cannot store is not sent to the client that waits for it",
    file: "transport/http/session/logged-stream.ts",
    search:
      "    if (entry !== PRIMING && entry !== END) connection.write(encodeEvent({ data: entry.slice(1) }));\n    this.#endAfter(entry, connection);",
    replace: "",
    tests: ["test/http/full-storage.test.ts"],
  },
  {
    name: "unread-messages-fill-the-storage",
    recreates: "messages for clients that never read take the storage of all sessions",
    file: "transport/http/session/session.ts",
    search: "return first?.byGet === true || !this.opened ? this.stream(GET_STREAM_ID, false) : undefined;",
    replace: "return this.stream(GET_STREAM_ID, false);",
    tests: ["test/http/full-storage.test.ts"],
  },
  {
    name: "busy-stream-outlives-credentials",
    recreates: "expiry of credentials is looked at only when a stream is quiet",
    file: "transport/http/server/sse-connection.ts",
    search: "this.#expiry = atExpiry(state.platform, principal, () => this.lose());",
    replace: "this.#expiry = undefined;",
    tests: ["test/http/expiry.test.ts"],
  },
  {
    name: "channel-outlives-credentials",
    recreates: "expiry of credentials is not looked at on sockets and WebSockets",
    file: "transport/channel/server.ts",
    search: "const expiry = atExpiry(platform, options.principal, () => connection.close());",
    replace: "const expiry = atExpiry(platform, undefined, () => connection.close());",
    tests: ["test/stdio/expiring-credentials.test.ts"],
  },
  {
    name: "sessions-without-share",
    recreates: "one principal takes the sessions of all others",
    file: "transport/http/session/principal-shares.ts",
    search: "return largest !== undefined && largest.size > own + 1 ? idle.longestIdle(largest) : undefined;",
    replace: "return largest !== undefined && own < 0 ? idle.longestIdle(largest) : undefined;",
    tests: ["test/http/expiry.test.ts"],
  },
  {
    name: "sessions-per-principal-unlimited",
    recreates: "no limit of sessions per principal",
    file: "transport/http/session/principal-shares.ts",
    search: "if (own !== undefined && own.size >= limits.maxSessionsPerPrincipal) {",
    replace: "if (own !== undefined && own.size < 0) {",
    tests: ["test/http/expiry.test.ts"],
  },
  {
    name: "client-of-any-length",
    recreates: "a few sessions with large `clientInfo` fill the storage",
    file: "server/call/dispatch.ts",
    search: "  if (own.session !== undefined) checkClientLength(own.session, call.facts.limits.clientLength);",
    replace: "",
    tests: ["test/http/large-clients.test.ts"],
  },
  {
    name: "subscriptions-without-total",
    recreates: "subscriptions of many peers together have no bound",
    file: "server/changes/subscriptions.ts",
    search: "if (this.#hub.length + (added ?? length) > totalSubscriptionLength) {",
    replace: "if (this.#hub.length < 0) {",
    tests: ["test/http/large-clients.test.ts"],
  },
];
