import { Server } from "@parley/mcp";
import { type FetchHandler, fetchHandler } from "@parley/mcp/http";
import { tasks } from "@parley/mcp/tasks";
import { z } from "zod";
import type { Platform } from "../../../src/platform/platform.js";
import type { Storage } from "../../../src/storage/storage.js";

export type Revision = "2025-11-25" | "2026-07-28";
export type Wire = Record<string, unknown>;

export const TASKS_ID = "io.modelcontextprotocol/tasks";
const CAPABILITIES = { elicitation: { form: {} }, extensions: { [TASKS_ID]: {} } };
const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "t", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": CAPABILITIES,
};

/** A server with tasks in every state, whose hanging tools end with their signals. */
export function taskServer(storage?: Storage, secret?: string, platform?: Partial<Platform>): Server {
  const options = { extensions: [tasks({ pollIntervalMs: 10 })], storage, secret, platform, pageSize: 2 };
  return new Server({ name: "s", version: "1" }, options)
    .tool("quick", { task: "optional" }, () => "done")
    .tool("hangs", { task: "optional" }, (_args, ctx) => {
      return new Promise<string>((_, reject) => {
        ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason));
      });
    })
    .tool("asks", { task: "optional" }, async (_args, ctx) => {
      return `n is ${(await ctx.elicit("how many?", z.object({ n: z.number() }))).n}`;
    });
}

/** Serves with principals of the form `Bearer <subject>.<client>`, whose claims are secret. */
export function protectedHandler(server: Server): FetchHandler {
  return fetchHandler(server, {
    authenticate(request) {
      const [, subject, clientId] = /^Bearer (\w+)\.(\w+)$/.exec(request.header("authorization") ?? "") ?? [];
      if (subject === undefined || clientId === undefined) return undefined;
      return { key: `issuer|${subject}|${clientId}`, subject, clientId, claims: { secret: `claim of ${subject}` } };
    },
  });
}

/** One answer as its receiver sees it. */
export interface SeenAnswer {
  status: number;
  headers: string;
  text: string;
  message: { result?: Wire; error?: { code: number; message: string; data?: unknown } };
}

/** A caller over HTTP, in either revision, that sees all of each answer. */
export class TaskCaller {
  readonly #handler: FetchHandler;
  readonly #token: string | undefined;
  readonly revision: Revision;
  #session: string | undefined;

  constructor(handler: FetchHandler, revision: Revision, token?: string) {
    this.#handler = handler;
    this.revision = revision;
    this.#token = token;
  }

  async open(): Promise<this> {
    if (this.revision === "2026-07-28") return this;
    const params = {
      protocolVersion: this.revision,
      capabilities: CAPABILITIES,
      clientInfo: META["io.modelcontextprotocol/clientInfo"],
    };
    const response = await this.#post({ jsonrpc: "2.0", id: 0, method: "initialize", params });
    this.#session = response.headers.get("mcp-session-id") ?? undefined;
    await response.text();
    await (await this.#post({ jsonrpc: "2.0", method: "notifications/initialized" })).text();
    return this;
  }

  /** Sends a request; `headers` replace those that the revision wants. */
  async send(method: string, params: Wire = {}, headers: Record<string, string> = {}): Promise<SeenAnswer> {
    const name = params["name"] ?? params["taskId"];
    const modern = this.revision === "2026-07-28";
    const mirrored = modern ? { "mcp-method": method, ...(typeof name === "string" ? { "mcp-name": name } : {}) } : {};
    const body = { jsonrpc: "2.0", id: 1, method, params: modern ? { ...params, _meta: META } : params };
    const response = await this.#post(body, { ...mirrored, ...headers });
    const seen: string[] = [];
    response.headers.forEach((value, key) => {
      if (key !== "date" && key !== "mcp-session-id") seen.push(`${key}: ${value}`);
    });
    const text = await response.text();
    const last = text.startsWith("{")
      ? text
      : (text
          .match(/^data: (\{.*)$/gm)
          ?.at(-1)
          ?.slice(6) ?? "{}");
    return { status: response.status, headers: seen.join("\n"), text, message: JSON.parse(last) };
  }

  /** Starts a task and gives its id. */
  async begin(tool: string): Promise<string> {
    const params = this.revision === "2026-07-28" ? { name: tool } : { name: tool, task: {} };
    const { message, text } = await this.send("tools/call", params);
    const { taskId } = (message.result?.["task"] ?? message.result ?? {}) as { taskId?: string };
    if (taskId === undefined) throw new Error(`no task: ${text}`);
    return taskId;
  }

  async status(taskId: string): Promise<unknown> {
    return (await this.send("tasks/get", { taskId })).message.result?.["status"];
  }

  /** Opens a stream of notifications; gives all that came until it was quiet for a while. */
  async heard(method: string, params: Wire): Promise<string> {
    const body = { jsonrpc: "2.0", id: 9, method, params: { ...params, _meta: META } };
    const response = await this.#post(body, { "mcp-method": method });
    const reader = response.body?.getReader();
    const decoder = new TextDecoder();
    let text = "";
    for (let quiet = false; reader !== undefined && !quiet; ) {
      const pause = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), 120));
      const next = await Promise.race([reader.read(), pause]);
      if (next === undefined || next.done) quiet = true;
      else text += decoder.decode(next.value, { stream: true });
    }
    await reader?.cancel();
    return text;
  }

  #post(body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    return this.#handler(
      new Request("http://localhost/mcp", {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": this.revision,
          ...(this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }),
          ...(this.#session === undefined ? {} : { "mcp-session-id": this.#session }),
          ...headers,
        },
        body: JSON.stringify(body),
      }),
    );
  }
}
