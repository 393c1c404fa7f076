import { type RecordedTransport, recordedTransport, type SentMessage } from "@parley/mcp/testing";
import type { Transport } from "../../src/transport/transport.js";

/** A message of the client as it arrived. */
export type Heard = SentMessage;

/** An object among the parameters of a message; empty when there is none. */
export function memberOf({ params }: Heard, name: string): Record<string, unknown> {
  return (params?.[name] ?? {}) as Record<string, unknown>;
}

/** One connection of a scripted server. */
export interface Pipe {
  heard: readonly Heard[];
  /** Sends any value, however wrong. */
  say(value: unknown): void;
  /** Sends a result for a request. */
  answer(request: Heard, result: unknown): void;
  refuse(request: Heard, code: number, message?: string, data?: unknown): void;
  /** Ends the connection from the server's side. */
  end(): void;
}

export type PipeScript = (message: Heard, pipe: Pipe, connection: number) => void;

/** A server on a pipe that does what its script says, however wrong that is; each transport is a new connection to it. */
export interface ScriptedPipe {
  pipes: Pipe[];
  makeTransport(): Transport;
  /** All messages of all connections. */
  heard(): Heard[];
  methods(): string[];
}

export function scriptedPipe(script: PipeScript): ScriptedPipe {
  const pipes: Pipe[] = [];
  return {
    pipes,
    heard: () => pipes.flatMap((pipe) => pipe.heard),
    methods: () => pipes.flatMap((pipe) => pipe.heard.flatMap(({ method }) => method ?? [])),
    makeTransport() {
      const connection = pipes.length + 1;
      const transport = recordedTransport({
        name: "a scripted server",
        onSent: (message) => script(message, pipe, connection),
      });
      const pipe = pipeOf(transport);
      pipes.push(pipe);
      return transport;
    },
  };
}

function pipeOf(transport: RecordedTransport): Pipe {
  const say = (value: unknown) => transport.inject(value);
  return {
    heard: transport.sent,
    say,
    answer: ({ id }, result) => say({ jsonrpc: "2.0", id, result }),
    refuse: ({ id }, code, message = "refused", data) =>
      say({ jsonrpc: "2.0", id, error: data === undefined ? { code, message } : { code, message, data } }),
    end: () => transport.end(),
  };
}

export const STATELESS = "2026-07-28";
export const STATEFUL = "2025-11-25";

const EVERYTHING = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
};

/** Answers what opens a dialogue in one era, and refuses what the other era would send; true when it did. */
export function greetsIn(
  era: "stateful" | "stateless",
  message: Heard,
  pipe: Pipe,
  capabilities: object = EVERYTHING,
): boolean {
  if (message.id === undefined) return true;
  if (message.method === "initialize") {
    if (era === "stateless") pipe.refuse(message, -32601, "no such method");
    else {
      const serverInfo = { name: "scripted", version: "1" };
      pipe.answer(message, { protocolVersion: message.params?.["protocolVersion"], capabilities, serverInfo });
    }
    return true;
  }
  if (message.method === "server/discover") {
    if (era === "stateful") pipe.refuse(message, -32601, "no such method");
    else pipe.answer(message, { supportedVersions: [STATELESS], capabilities, ttlMs: 0, cacheScope: "private" });
    return true;
  }
  return false;
}
