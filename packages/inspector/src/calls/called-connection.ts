import type { Client } from "@parley/mcp";
import type { AppPages } from "@parley/mcp/apps";
import type { SkillsClient } from "@parley/mcp/skills";
import type { TaskFeature } from "@parley/mcp/tasks";
import type { ConnectionInfo } from "../contract/connections.js";

/** An extension as `client.extension` takes it. */
interface GivenExtension<F> {
  readonly id: string;
  readonly feature?: F;
}

/** A connection as far as those need it who ask something of its server. */
export interface CalledConnection {
  readonly id: string;
  /** Throws an `McpError` while the connection does not stand. */
  readonly client: Client;
  /** What the client was opened with. */
  readonly extensions: {
    readonly tasks: GivenExtension<TaskFeature>;
    readonly skills: GivenExtension<SkillsClient>;
    readonly apps: GivenExtension<AppPages>;
  };
  readonly info: Pick<ConnectionInfo, "lists" | "era">;
}

/** Finds a connection by its id. Throws `invalid_params` where there is none. */
export interface ConnectionFinder {
  get(id: string): CalledConnection;
}
