import { McpError } from "../../protocol/error.js";
import type { RequestContext } from "../contract/context.js";
import type { Middleware } from "./middleware.js";

/** The decision of a hook: allow the call, or deny it with a reason that the caller gets. */
type Verdict = "allow" | { readonly deny: string };

/** What every hook gets of a call. */
interface GuardedCall {
  readonly ctx: RequestContext;
}

/**
 * Hooks that allow or deny calls before their handler runs. A method without a hook is allowed. When a call asks the client
 * questions, the hook is called in every round, because each round is a request of its own.
 */
export interface ConsentHooks {
  beforeToolCall?:
    | ((
        call: GuardedCall & { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> },
      ) => Verdict | Promise<Verdict>)
    | undefined;
  beforeResourceRead?: ((call: GuardedCall & { readonly uri: string }) => Verdict | Promise<Verdict>) | undefined;
  beforePrompt?: ((call: GuardedCall & { readonly name: string }) => Verdict | Promise<Verdict>) | undefined;
}

/**
 * Middleware that calls hooks before tools, resources and prompts. Anything but `"allow"` denies the call: for a tool the
 * model gets the reason as an error result, other requests fail with kind `declined`.
 */
export function consent(hooks: ConsentHooks): Middleware {
  return async (call, next) => {
    const { ctx } = call;
    switch (call.method) {
      case "tools/call": {
        const { name, arguments: args = {} } = call.params;
        const reason = await refusal(hooks.beforeToolCall?.bind(hooks), { name, arguments: args, ctx });
        return reason === undefined ? next() : { content: [{ type: "text", text: reason }], isError: true };
      }
      case "resources/read":
        throwIfDenied(await refusal(hooks.beforeResourceRead?.bind(hooks), { uri: call.params.uri, ctx }));
        return next();
      case "prompts/get":
        throwIfDenied(await refusal(hooks.beforePrompt?.bind(hooks), { name: call.params.name, ctx }));
        return next();
      default:
        return next();
    }
  };
}

function throwIfDenied(reason: string | undefined): void {
  if (reason !== undefined) throw new McpError("declined", reason);
}

/** Why a hook denies a call; undefined if it allows it. Fails closed: a malformed decision denies. */
async function refusal<C>(
  hook: ((call: C) => Verdict | Promise<Verdict>) | undefined,
  call: C,
): Promise<string | undefined> {
  if (hook === undefined) return undefined;
  const verdict: Verdict | undefined = await hook(call);
  if (verdict === "allow") return undefined;
  const reason = typeof verdict === "object" ? verdict.deny : undefined;
  return typeof reason === "string" ? reason : "This call was not allowed.";
}
