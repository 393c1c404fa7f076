import type { Accepted } from "../../../era/era.js";
import type { Id } from "../../../jsonrpc/message.js";
import { LazyAbort } from "../../../jsonrpc/pending-requests.js";
import { encodeEvent } from "../../framing/sse-encode.js";
import type { Answer, Exchange } from "../../transport.js";
import type { HttpExchange } from "../server/exchange.js";
import { failedAnswer, refusal } from "../server/refusal.js";
import type { SessionStore } from "./store.js";

/**
 * Runs the request that opens a session. The reply has the session id in a header, so nothing is sent before the answer
 * is known. Notifications are queued until then. Never rejects.
 *
 * Spec: Transports, "Session Management",
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
export async function handshake(store: SessionStore, exchange: HttpExchange, accepted: Accepted): Promise<void> {
  const { id } = accepted.message;
  const limit = exchange.admit(1);
  if (limit !== undefined) return exchange.busy(limit, id);
  exchange.working = true;
  exchange.recount();
  try {
    await openPlaced(store, exchange, accepted);
  } catch (error) {
    refuseForNow(exchange, error, id);
  } finally {
    exchange.working = false;
    exchange.recount();
  }
}

/**
 * Reserves a place in the quota of sessions, if the server has one, and opens the session. The quota comes first, so
 * that a caller beyond its quota does not evict sessions of others.
 */
async function openPlaced(store: SessionStore, exchange: HttpExchange, accepted: Accepted): Promise<void> {
  const quota = exchange.state.endpoint.sessionPlaces;
  const session = store.logs.describeForQuota(store.nodes.newSessionId());
  const taken = quota && (await quota.take(exchange, session, accepted.message.id));
  if (taken === undefined) return void (await open(store, exchange, accepted, session.id));
  if (!("place" in taken)) return exchange.reply(taken);
  let opened = false;
  try {
    opened = await open(store, exchange, accepted, session.id, taken.place);
  } finally {
    if (!opened) await quota?.free(taken.place, session);
  }
}

/** Returns true if the session was created. */
async function open(
  store: SessionStore,
  exchange: HttpExchange,
  accepted: Accepted,
  id: string,
  place?: string,
): Promise<boolean> {
  // Checked before the handshake, so that the server announces no session that it cannot store.
  const room = store.room.reserve(exchange.principal?.key);
  if ("full" in room) {
    exchange.busy(room.full, accepted.message.id);
    return false;
  }
  const queued: string[] = [];
  let ended: Answer["sessionEnded"];
  try {
    const answer = await answerTo(exchange, accepted, (text) => queued.push(text));
    const { session, sessionEnded } = answer;
    ended = sessionEnded;
    const created = session && (await store.create(id, { session, sessionEnded }, exchange.principal, place));
    reply(exchange, answer, created === undefined ? [] : ["mcp-session-id", created.id], queued);
    return created !== undefined;
  } catch (error) {
    void ended?.("closed");
    throw error;
  } finally {
    room.release();
  }
}

/** Refuses a request because the storage failed. The client can send the request again without harm. */
export function refuseForNow(exchange: HttpExchange, error: unknown, id?: Id): void {
  exchange.state.storageFailed(error);
  const fix = "Send the request again.";
  const message = `the session storage of this server is not available. ${fix}`;
  const data = { reason: "storage_unavailable", fix };
  exchange.refuse(refusal(503, message, { id, headers: ["retry-after", "1"], data }));
}

async function answerTo({ state, http, principal }: HttpExchange, accepted: Accepted, enqueue: (text: string) => void) {
  const { id } = accepted.message;
  const abort = new LazyAbort();
  const exchange: Exchange = {
    id,
    get signal() {
      return abort.signal;
    },
    http,
    principal,
    send: enqueue,
  };
  try {
    return await state.endpoint.request(accepted, exchange);
  } catch (error) {
    return failedAnswer(state.platform, id, error);
  }
}

function reply(exchange: HttpExchange, answer: Answer, headers: string[], before: readonly string[]): void {
  const connection = before.length === 0 ? undefined : exchange.openEvents(headers);
  if (connection === undefined) return exchange.reply(answer, headers);
  for (const text of before) connection.write(encodeEvent({ data: text }));
  connection.write(encodeEvent({ data: answer.text }));
  connection.end();
}
