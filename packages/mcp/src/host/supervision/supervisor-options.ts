import { type Some, withDefaults } from "../../encoding/with-defaults.js";
import type { Platform } from "../../platform/platform.js";
import { checkOptions } from "../../protocol/check-options.js";
import { type ChildSpec, checkMs, invalidOption } from "./child-spec.js";
import type { SupervisionEvent } from "./supervision-event.js";
import type { SupervisionStrategy } from "./supervisor-tree.js";

/** The options that control restarts and report events. */
export interface RestartOptions {
  /** Maximum number of restarts within a period. One more ends the supervisor. Default: 5 within 60 s. */
  intensity?: Some<RestartIntensity> | undefined;
  /** The delay before a restart. Default: from 1 s to 30 s, plus or minus 20 %. */
  backOff?: Some<RestartBackOff> | undefined;
  /** Replaces parts of the runtime, for tests. Default: the runtime's own. */
  platform?: Partial<Platform> | undefined;
  /** Called with every event of this supervisor and of the supervisors below it. Default: none. */
  onEvent?: ((event: SupervisionEvent) => void) | undefined;
}

/** The options of a supervisor. */
export interface SupervisorOptions extends RestartOptions {
  /** The name of the supervisor in events and in the tree. */
  name: string;
  /** Selects the children that are restarted when one ends. Default: `one_for_one`. */
  strategy?: SupervisionStrategy | undefined;
  /** The children, in the order of their start. `startChild` adds more later. Default: none. */
  children?: readonly ChildSpec[] | undefined;
  /** Maximum number of children at the same time. Default: 10,000. */
  maxChildren?: number | undefined;
}

const DEFAULT_MAX_CHILDREN = 10_000;
const STRATEGIES: readonly unknown[] = ["one_for_one", "one_for_all", "rest_for_one"] satisfies SupervisionStrategy[];

/** Returns the options with their defaults. Throws `invalid_definition` for invalid values. */
export function supervisorSettings(options: SupervisorOptions) {
  checkOptions("Supervisor", options, "name strategy intensity backOff children maxChildren platform onEvent");
  checkOptions("`intensity`", options.intensity, "restarts withinMs");
  checkOptions("`backOff`", options.backOff, "firstMs longestMs jitter");
  const { name, strategy = "one_for_one", maxChildren = DEFAULT_MAX_CHILDREN } = options;
  const intensity = withDefaults(DEFAULT_INTENSITY, options.intensity);
  const backOff = withDefaults(DEFAULT_BACK_OFF, options.backOff);
  if (typeof name !== "string" || name === "") throw invalidOption("`name` of a supervisor", name, "Pass a name.");
  if (!STRATEGIES.includes(strategy))
    throw invalidOption("`strategy`", strategy, `Pass one of: ${STRATEGIES.join(", ")}.`);
  // Negated comparisons, so that NaN fails too.
  if (!(intensity.restarts >= 0))
    throw invalidOption("`intensity.restarts`", intensity.restarts, "Pass a number, 0 or more.");
  checkMs("`intensity.withinMs`", intensity.withinMs);
  checkMs("`backOff.firstMs`", backOff.firstMs);
  checkMs("`backOff.longestMs`", backOff.longestMs);
  if (!(backOff.jitter >= 0 && backOff.jitter <= 1)) {
    throw invalidOption("`backOff.jitter`", backOff.jitter, "Pass a number from 0 to 1.");
  }
  if (!(maxChildren >= 0)) throw invalidOption("`maxChildren`", maxChildren, "Pass a number, 0 or more.");
  return { name, strategy, maxChildren, intensity, backOff };
}

/**
 * The number of restarts that is considered normal. One more within the period is treated as a failure that restarting
 * does not fix.
 */
export interface RestartIntensity {
  /** Maximum number of restarts within `withinMs`. Default: 5. */
  readonly restarts: number;
  /** The period, in milliseconds. Default: 60,000. */
  readonly withinMs: number;
}

/** The delay before a restart, which doubles each time. */
export interface RestartBackOff {
  /** The first delay, in milliseconds. Default: 1,000. */
  readonly firstMs: number;
  /**
   * The longest delay, in milliseconds. An instance that ran this long resets the delay to `firstMs`. Default: 30,000.
   */
  readonly longestMs: number;
  /**
   * The fraction by which each delay is randomly longer or shorter, from 0 to 1. Default: 0.2, so that children that
   * failed together do not restart together.
   */
  readonly jitter: number;
}

export const DEFAULT_INTENSITY: RestartIntensity = { restarts: 5, withinMs: 60_000 };
export const DEFAULT_BACK_OFF: RestartBackOff = { firstMs: 1_000, longestMs: 30_000, jitter: 0.2 };

/** Maximum number of times that the delay doubles. All practical delays have reached `longestMs` by then. */
const MAX_DOUBLINGS = 30;

/** Counts the restarts within the last `withinMs`. */
export class RestartCount {
  readonly #intensity: RestartIntensity;
  #times: number[] = [];

  constructor(intensity: RestartIntensity) {
    this.#intensity = intensity;
  }

  /** Counts a restart at `now`. False if it exceeds the intensity. */
  add(now: number): boolean {
    this.#times = this.#times.filter((time) => now - time < this.#intensity.withinMs);
    if (this.#times.length >= this.#intensity.restarts) return false;
    this.#times.push(now);
    return true;
  }
}

/** The delay before the next start, after `failures` earlier failures in a row. */
export function restartDelay(platform: Platform, backOff: RestartBackOff, failures: number): number {
  const { firstMs, longestMs, jitter } = backOff;
  const plain = Math.min(longestMs, firstMs * 2 ** Math.min(failures, MAX_DOUBLINGS));
  const [a = 0, b = 0] = jitter === 0 ? [] : platform.randomBytes(2);
  const random = ((a * 256 + b) / 65_535) * 2 - 1;
  return jitter === 0 ? plain : Math.round(plain * (1 + jitter * random));
}
