import { taskDialect } from "../../era/select/task-dialect.js";
import { isObject } from "../../jsonrpc/message.js";
import type { ClientCapabilities } from "../../protocol/capabilities.js";
import type { Extension } from "../../protocol/extension.js";
import { TASKS } from "../../protocol/features/tasks.js";
import { canAsk } from "../../server/call/can-ask.js";
import type { ServerCall } from "../../server/call/server-call.js";

/** What every caller together might be asked for: what a connection declares that all of them share. */
export const ANY_QUESTION: ClientCapabilities = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {} },
  roots: {},
};

/** Of a caller that can be asked for nothing, as most. */
export const NOTHING_ASKABLE: ClientCapabilities = Object.freeze({});

/**
 * What the caller can be asked for on this connection, and which extensions it has of those that connections to the server
 * `extend` the protocol with.
 */
export function askableOf(call: ServerCall, extend: readonly Extension[] | undefined): ClientCapabilities {
  const { elicitation, sampling, roots } = call.request.clientCapabilities;
  const extensions = extend === undefined ? undefined : declaredOf(call, extend);
  // Most callers declare nothing of it.
  if (elicitation === undefined && sampling === undefined && roots === undefined && extensions === undefined) {
    return NOTHING_ASKABLE;
  }
  const askable: ClientCapabilities = {};
  const form = canAsk(call, "elicitation.form");
  const url = canAsk(call, "elicitation.url");
  if (form || url) askable.elicitation = { ...(form ? { form: {} } : {}), ...(url ? { url: {} } : {}) };
  if (canAsk(call, "sampling")) askable.sampling = canAsk(call, "sampling.tools") ? { tools: {} } : {};
  if (canAsk(call, "roots")) askable.roots = {};
  if (extensions !== undefined) askable.extensions = extensions;
  return askable;
}

/** Whether there is anything that the caller can be asked for. */
export function isAskable({ elicitation, sampling, roots }: ClientCapabilities): boolean {
  return elicitation !== undefined || sampling !== undefined || roots !== undefined;
}

function declaredOf(call: ServerCall, extend: readonly Extension[]): Record<string, unknown> | undefined {
  const declared = call.request.clientCapabilities.extensions;
  const shared = extend.flatMap(({ id }): [string, unknown][] => {
    // Whoever takes a task for this call gets it in the form of its own revision.
    if (id === TASKS.id) return taskDialect(call.request.revision).wanted(call.request) !== undefined ? [[id, {}]] : [];
    return isObject(declared) && isObject(declared[id]) ? [[id, declared[id]]] : [];
  });
  const complete = withRequired(Object.fromEntries(shared), extend);
  return Object.keys(complete).length === 0 ? undefined : complete;
}

/** The extensions without those that require another which is missing: a connection cannot have them. */
function withRequired(declared: Record<string, unknown>, extend: readonly Extension[]): Record<string, unknown> {
  // Every connection follows tasks, whatever its callers take.
  const has = (id: string) => id === TASKS.id || Object.hasOwn(declared, id);
  const lacking = extend.filter(({ id, requires = [] }) => Object.hasOwn(declared, id) && !requires.every(has));
  if (lacking.length === 0) return declared;
  const rest = Object.entries(declared).filter(([id]) => lacking.every((one) => one.id !== id));
  return withRequired(Object.fromEntries(rest), extend);
}
