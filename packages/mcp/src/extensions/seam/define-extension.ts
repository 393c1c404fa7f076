import type { ClientParts } from "../../client/connection/assemble.js";
import type { ConnectedExtension, ExtendedClient } from "../../client/extension.js";
import { McpError } from "../../protocol/error.js";
import type { Extension } from "../../protocol/extension.js";
import { checkMetaKey } from "../../protocol/meta-key.js";
import { attachToClient } from "./attach-to-client.js";
import { attachToServer, type ServerParts } from "./attach-to-server.js";
import type { ExtendedServer, ServedExtension } from "./extended-server.js";

/** The definition of an extension: what it declares, and what it adds to servers and clients. */
export interface ExtensionDefinition<F> extends Omit<Extension, "attachToServer" | "attachToClient"> {
  /** Called once for each server that gets the extension. */
  server?(server: ExtendedServer): ServedExtension;
  /** Called once for each client that gets the extension, before it connects. */
  client?(client: ExtendedClient): ConnectedExtension<F>;
}

/** An extension with the type of what `client.extension` gives for it. */
export interface DefinedExtension<F> extends Extension {
  /** Types only; never present at run time. */
  readonly feature?: F;
}

/**
 * Makes an extension of the protocol, for `extensions` of `new Server` and of `connect`. Throws for an id without a prefix.
 *
 * Spec: Extensions, https://modelcontextprotocol.io/extensions/overview
 */
export function defineExtension<F = undefined>({
  server,
  client,
  ...declared
}: ExtensionDefinition<F>): DefinedExtension<F> {
  checkId(declared.id);
  return {
    ...declared,
    // The casts are safe: servers and clients pass their own parts, and nobody else calls these.
    ...(server === undefined
      ? {}
      : { attachToServer: (parts: unknown) => attachToServer(parts as ServerParts, server) }),
    ...(client === undefined
      ? {}
      : { attachToClient: (parts: unknown) => attachToClient(declared.id, parts as ClientParts, client) }),
  };
}

function checkId(id: string): void {
  if (typeof id === "string" && id.includes("/") && !id.endsWith("/") && checkMetaKey(id) !== "malformed") return;
  throw new McpError("invalid_definition", `${JSON.stringify(id)} is not the id of an extension`, {
    fix: "Write a prefix of your own and a name, such as `com.example/feature`.",
  });
}
