import { McpError, type Revision } from "@parley/mcp/protocol";
import type { ConnectionInfo, TargetInfo } from "../contract/connections.js";
import { revisionFacts } from "./connection-facts.js";
import { type ConnectionSurroundings, InspectedConnection } from "./inspected-connection.js";
import type { InspectorTarget } from "./inspector-target.js";

/** Connections at a time, those that have ended and were not forgotten included. */
export const MOST_CONNECTIONS = 50;

/** A recorded session. */
export interface ImportedSession {
  /** The name of its file. */
  readonly name: string;
  readonly revision?: Revision | undefined;
  readonly server?: ConnectionInfo["server"];
  readonly capabilities?: ConnectionInfo["capabilities"];
  readonly instructions?: string | undefined;
}

/** All connections of an inspector, and the targets that its terminal offers. */
export class Connections {
  readonly #around: ConnectionSurroundings;
  readonly #targets: ReadonlyMap<string, InspectorTarget>;
  readonly #connections = new Map<string, InspectedConnection>();
  #count = 0;
  #isClosed = false;

  constructor(targets: readonly InspectorTarget[], around: ConnectionSurroundings) {
    this.#around = around;
    this.#targets = new Map(targets.map((target, index) => [`target-${index + 1}`, target]));
  }

  /** What the terminal offers. */
  targets(): TargetInfo[] {
    return [...this.#targets].map(([id, { kind, shown }]) => ({ id, kind, shown }));
  }

  all(): readonly InspectedConnection[] {
    return [...this.#connections.values()];
  }

  /** Throws `invalid_params` where there is none. */
  get(id: string): InspectedConnection {
    const connection = this.#connections.get(id);
    if (connection !== undefined) return connection;
    throw new McpError("invalid_params", `there is no connection ${JSON.stringify(id.slice(0, 100))}`, {
      fix: "Choose one of the connections that the state lists.",
    });
  }

  /** Begins to connect to a target of the terminal. Throws `invalid_params` where there is none of this id. */
  connectTarget(id: string, revision?: Revision | undefined): InspectedConnection {
    const target = this.#targets.get(id);
    if (target === undefined) {
      throw new McpError("invalid_params", `the terminal offers no target ${JSON.stringify(id.slice(0, 100))}`, {
        fix: "Choose one of the targets that the state lists; commands come from the terminal alone.",
      });
    }
    return this.#begin(target, id, revision);
  }

  /** Begins to connect to a target that the terminal does not offer. */
  connectTo(target: InspectorTarget, revision?: Revision | undefined): InspectedConnection {
    return this.#begin(target, `address-${this.#count + 1}`, revision);
  }

  /** Shows a recorded session beside the connections; its entries are added to the timeline by the caller. */
  addImported({ name, revision, ...facts }: ImportedSession): InspectedConnection {
    const connection = this.#add(fileTarget(name), "imported", `file-${this.#count + 1}`);
    connection.describe({ ...facts, ...(revision === undefined ? {} : revisionFacts(revision)) });
    return connection;
  }

  /** Removes a connection that has ended. Throws `invalid_params` for one that has not. */
  async forget(id: string): Promise<void> {
    const connection = this.get(id);
    const { status } = connection.info;
    if (status !== "closed" && status !== "failed" && status !== "imported") {
      throw new McpError("invalid_params", `the connection is ${status}`, { fix: "Disconnect first." });
    }
    this.#connections.delete(id);
    this.#around.changed();
    await connection.close();
  }

  /** Ends all connections, so that no program is left running. */
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
    if (this.#connections.size >= MOST_CONNECTIONS) {
      throw new McpError("limit_exceeded", `there are ${MOST_CONNECTIONS} connections already`, {
        fix: "Disconnect and forget those that are no longer needed.",
      });
    }
    this.#count += 1;
    const connection = new InspectedConnection(target, { id: `c${this.#count}`, status, targetId }, this.#around);
    this.#connections.set(connection.id, connection);
    this.#around.changed();
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
