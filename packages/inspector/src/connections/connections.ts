import { McpError, type Revision } from "@parley/mcp/protocol";
import type { ConnectionInfo, TargetInfo } from "../contract/connections.js";
import { type ConnectionContext, InspectedConnection } from "./inspected-connection.js";
import type { InspectorTarget } from "./inspector-target.js";
import { revisionDetails } from "./server-details.js";

/** Maximum number of connections, including closed ones that are still listed. Further connections are rejected. */
export const MAX_CONNECTIONS = 50;

/** A recorded session. */
export interface ImportedSession {
  /** The name of the file. */
  readonly name: string;
  readonly revision?: Revision | undefined;
  readonly server?: ConnectionInfo["server"];
  readonly capabilities?: ConnectionInfo["capabilities"];
  readonly instructions?: string | undefined;
}

/** The connections of an inspector, and the targets that it was started with. */
export class Connections {
  readonly #context: ConnectionContext;
  readonly #targets: ReadonlyMap<string, InspectorTarget>;
  readonly #connections = new Map<string, InspectedConnection>();
  #count = 0;
  #isClosed = false;

  constructor(targets: readonly InspectorTarget[], context: ConnectionContext) {
    this.#context = context;
    this.#targets = new Map(targets.map((target, index) => [`target-${index + 1}`, target]));
  }

  /** Returns the targets that the inspector was started with. */
  targets(): TargetInfo[] {
    return [...this.#targets].map(([id, { kind, shown }]) => ({ id, kind, shown }));
  }

  all(): readonly InspectedConnection[] {
    return [...this.#connections.values()];
  }

  /** Returns a connection. Throws `invalid_params` for an unknown id. */
  get(id: string): InspectedConnection {
    const connection = this.#connections.get(id);
    if (connection !== undefined) return connection;
    throw new McpError("invalid_params", `unknown connection ${JSON.stringify(id.slice(0, 100))}`, {
      fix: "Choose a connection from the list.",
    });
  }

  /** Starts to connect to one of the targets. Throws `invalid_params` for an unknown id. */
  connectTarget(id: string, revision?: Revision | undefined): InspectedConnection {
    const target = this.#targets.get(id);
    if (target === undefined) {
      throw new McpError("invalid_params", `the terminal offers no target ${JSON.stringify(id.slice(0, 100))}`, {
        fix: "Choose a target from the list. Only the terminal can add commands.",
      });
    }
    return this.#begin(target, id, revision);
  }

  /** Starts to connect to a target that is not in `targets()`, such as an address that the user entered. */
  connectTo(target: InspectorTarget, revision?: Revision | undefined): InspectedConnection {
    return this.#begin(target, `address-${this.#count + 1}`, revision);
  }

  /** Adds a recorded session as a connection. The caller adds the entries of the session to the timeline. */
  addImported({ name, revision, ...details }: ImportedSession): InspectedConnection {
    const connection = this.#add(fileTarget(name), "imported", `file-${this.#count + 1}`);
    connection.describe({ ...details, ...(revision === undefined ? {} : revisionDetails(revision)) });
    return connection;
  }

  /** Removes a connection that has ended. Throws `invalid_params` if the connection is still open. */
  async forget(id: string): Promise<void> {
    const connection = this.get(id);
    const { status } = connection.info;
    if (status !== "closed" && status !== "failed" && status !== "imported") {
      throw new McpError("invalid_params", `the connection is ${status}`, { fix: "Disconnect first." });
    }
    this.#connections.delete(id);
    this.#context.changed();
    await connection.close();
  }

  /** Closes all connections, so that no server process is left running. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.all().map((connection) => connection.close()));
  }

  #begin(target: InspectorTarget, targetId: string, revision: Revision | undefined): InspectedConnection {
    const connection = this.#add(target, "connecting", targetId);
    void connection.open(revision);
    return connection;
  }

  #add(target: InspectorTarget, status: "connecting" | "imported", targetId: string): InspectedConnection {
    if (this.#isClosed) throw new McpError("connection_closed", "the inspector is closed");
    if (this.#connections.size >= MAX_CONNECTIONS) {
      throw new McpError("limit_exceeded", `there are ${MAX_CONNECTIONS} connections already`, {
        fix: "Disconnect and forget connections that are no longer needed.",
      });
    }
    this.#count += 1;
    const connection = new InspectedConnection(target, { id: `c${this.#count}`, status, targetId }, this.#context);
    this.#connections.set(connection.id, connection);
    this.#context.changed();
    return connection;
  }
}

function fileTarget(name: string): InspectorTarget {
  return {
    kind: "file",
    shown: name,
    open: async () => {
      throw new McpError("invalid_params", `${name} is a recorded session, which has no server`, {
        fix: "Choose a connection with a server.",
      });
    },
  };
}
