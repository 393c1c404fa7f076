import { McpError, Server } from "@parley/mcp";
import type { LoadedConfig } from "@parley/mcp/config";
import {
  type ServeHandle,
  type ServeHttpOptions,
  type ServeStdioOptions,
  serveHttp,
  serveStdio,
} from "@parley/mcp/node";
import type { Invocation } from "../commands/command.js";
import { servingPlace } from "../serving/serving-place.js";
import { UsageError } from "../terminal/usage-error.js";

/** The transport of a command, and its options. */
export type ServingConfig =
  | { readonly kind: "http"; readonly options: ServeHttpOptions }
  | { readonly kind: "stdio"; readonly options: ServeStdioOptions };

/** A server, or anything else that `serveHttp` accepts. */
export type ServableServer = Parameters<typeof serveHttp>[0];

/**
 * Chooses the transport by flags. Default: HTTP on loopback if stdin is a terminal or a flag for HTTP is given,
 * otherwise stdio. The options of the transport come from the settings, and flags override them.
 */
export function servingConfigOf(invocation: Invocation, config: LoadedConfig): ServingConfig {
  const { options } = invocation;
  const isOpen = options.flag("allowUnauthenticated");
  const named = HTTP_FLAGS.filter((name) => options.text(name) !== undefined || options.many(name).length > 0);
  const [forHttp] = isOpen ? [...named, "allow-unauthenticated"] : named;
  const place = servingPlace(invocation, forHttp !== undefined);
  if (place.kind === "http") {
    const port = place.port === undefined ? {} : { port: place.port };
    return { kind: "http", options: { ...config.http, ...httpFlags(options), ...port } };
  }
  if (forHttp !== undefined) throw new UsageError(`--${forHttp} works only with HTTP`, "Remove it, or add --http.");
  return { kind: "stdio", options: { ...config.stdio, exit: false, terminalHint: false } };
}

const HTTP_FLAGS = ["host", "path", "allow"];

function httpFlags(options: Invocation["options"]): ServeHttpOptions {
  const [host, path, allowed] = [options.text("host"), options.text("path"), options.many("allow")];
  const origins = allowed.filter((one) => one.includes("://"));
  const hosts = allowed.filter((one) => !one.includes("://"));
  return {
    ...(host === undefined ? {} : { host }),
    ...(path === undefined ? {} : { path: path.startsWith("/") ? path : `/${path}` }),
    ...(hosts.length === 0 ? {} : { allowedHosts: hosts }),
    ...(origins.length === 0 ? {} : { allowedOrigins: origins }),
    ...(options.flag("allowUnauthenticated") ? { allowUnauthenticated: true } : {}),
  };
}

/** Starts serving. */
export async function beginServing(served: ServableServer, { kind, options }: ServingConfig): Promise<ServeHandle> {
  if (kind === "stdio") return serveStdio(served, options);
  try {
    return await serveHttp(served, options);
  } catch (reason) {
    if (!McpError.is(reason) || !/no `authenticate` option/.test(reason.message)) throw reason;
    throw new UsageError(
      "other machines could call the server without authentication",
      "Serve on loopback behind a proxy that authenticates, or add --allow-unauthenticated if anyone may use every tool.",
    );
  }
}

/**
 * Listens at the address for a moment, to check the address before servers are started. Throws if the port is in use or
 * the address is not allowed.
 */
export async function checkServing(serving: ServingConfig): Promise<void> {
  if (serving.kind === "stdio") return;
  const nothing = new Server({ name: "starting", version: "0" });
  const handle = await beginServing(nothing, serving);
  await handle.close();
  await nothing.close();
}
