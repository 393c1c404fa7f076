import { type Some, withDefaults } from "../../encoding/with-defaults.js";
import type { Platform } from "../../platform/platform.js";
import { checkOptions } from "../../protocol/check-options.js";
import { type ChildSpec, checkMs, wrong } from "./child-spec.js";
import type { SupervisionEvent } from "./supervision-event.js";
import type { SupervisionStrategy } from "./supervisor-tree.js";

/** How children are restarted, and who is told. */
export interface RestartOptions {
  /** How many restarts within which time are allowed before the supervisor ends. Default: 5 within 60 s. */
  intensity?: Some<RestartIntensity> | undefined;
  /** The delay before a restart. Default: from 1 s to 30 s, 20 % more or less. */
  backOff?: Some<RestartBackOff> | undefined;
  /** Replaces parts of the runtime, for tests. Default: the runtime's own. */
  platform?: Partial<Platform> | undefined;
  /** Called with every event of this supervisor and of those below it. */
  onEvent?: ((event: SupervisionEvent) => void) | undefined;
}

/** The options of a supervisor. */
export interface SupervisorOptions extends RestartOptions {
  /** Its name in events and in the tree. */
  name: string;
  /** Whom the end of a child affects. Default: `one_for_one`. */
  strategy?: SupervisionStrategy | undefined;
  /** The children, in the order of their start. More can be added later. Default: none. */
  children?: readonly ChildSpec[] | undefined;
  /** The most children at one time. Default: 10,000. */
  maxChildren?: number | undefined;
}

const DEFAULT_MAX_CHILDREN = 10_000;
const STRATEGIES: readonly unknown[] = ["one_for_one", "one_for_all", "rest_for_one"] satisfies SupervisionStrategy[];

/** The options with their defaults. Throws `invalid_definition` for what could not work. */
export function supervisorSettings(options: SupervisorOptions) {
  checkOptions("Supervisor", options, "name strategy intensity backOff children maxChildren platform onEvent");
  checkOptions("`intensity`", options.intensity, "restarts withinMs");
  checkOptions("`backOff`", options.backOff, "firstMs longestMs jitter");
  const { name, strategy = "one_for_one", maxChildren = DEFAULT_MAX_CHILDREN } = options;
  const intensity = withDefaults(DEFAULT_INTENSITY, options.intensity);
  const backOff = withDefaults(DEFAULT_BACK_OFF, options.backOff);
  if (typeof name !== "string" || name === "") throw wrong("`name` of a supervisor", name, "Pass a name.");
  if (!STRATEGIES.includes(strategy)) throw wrong("`strategy`", strategy, `Pass one of: ${STRATEGIES.join(", ")}.`);
  // Written so that what is not a number fails too.
  if (!(intensity.restarts >= 0)) throw wrong("`intensity.restarts`", intensity.restarts, "Pass a number, 0 or more.");
  checkMs("`intensity.withinMs`", intensity.withinMs);
  checkMs("`backOff.firstMs`", backOff.firstMs);
  checkMs("`backOff.longestMs`", backOff.longestMs);
  if (!(backOff.jitter >= 0 && backOff.jitter <= 1)) {
    throw wrong("`backOff.jitter`", backOff.jitter, "Pass a number from 0 to 1.");
  }
  if (!(maxChildren >= 0)) throw wrong("`maxChildren`", maxChildren, "Pass a number, 0 or more.");
  return { name, strategy, maxChildren, intensity, backOff };
}

/** How many restarts are usual. One more within the time is a failure that restarting does not cure. */
export interface RestartIntensity {
  /** The restarts that are allowed within `withinMs`. Default: 5. */
  readonly restarts: number;
  /** How long a restart counts. Default: 60 s. */
  readonly withinMs: number;
}

/** How long to wait before a child is started again: twice as long each time. */
export interface RestartBackOff {
  /** The first delay. Default: 1 s. */
  readonly firstMs: number;
  /** The longest delay; also how long an instance must have run for its child to begin with `firstMs` again. Default: 30 s. */
  readonly longestMs: number;
  /** The part by which each delay is randomly longer or shorter. Default: 0.2. */
  readonly jitter: number;
}

export const DEFAULT_INTENSITY: RestartIntensity = { restarts: 5, withinMs: 60_000 };
export const DEFAULT_BACK_OFF: RestartBackOff = { firstMs: 1_000, longestMs: 30_000, jitter: 0.2 };

/** Beyond this many doublings every delay is the longest. */
const MOST_DOUBLINGS = 30;

/** Counts the restarts of the last `withinMs`. */
export class RestartCount {
  readonly #intensity: RestartIntensity;
  #times: number[] = [];

  constructor(intensity: RestartIntensity) {
    this.#intensity = intensity;
  }

  /** Counts one more at `now`. False if that is more than the intensity allows. */
  add(now: number): boolean {
    this.#times = this.#times.filter((time) => now - time < this.#intensity.withinMs);
    if (this.#times.length >= this.#intensity.restarts) return false;
    this.#times.push(now);
    return true;
  }
}

/** The delay before the next start after `failures` earlier ones in a row. */
export function restartDelay(platform: Platform, backOff: RestartBackOff, failures: number): number {
  const { firstMs, longestMs, jitter } = backOff;
  const plain = Math.min(longestMs, firstMs * 2 ** Math.min(failures, MOST_DOUBLINGS));
  const [a = 0, b = 0] = jitter === 0 ? [] : platform.randomBytes(2);
  const random = ((a * 256 + b) / 65_535) * 2 - 1;
  return jitter === 0 ? plain : Math.round(plain * (1 + jitter * random));
}
