import { checkOptions } from "../../protocol/check-options.js";
import { inLayer } from "../call/in-layer.js";
import { checkQuotas, type QuotaOptions, type Quotas } from "../contract/quota-options.js";
import type { ServerInternals } from "../sources/prefixed-source.js";
import { CallQuotas } from "./call-quotas.js";
import { toolLimit } from "./limit.js";

/**
 * Limits what each caller may do, and how often tools with a `rate` are called: `new Server(info, { quotas: quotas(…) })`.
 * Refusals say when to call again: in words for the model, as `retryAfterMs` for programs, by `Retry-After` over HTTP.
 */
export function quotas(options: QuotaOptions = {}): Quotas {
  checkQuotas(options);
  return {
    attachToServer(parts) {
      // Only servers call it, with their own parts, whose type users do not see.
      const { config, layers, source } = parts as ServerInternals;
      const calls = new CallQuotas(config, options, source);
      layers.add({
        name: "quotas",
        stage: "limited",
        around: (call, next) => inLayer(call, "limits", () => calls.serve(call, () => next(call))),
        places: calls.places,
        close: () => calls.close(),
        toolOptions: {
          rate({ name, definition }) {
            checkOptions(`\`rate\` of tool "${name}"`, definition.rate, "calls perMs burst per");
            if (definition.rate !== undefined) toolLimit(name, definition.rate);
            return {};
          },
        },
      });
    },
  };
}
