import { StorageFailure } from "../../storage/storage.js";

// The part of `node:sqlite` that the driver uses, as the oldest supported types of Node do not know the module.

/** What SQLite stores and returns here. */
export type SqlValue = string | number | null | Uint8Array;

export type SqlRow = Readonly<Record<string, SqlValue>>;

export interface SqlStatement {
  get(...values: SqlValue[]): SqlRow | undefined;
  all(...values: SqlValue[]): SqlRow[];
  run(...values: SqlValue[]): { readonly changes: number | bigint };
}

export interface SqlDatabase {
  prepare(sql: string): SqlStatement;
  exec(sql: string): void;
  close(): void;
}

interface NodeSqlite {
  readonly DatabaseSync: new (file: string) => SqlDatabase;
}

/** The module, or a failure that says which runtimes have it. Bun and Deno without it end here too. */
export function nodeSqlite(): NodeSqlite {
  const { process: own } = globalThis as { process?: Partial<NodeJS.Process> };
  // Safe: the members used are those of the interface, in every release that has the module.
  const load = own?.getBuiltinModule as ((id: string) => NodeSqlite | undefined) | undefined;
  const found = moduleOrNothing(load);
  if (typeof found?.DatabaseSync === "function") return found;
  const version = own?.versions?.node;
  const here = version === undefined ? "this runtime has none" : `Node ${version} has none`;
  throw new StorageFailure(
    "unsupported",
    `sqliteStorage needs the module \`node:sqlite\`, and ${here}.`,
    "Use Node 22.13 or later (from 22.5 on with --experimental-sqlite), or another storage, such as `@parley/redis`.",
  );
}

function moduleOrNothing(load: ((id: string) => NodeSqlite | undefined) | undefined): NodeSqlite | undefined {
  try {
    return load?.("node:sqlite");
  } catch {
    // Some runtimes throw for a module that they do not have.
    return undefined;
  }
}
