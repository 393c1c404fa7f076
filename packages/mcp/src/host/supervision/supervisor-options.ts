import { type Some, withDefaults } from "../../encoding/with-defaults.js";
import type { Platform } from "../../platform/platform.js";
import { checkOptions } from "../../protocol/check-options.js";
import { type ChildSpec, checkMs, wrong } from "./child-spec.js";
import { DEFAULT_BACK_OFF, DEFAULT_INTENSITY, type RestartBackOff, type RestartIntensity } from "./restart-pace.js";
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
