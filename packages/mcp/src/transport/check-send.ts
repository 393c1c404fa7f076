import { McpError } from "../protocol/error.js";

/**
 * Throws `misuse` if a custom transport implements `Peer` or `Exchange` without `send`, for example with its former
 * name `say`. Called when a peer is opened, when a listen request starts and after a send has failed, so that normal
 * messages need no check.
 */
export function checkSend(type: "Peer" | "Exchange", target: { readonly send?: unknown }): void {
  if (typeof target.send === "function") return;
  throw new McpError("misuse", `the transport passed a \`${type}\` without the method \`send\``, {
    fix: "say" in target ? "Rename `say` to `send`." : "Implement `send(text)`.",
  });
}
