import type { ClientCore } from "../../client/assemble.js";
import type { ConnectedExtension, ExtendedClient } from "../../client/contract/extension.js";
import { checkOptions } from "../../protocol/check-options.js";
import type { Extension } from "../../protocol/extension.js";
import type { ServerInternals } from "../../server/sources/prefixed-source.js";
import { attachToClient } from "./attach-to-client.js";
import { attachToServer } from "./attach-to-server.js";
import { checkExtension } from "./check-extension.js";
import type { ExtendedServer, ServedExtension } from "./extended-server.js";

/** The definition of an extension: its declarations, and its parts for servers and clients. */
export interface ExtensionDefinition<F> extends Omit<Extension, "attachToServer" | "attachToClient"> {
  /** Called once for each server that has the extension. Returns what the extension adds to that server. */
  server?(server: ExtendedServer): ServedExtension;
  /**
   * Called once for each client that has the extension, before it connects. Returns what the extension adds to that
   * client.
   */
  client?(client: ExtendedClient): ConnectedExtension<F>;
}

/** An extension, with the type of the feature that `client.extension` returns for it. */
export interface DefinedExtension<F> extends Extension {
  /** For types only. Never present at run time. */
  readonly feature?: F;
}

const MEMBERS = "id settings first requires methods resultTypes listenFilters server client";

/**
 * Defines an extension of the protocol, for the `extensions` option of `new Server` and of `connect`. Throws
 * `invalid_definition` for an extension that cannot work, for example because of an id without a prefix, a method of
 * the protocol itself, or an unknown revision.
 *
 * Spec: Extensions, https://modelcontextprotocol.io/extensions/overview
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/extensions.md | Extensions}
 */
export function defineExtension<F = undefined>(definition: ExtensionDefinition<F>): DefinedExtension<F> {
  checkOptions<ExtensionDefinition<unknown>, typeof MEMBERS>("an extension", definition, MEMBERS);
  const { server, client, ...declared } = definition;
  checkExtension(declared);
  return {
    ...declared,
    // The casts are safe: only servers and clients call these functions, with their own internals.
    ...(server === undefined
      ? {}
      : { attachToServer: (internals: unknown) => attachToServer(declared, internals as ServerInternals, server) }),
    ...(client === undefined
      ? {}
      : { attachToClient: (core: unknown) => attachToClient(declared, core as ClientCore, client) }),
  };
}
