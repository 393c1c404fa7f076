import type { ClientCore } from "../../client/assemble.js";
import type { ConnectedExtension, ExtendedClient } from "../../client/contract/extension.js";
import { checkOptions } from "../../protocol/check-options.js";
import type { Extension } from "../../protocol/extension.js";
import type { ServerInternals } from "../../server/sources/prefixed-source.js";
import { attachToClient } from "./attach-to-client.js";
import { attachToServer } from "./attach-to-server.js";
import { checkExtension } from "./check-extension.js";
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

const MEMBERS = "id settings first requires methods resultTypes listenFilters server client";

/**
 * Makes an extension of the protocol, for `extensions` of `new Server` and of `connect`. Throws for one that could not work: an id
 * without a prefix, a method of the protocol itself, an unknown revision.
 *
 * Spec: Extensions, https://modelcontextprotocol.io/extensions/overview
 */
export function defineExtension<F = undefined>(definition: ExtensionDefinition<F>): DefinedExtension<F> {
  checkOptions<ExtensionDefinition<unknown>, typeof MEMBERS>("an extension", definition, MEMBERS);
  const { server, client, ...declared } = definition;
  checkExtension(declared);
  return {
    ...declared,
    // The casts are safe: servers and clients pass their own parts, and nobody else calls these.
    ...(server === undefined
      ? {}
      : { attachToServer: (parts: unknown) => attachToServer(declared, parts as ServerInternals, server) }),
    ...(client === undefined
      ? {}
      : { attachToClient: (parts: unknown) => attachToClient(declared, parts as ClientCore, client) }),
  };
}
