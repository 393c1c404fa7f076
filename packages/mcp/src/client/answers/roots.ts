import { McpError } from "../../protocol/error.js";
import type { Root } from "../../protocol/features/roots.js";

/** Gives the roots back. Throws when one of them is no place in a file system, which the protocol demands. */
export function checkRoots(roots: readonly Root[]): readonly Root[] {
  for (const { uri } of roots) {
    if (typeof uri === "string" && uri.startsWith("file://") && URL.canParse(uri)) continue;
    throw new McpError("invalid_definition", `the root ${JSON.stringify(uri)} is no file:// address`, {
      fix: "Write roots as absolute `file://` addresses.",
    });
  }
  return roots;
}
