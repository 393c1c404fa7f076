import { McpError } from "../../protocol/error.js";
import type { RequestContext } from "../contract/context.js";
import type { Middleware } from "./middleware.js";

/** The decision of a hook: allow the call, or deny it with a reason that the caller receives. */
type Verdict = "allow" | { readonly deny: string };

/** The part of a call that every hook receives. */
interface GuardedCall {
  readonly ctx: RequestContext;
}

/**
 * Hooks that allow or deny calls before their handler runs. Calls of a method without a hook are allowed. When a call
 * asks the client questions, the hook runs in every round, because each round is a separate request.
 */
export interface ConsentHooks {
  /** Called before `tools/call`. If it denies the call, the model receives the reason as an error result. */
  beforeToolCall?:
    | ((
        call: GuardedCall & { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> },
      ) => Verdict | Promise<Verdict>)
    | undefined;
  /** Called before `resources/read`. If it denies the call, the request fails with kind `declined`. */
  beforeResourceRead?: ((call: GuardedCall & { readonly uri: string }) => Verdict | Promise<Verdict>) | undefined;
  /** Called before `prompts/get`. If it denies the call, the request fails with kind `declined`. */
  beforePrompt?: ((call: GuardedCall & { readonly name: string }) => Verdict | Promise<Verdict>) | undefined;
}

/**
 * Middleware that calls hooks before tools, resources and prompts. Anything but `"allow"` denies the call: for a tool,
 * the model receives the reason as an error result. Other requests fail with kind `declined`.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/servers.md | Servers}
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

/**
 * Returns the reason for which a hook denies a call; undefined if the hook allows the call. A malformed decision denies
 * the call.
 */
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
