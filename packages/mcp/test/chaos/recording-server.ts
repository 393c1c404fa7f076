import { appendFileSync } from "node:fs";
import { Server, type ServerOptions } from "@parley/mcp";

export const CALL = { type: "object", properties: { id: { type: "integer" } }, required: ["id"] } as const;

/** How long each call takes: long enough that the server may be struck while it runs. */
const WORK_MS = 10;

/** Writes down that a call ran, before anybody can hear of it; several processes may write to the same file. */
export function record(runs: string, id: number): void {
  appendFileSync(runs, `${id}\n`);
}

/** A server that writes down every call that it runs: `read` may be repeated, `write` may not. */
export function recordingServer(runs: string, options: ServerOptions = {}): Server {
  const run = async (word: string, id: number) => {
    record(runs, id);
    await new Promise((resolve) => setTimeout(resolve, WORK_MS));
    return `${word} ${id}`;
  };
  const server = new Server({ name: "recording", version: "1.0.0" }, options)
    .tool("read", { input: CALL, annotations: { readOnlyHint: true } }, ({ id }) => run("read", id))
    .tool("write", { input: CALL }, ({ id }) => run("write", id));
  // What the tools take is of no use to those who only serve it.
  return server as unknown as Server;
}
