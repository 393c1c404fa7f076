import { checkCallOptions } from "../client/call/caller.js";
import type { Requester } from "../client/call/requester.js";
import type { CallOptions } from "../client/contract/options.js";
import { getPrompt } from "../client/features/prompts.js";
import { readResource } from "../client/features/resources.js";
import { printableLine } from "../encoding/printable.js";
import { driftRefusal } from "../lock/drift-policy.js";
import { McpError } from "../protocol/error.js";
import type { GetPromptResult } from "../protocol/features/prompts.js";
import type { ReadResourceResult } from "../protocol/features/resources.js";
import type { CallToolResult } from "../protocol/features/tools.js";
import { outerResult } from "../server/sources/mounted-names.js";
import { APPLICATION } from "./application-call.js";
import type { HostCatalogue } from "./catalogue/host-catalogue.js";
import type { HostedServer } from "./hosted-server.js";
import type { HostedServers } from "./hosted-servers.js";

/** Calls that the application makes itself, by the names of the catalogue. */
export class HostCalls {
  readonly #servers: HostedServers;
  readonly #catalogue: HostCatalogue;

  constructor(servers: HostedServers, catalogue: HostCatalogue) {
    this.#servers = servers;
    this.#catalogue = catalogue;
  }

  async callTool(outer: string, args: object | undefined, options: CallOptions): Promise<CallToolResult> {
    checkCallOptions(options);
    const found = this.#catalogue.find("tools", outer);
    if (found === undefined) throw this.#refused(outer) ?? unknown("tool", outer);
    const server = this.#servers.get(found.server);
    const inner = server.tools.innerCall(found.inner, args as Record<string, unknown> | undefined);
    const { idempotent, readOnly } = this.hints(outer);
    const repeatable = mayResend(options, idempotent || readOnly);
    const sent = server.remote.timed(options);
    const result = await server.remote.run(this.#run(server, options, repeatable), (connection) =>
      connection.callTool(inner.name, inner.args, server.parts.application, sent, { idempotent: false }),
    );
    return this.#outer(server, "tools/call", result) as CallToolResult;
  }

  async getPrompt(
    outer: string,
    args: Record<string, string> | undefined,
    options: CallOptions,
  ): Promise<GetPromptResult> {
    const found = this.#catalogue.find("prompts", outer);
    if (found === undefined) throw unknown("prompt", outer);
    const server = this.#servers.get(found.server);
    const result = await this.#request(server, options, (requester, sent) =>
      getPrompt(requester, found.inner, args, sent),
    );
    return this.#outer(server, "prompts/get", result) as GetPromptResult;
  }

  async readResource(outer: string, options: CallOptions): Promise<ReadResourceResult> {
    const found = this.#catalogue.ownerOf(outer);
    if (found === undefined) throw unknown("resource", outer);
    const server = this.#servers.get(found.server);
    const result = await this.#request(server, options, (requester, sent) =>
      readResource(requester, found.inner, sent),
    );
    return this.#outer(server, "resources/read", result) as ReadResourceResult;
  }

  /** Why a tool is not in the catalogue, if a lock keeps it out. */
  #refused(outer: string): McpError | undefined {
    for (const { name, parts } of this.#servers.all()) {
      const prefix = parts.prefix === false ? "" : parts.prefix;
      const isIt = (tool: string) => outer.startsWith(prefix) && outer.endsWith(tool);
      const drifted = parts.lock?.drift.find(({ kind, name: tool }) => kind === "tool" && isIt(tool));
      if (drifted === undefined) continue;
      const { kind, message, fix, data } = driftRefusal(drifted);
      return new McpError(kind, `of the server "${name}", a tool was ${message}`, { fix, data });
    }
    return undefined;
  }

  /** Annotations of trusted servers; of others the worst case. */
  hints(outer: string): { readOnly: boolean; destructive: boolean; idempotent: boolean; openWorld: boolean } {
    const found = this.#catalogue.find("tools", outer);
    if (found === undefined) throw unknown("tool", outer);
    const { trusted } = this.#servers.get(found.server).parts;
    const annotations = trusted ? (found.item.annotations ?? {}) : {};
    const readOnly = annotations.readOnlyHint === true;
    return {
      readOnly,
      destructive: !readOnly && annotations.destructiveHint !== false,
      idempotent: annotations.idempotentHint === true,
      openWorld: annotations.openWorldHint !== false,
    };
  }

  #request<T>(
    server: HostedServer,
    options: CallOptions,
    send: (requester: Requester, options: CallOptions) => Promise<T>,
  ): Promise<T> {
    checkCallOptions(options);
    const sent = server.remote.timed(options);
    return server.remote.run(this.#run(server, options, mayResend(options, true)), (connection) =>
      send(connection.requester(server.parts.application), sent),
    );
  }

  #run({ remote }: HostedServer, { signal }: CallOptions, repeatable: boolean) {
    return { caller: APPLICATION, signal, repeatable, pick: () => remote.standing(signal) };
  }

  #outer(server: HostedServer, method: string, result: object): object {
    const names = this.#catalogue.names(server.name);
    return names === undefined ? result : outerResult(names, method, result);
  }
}

function mayResend({ resend = "idempotent" }: CallOptions, harmless: boolean): boolean {
  return resend === "always" || (resend === "idempotent" && harmless);
}

function unknown(kind: string, name: string): McpError {
  return new McpError("invalid_params", `no server of the host has a ${kind} ${printableLine(JSON.stringify(name))}`, {
    fix: "Use a name that the catalogue lists; `status()` says which servers are missing.",
  });
}
