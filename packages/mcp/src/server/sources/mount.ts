import { McpError } from "../../protocol/error.js";
import { PrefixedSource, type ServerInternals } from "./prefixed-source.js";

const PREFIX = /^[A-Za-z][A-Za-z0-9-]{0,31}$/;

/**
 * Mounts a server. Returns a function that unmounts the server and that must be called only once. Running calls
 * continue.
 */
export function mountServer(own: ServerInternals, prefix: string, server: ServerInternals): () => void {
  if (!PREFIX.test(prefix)) {
    throw new McpError("invalid_definition", `"${prefix}" is not a valid prefix for a mounted server`, {
      fix: "Use a letter, then letters, digits and hyphens, at most 32 characters.",
    });
  }
  const key = prefix.toLowerCase();
  if (own.mounted.has(key)) {
    throw new McpError("invalid_definition", `the prefix "${prefix}" is already taken by a mounted server`);
  }
  if (server === own || includes(server, own)) {
    throw new McpError("invalid_definition", `the server at "${prefix}" would contain itself`);
  }
  own.mounted.set(key, server);
  // Searched after other sources. If several prefixes match a name, the longest wins.
  const unmount = own.source.add(new PrefixedSource(prefix, server), prefix.length - MOUNTS);
  return () => {
    own.mounted.delete(key);
    unmount();
  };
}

/** Exceeds the longest prefix, so that mounts have a negative rank and come after sources without a rank. */
const MOUNTS = 100;

function includes({ mounted }: ServerInternals, other: ServerInternals): boolean {
  return [...mounted.values()].some((server) => server === other || includes(server, other));
}
