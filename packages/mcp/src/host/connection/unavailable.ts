import { McpError } from "../../protocol/error.js";

/** The error of a call to a server that will not be there soon. */
export function unavailable(name: string, cause: McpError): McpError {
  return new McpError("connection_closed", `the server "${name}" is not available: ${cause.message}`, {
    cause,
    fix: cause.fix,
  });
}

/** The error of a call that is one too many to wait for a server. */
export function tooManyWait(name: string, most: number): McpError {
  return new McpError("limit_exceeded", `${most} calls already wait for the server "${name}" to be ready`, {
    data: { limit: "MOST_WAITING", server: name, value: most },
    fix: "Call again when the server is ready, or limit its calls with `concurrency` and `queue`.",
  });
}

/** The error of a call whose server was not ready in time. */
export function notInTime(name: string, ms: number): McpError {
  return new McpError("timeout", `the server "${name}" was not ready within ${ms} ms`, {
    data: { limit: "waitMs", ms },
    fix: "Try again later, or look at the status of the server; `startMs` is how long it may take to start.",
  });
}

/** The error of a server that stands, and does not list what it offers in time. */
export function notListed(name: string, ms: number): McpError {
  return new McpError("timeout", `the server "${name}" did not list what it offers within ${ms} ms`, {
    data: { deadline: "startMs", ms },
    fix: "Raise `startMs` of the server, or look at what its lists wait for.",
  });
}

/** Whether a call ended because its connection did: it may or may not have run. */
export function isLost(error: unknown): boolean {
  return McpError.is(error) && (error.kind === "connection_closed" || error.kind === "session_lost");
}
