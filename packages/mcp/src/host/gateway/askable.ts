import type { ClientCapabilities } from "../../protocol/capabilities.js";
import type { ServerCall } from "../../server/call/server-call.js";
import { canAsk } from "../../server/questions/can-ask.js";

/** What every caller together might be asked for: what a connection declares that all of them share. */
export const ANY_QUESTION: ClientCapabilities = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {} },
  roots: {},
};

/** What the caller can be asked for on this connection, as its server is told. */
export function askableOf(call: ServerCall): ClientCapabilities {
  const { elicitation, sampling, roots } = call.request.clientCapabilities;
  // Most callers declare nothing of it.
  if (elicitation === undefined && sampling === undefined && roots === undefined) return {};
  const askable: ClientCapabilities = {};
  const form = canAsk(call, "elicitation.form");
  const url = canAsk(call, "elicitation.url");
  if (form || url) askable.elicitation = { ...(form ? { form: {} } : {}), ...(url ? { url: {} } : {}) };
  if (canAsk(call, "sampling")) askable.sampling = canAsk(call, "sampling.tools") ? { tools: {} } : {};
  if (canAsk(call, "roots")) askable.roots = {};
  return askable;
}
