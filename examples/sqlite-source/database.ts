/** A value of a column. */
export type Value = string | number | null;
export type Row = Readonly<Record<string, Value>>;

/** The part of `node:sqlite` that this example uses; the types of Node 20 do not know the module. */
export interface Database {
  prepare(sql: string): { all(...values: Value[]): Row[]; get(...values: Value[]): Row | undefined };
  exec(sql: string): void;
  close(): void;
}

/** Opens a database; `:memory:` is one that ends with the process. Needs Node 22.13 or later. */
export function openDatabase(file: string): Database {
  const { getBuiltinModule } = process as { getBuiltinModule?: (id: string) => unknown };
  const sqlite = getBuiltinModule?.("node:sqlite") as { DatabaseSync: new (file: string) => Database } | undefined;
  if (sqlite === undefined) throw new Error("This example needs Node 22.13 or later.");
  return new sqlite.DatabaseSync(file);
}
