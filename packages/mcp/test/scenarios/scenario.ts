import type { Client, Server } from "@parley/mcp";
import type { ClientOptions } from "../../src/client/contract/options.js";
import type { EraName, Revision } from "../../src/protocol/revisions.js";

/** What a scenario works with in one cell of the grid. */
export interface ScenarioEnv<T> {
  readonly transport: string;
  readonly era: EraName;
  /** The newest revision of the era; what `connect` pins unless told otherwise. */
  readonly revision: Revision;
  /** Connects one more client to the scenario's server. Closed by the runner at the end. */
  connect(options?: ClientOptions): Promise<Client<T>>;
}

/** One behaviour, told once and shown over every transport in both eras. */
export interface Scenario<T = unknown> {
  /** A sentence about behaviour. */
  readonly name: string;
  /** Ids of the checklist that it covers. */
  readonly ids?: readonly string[];
  /**
   * Makes the server. It may run in another process, so a scenario reaches it by the protocol only: whatever must happen
   * inside (a list that changes, a resource that is updated) is triggered by a tool.
   */
  server(): Server<Record<string, unknown>, T, unknown>;
  run(env: ScenarioEnv<T>): Promise<void>;
  /** Cells that do not apply, each with a reason that a stranger accepts; keys are a transport, an era, or `transport/era`. */
  readonly except?: Readonly<Record<string, string>>;
}

/** Defines a scenario; the type parameter follows the server, so that clients are typed. */
export function scenario<T>(definition: Scenario<T>): Scenario<T> {
  return definition;
}

/** Why a cell is left out, or undefined when it is to be run. */
export function exclusion(one: Scenario<never>, transport: string, era: EraName): string | undefined {
  return one.except?.[`${transport}/${era}`] ?? one.except?.[transport] ?? one.except?.[era];
}
