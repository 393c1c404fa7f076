import { checkOptions } from "../../protocol/check-options.js";
import type { ChildSpec } from "./child-spec.js";
import { Supervisor } from "./supervisor.js";
import type { RestartOptions } from "./supervisor-options.js";

/** The children of an application, by tier. A tier may use the tiers before it. */
export interface ApplicationTiers {
  /** Discovery and naming for the other tiers, such as a server registry. Default: none. */
  registry?: readonly ChildSpec[] | undefined;
  /** Resources that servers need: storage, database connections, clients of other servers. Default: none. */
  infrastructure?: readonly ChildSpec[] | undefined;
  /** The servers, with their state. Default: none. */
  servers?: readonly ChildSpec[] | undefined;
  /** Transports that make the servers reachable: handles of `serveHttp`, `serveStdio` and the like. Default: none. */
  transports?: readonly ChildSpec[] | undefined;
  /**
   * Children that observe the other tiers, and that no other tier needs: metrics, traces, health reports. Default:
   * none.
   */
  observability?: readonly ChildSpec[] | undefined;
}

/** Options of `superviseApplication`. */
export interface ApplicationOptions extends ApplicationTiers, RestartOptions {
  /** The name of the root supervisor in events and in the tree. Default: `application`. */
  name?: string | undefined;
}

/** The tiers in the order of their start. */
const TIERS = [
  "registry",
  "infrastructure",
  "servers",
  "transports",
  "observability",
] as const satisfies readonly (keyof ApplicationTiers)[];

/** Milliseconds before observability is retried after it failed too often. */
const OBSERVABILITY_RETRY_MS = 30_000;

/**
 * Arranges an application as five supervisors below a root supervisor, which the caller starts. A child that ends is
 * restarted alone. A tier whose children fail too often is restarted together with the tiers after it, which may depend
 * on it; the tiers before it keep their state. A failing transport therefore never stops a server. The start does not
 * wait for observability, and its failures affect no other tier.
 *
 * `application.child("servers", "files")` returns the child `files` of the tier `servers`. It can also be called inside of
 * the `start` of a later child.
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/supervision.md | Supervision}
 */
export function superviseApplication(options: ApplicationOptions): Supervisor {
  const names = "name registry infrastructure servers transports observability intensity backOff platform onEvent";
  checkOptions("superviseApplication", options, names);
  const { name = "application", intensity, backOff, platform, onEvent } = options;
  const pace = { intensity, backOff, platform };
  const tier = (id: keyof ApplicationTiers): ChildSpec => ({
    id,
    start: () => new Supervisor({ name: id, children: options[id], ...pace }),
    retryMs: id === "observability" ? OBSERVABILITY_RETRY_MS : undefined,
  });
  return new Supervisor({ name, strategy: "rest_for_one", children: TIERS.map(tier), ...pace, onEvent });
}
