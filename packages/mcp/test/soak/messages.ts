import type { RawConnection } from "./raw-connection.js";

const ACCEPT = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const META = JSON.stringify({
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "soak", version: "1.0.0" },
  "io.modelcontextprotocol/clientCapabilities": {},
});

export interface RawMessage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const CALL_HEADERS = {
  ...ACCEPT,
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "tools/call",
  "mcp-name": "echo",
};

/** A call of `echo`, in a session or, without one, in the stateless era. */
export function echoCall(id: number, nonce: number, session?: string): RawMessage {
  const meta = session === undefined ? `,"_meta":${META}` : "";
  return {
    headers: session === undefined ? CALL_HEADERS : sessionHeaders(session),
    body: `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"echo","arguments":{"nonce":${nonce}}${meta}}}`,
  };
}

/** A request for the list of tools, over HTTP or, without its headers, over a pipe. */
export function listCall(id: number): RawMessage {
  return {
    headers: { ...ACCEPT, "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" },
    body: `{"jsonrpc":"2.0","id":${id},"method":"tools/list","params":{"_meta":${META}}}`,
  };
}

/** A `subscriptions/listen` for one resource. */
export function listenCall(id: number, uri: string): RawMessage {
  const notifications = JSON.stringify({ resourceSubscriptions: [uri] });
  return {
    headers: { ...ACCEPT, "mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen" },
    body: `{"jsonrpc":"2.0","id":${id},"method":"subscriptions/listen","params":{"notifications":${notifications},"_meta":${META}}}`,
  };
}

export function sessionHeaders(session: string): Record<string, string> {
  return { ...ACCEPT, "mcp-protocol-version": "2025-11-25", "mcp-session-id": session };
}

/** Asks for a session and gives the answer's status, with the session's id where there is one. */
export async function askForSession(connection: RawConnection, name: string) {
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: "init",
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name, version: "1.0.0" } },
  });
  const { status, head } = await connection.send("POST", ACCEPT, body);
  return { status, session: /\r\nmcp-session-id: *([^\r]+)/i.exec(head)?.[1] };
}

/** Shakes hands and gives the id of the session. */
export async function openSession(connection: RawConnection, name: string): Promise<string> {
  const { status, session } = await askForSession(connection, name);
  if (session === undefined) throw new Error(`no session, but status ${status}`);
  const ready = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
  const reply = await connection.send("POST", sessionHeaders(session), ready);
  if (reply.status !== 202) throw new Error(`initialized got ${reply.status}: ${reply.body}`);
  return session;
}
