import { checkOptions } from "../../protocol/check-options.js";
import type { ChildSpec } from "./child-spec.js";
import { Supervisor } from "./supervisor.js";
import type { RestartOptions } from "./supervisor-options.js";

/** What an application consists of, tier by tier. Each tier may use those before it. */
export interface ApplicationTiers {
  /** What finds and names the others. */
  registry?: readonly ChildSpec[] | undefined;
  /** What servers need: storage, connections to databases, clients of other servers. */
  infrastructure?: readonly ChildSpec[] | undefined;
  /** The servers, with their state. */
  servers?: readonly ChildSpec[] | undefined;
  /** What makes the servers reachable: handles that serve. */
  transports?: readonly ChildSpec[] | undefined;
  /** What watches the others and is needed by none: metrics, traces, health reports. */
  observability?: readonly ChildSpec[] | undefined;
}

/** The options of `superviseApplication`. */
export interface ApplicationOptions extends ApplicationTiers, RestartOptions {
  /** The name of the root in events and in the tree. Default: `application`. */
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

/** How long observability rests after it failed too often. */
const OBSERVABILITY_RETRY_MS = 30_000;

/**
 * Arranges an application as five supervisors below one, which the caller starts. A child that ends is restarted alone. A tier
 * whose children fail too often is restarted with the tiers after it, which may depend on it; those before it keep their
 * state. So a transport never takes a server down. Nobody waits for observability, and its failures affect nothing else.
 *
 * `application.child("servers", "files")` gives the child `files` of the tier `servers`, also inside of later starts.
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
