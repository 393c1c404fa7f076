import type { Server } from "@parley/mcp";
import type { Principal } from "../../src/http/authentication.js";
import { META } from "../../src/protocol/meta.js";
import { NEWEST_STATELESS } from "../../src/protocol/revisions.js";
import type { Answer } from "../../src/transport/transport.js";

/** One round as the wire shows it. */
export interface Round {
  result?: {
    resultType: string;
    inputRequests?: Record<string, { method: string; params: { message: string } }>;
    requestState?: string;
    content?: { text: string }[];
    isError?: boolean;
  };
  error?: { code: number; message: string; data?: unknown };
  status: number | undefined;
}

export interface RoundOptions {
  args?: object;
  responses?: unknown;
  state?: unknown;
  principal?: Principal;
  capabilities?: object;
}

let lastId = 0;

/** Sends one stateless `tools/call` straight to the endpoint, with the answers of an earlier round if there are any. */
export async function round(server: Server<never>, name: string, options: RoundOptions = {}): Promise<Round> {
  const {
    args = {},
    responses,
    state,
    principal,
    capabilities = { elicitation: {}, sampling: {}, roots: {} },
  } = options;
  lastId++;
  const params = {
    name,
    arguments: args,
    ...(responses === undefined ? {} : { inputResponses: responses }),
    ...(state === undefined ? {} : { requestState: state }),
    _meta: { [META.protocolVersion]: NEWEST_STATELESS, [META.clientCapabilities]: capabilities },
  };
  const exchange = { id: lastId, signal: new AbortController().signal, principal, send: () => {} };
  const endpoint = server.endpoint();
  const message = { jsonrpc: "2.0" as const, id: lastId, method: "tools/call", params };
  const answer: Answer = await endpoint.request(endpoint.accept(message), exchange);
  return { ...(JSON.parse(answer.text) as Round), status: answer.status };
}

/** The messages of the questions of a round, sorted. */
export function asked({ result }: Round): string[] {
  return Object.values(result?.inputRequests ?? {})
    .map(({ params }) => params.message)
    .sort();
}

/** Accepts every question of a round with what `fill` gives for its message. */
export function accept({ result }: Round, fill: (message: string) => object): Record<string, object> {
  const entries = Object.entries(result?.inputRequests ?? {});
  return Object.fromEntries(
    entries.map(([key, { params }]) => [key, { action: "accept", content: fill(params.message) }]),
  );
}

/** Goes round until the call is complete; returns the last round and how many there were. */
export async function drive(server: Server<never>, name: string, fill: (message: string) => object, args: object = {}) {
  const questions: string[][] = [];
  let last = await round(server, name, { args });
  while (last.result?.resultType === "input_required" && questions.length < 50) {
    questions.push(asked(last));
    last = await round(server, name, { args, responses: accept(last, fill), state: last.result.requestState });
  }
  return { last, questions, text: last.result?.content?.[0]?.text };
}
