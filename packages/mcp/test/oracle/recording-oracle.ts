import { isRevision } from "../../src/protocol/revisions.js";
import { BATCH_REVISION, loadOracles, type OracleOptions, type Oracles } from "./oracle.js";
import { isWireObject, kindOf, type Sender, type WireObject } from "./wire-message.js";

const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";

export interface RecordingOptions extends OracleOptions {
  /** The revision until a message names one. */
  revision: string;
}

/** Listens to one connection and judges every message that passes. */
export interface RecordingOracle {
  /** Takes a message of either side, parsed or as text. Never throws. */
  record(sender: Sender, message: unknown): void;
  /** How many messages were recorded; a test that hears nothing proves nothing. */
  readonly count: number;
  /** What was wrong so far. */
  problems(): string[];
  /** Throws with all problems when there are any, or when nothing was recorded. */
  assertValid(): void;
}

/**
 * Makes a recorder for one connection. The revision is read off the messages: from `_meta` in the stateless era, from the
 * answer to `initialize` in the stateful one. The methods of requests are remembered, so that results find their schema.
 */
export async function recordingOracle(options: RecordingOptions): Promise<RecordingOracle> {
  const oracles = await loadOracles(options);
  const found: string[] = [];
  const state: State = { oracles, revision: options.revision, pending: new Map() };
  let count = 0;
  return {
    get count() {
      return count;
    },
    record(sender, message) {
      count++;
      for (const problem of take(state, sender, message))
        found.push(`message ${count}, from the ${sender}: ${problem}`);
    },
    problems: () => [...found],
    assertValid() {
      if (count === 0) throw new Error("the oracle heard no message");
      if (found.length > 0) throw new Error(`${found.length} problems in ${count} messages:\n${found.join("\n")}`);
    },
  };
}

interface State {
  oracles: Oracles;
  revision: string;
  /** Requests that wait for an answer, by who asked and by id with its JSON type. */
  pending: Map<string, { method: string; revision: string }>;
}

function take(state: State, sender: Sender, message: unknown): string[] {
  const value = typeof message === "string" ? parse(message) : message;
  if (value === undefined) return ["the message is not JSON"];
  if (Array.isArray(value) && value.length > 0 && state.revision === BATCH_REVISION) {
    return value.flatMap((each) => take(state, sender, each));
  }
  if (!isWireObject(value)) return state.oracles.validateMessage(state.revision, sender, value);
  switch (kindOf(value)) {
    case "request":
      return takeRequest(state, sender, value);
    case "result":
    case "error":
      return takeAnswer(state, sender, value);
    default:
      return state.oracles.validateMessage(state.revision, sender, value);
  }
}

function takeRequest(state: State, sender: Sender, request: WireObject): string[] {
  state.revision = revisionOf(request) ?? state.revision;
  const key = keyOf(sender, request.id);
  const problems = state.oracles.validateMessage(state.revision, sender, request);
  if (state.pending.has(key)) problems.push(`the id ${JSON.stringify(request.id)} is already in flight`);
  state.pending.set(key, { method: String(request.method), revision: state.revision });
  return problems;
}

function takeAnswer(state: State, sender: Sender, answer: WireObject): string[] {
  const key = keyOf(sender === "client" ? "server" : "client", answer.id);
  const request = state.pending.get(key);
  state.pending.delete(key);
  if (request === undefined) {
    const unasked = answer.id === undefined || answer.id === null ? [] : [`nobody asked ${JSON.stringify(answer.id)}`];
    return [...unasked, ...state.oracles.validateMessage(state.revision, sender, answer)];
  }
  if (request.method === "initialize" && isWireObject(answer.result)) {
    const { protocolVersion } = answer.result;
    if (isRevision(protocolVersion)) state.revision = request.revision = protocolVersion;
  }
  return state.oracles.validateMessage(request.revision, sender, answer, request.method);
}

/** The revision that a request itself names; one that was never published is judged by the connection's. */
function revisionOf(request: WireObject): string | undefined {
  if (!isWireObject(request.params)) return undefined;
  const { _meta, protocolVersion } = request.params;
  const named =
    request.method === "initialize" ? protocolVersion : isWireObject(_meta) ? _meta[VERSION_KEY] : undefined;
  return isRevision(named) ? named : undefined;
}

function keyOf(asker: Sender, id: unknown): string {
  return `${asker} ${JSON.stringify(id)}`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
