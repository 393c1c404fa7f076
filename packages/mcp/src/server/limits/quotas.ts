import { checkOptions } from "../../protocol/check-options.js";
import { inLayer } from "../call/in-layer.js";
import { checkQuotas, type QuotaOptions, type Quotas } from "../contract/quota-options.js";
import type { ServerInternals } from "../sources/prefixed-source.js";
import { CallQuotas } from "./call-quotas.js";
import { toolLimit } from "./limit.js";

/**
 * Limits the requests of each caller and the calls to tools with a `rate`: `new Server(info, { quotas: quotas(…) })`.
 * Refusals state when to call again: as text for the model, as `retryAfterMs` for programs, and as `Retry-After` over
 * HTTP.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/quotas.md | Quotas}
 */
export function quotas(options: QuotaOptions = {}): Quotas {
  checkQuotas(options);
  return {
    attachToServer(parts) {
      // Safe: only servers call this method, with their own internals. The type of the internals is not public.
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
