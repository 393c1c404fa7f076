/** A value as rows. */
export interface ValueTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  /** Columns that are left out. */
  readonly hidden: number;
}

const MOST_COLUMNS = 50;
/** Rows that are looked at for their columns. */
const ROWS_LOOKED_AT = 1_000;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A list of objects as a table with their members as columns, an object as one of names and values; undefined for all else. */
export function valueTable(value: unknown): ValueTable | undefined {
  if (Array.isArray(value)) return value.length > 0 && value.every(isObject) ? listTable(value) : undefined;
  if (!isObject(value)) return undefined;
  const entries = Object.entries(value);
  const [only] = entries;
  // A list in an object of its own is how structured results are usually wrapped.
  if (entries.length === 1 && Array.isArray(only?.[1])) return valueTable(only[1]) ?? entryTable(entries);
  return entries.length === 0 ? undefined : entryTable(entries);
}

function entryTable(entries: readonly (readonly [string, unknown])[]): ValueTable {
  return { columns: ["name", "value"], rows: entries, hidden: 0 };
}

function listTable(list: readonly Readonly<Record<string, unknown>>[]): ValueTable {
  const names = new Set<string>();
  for (const item of list.slice(0, ROWS_LOOKED_AT)) for (const name of Object.keys(item)) names.add(name);
  const columns = [...names].slice(0, MOST_COLUMNS);
  return {
    columns,
    rows: list.map((item) => columns.map((name) => (Object.hasOwn(item, name) ? item[name] : undefined))),
    hidden: names.size - columns.length,
  };
}

/** Characters of one cell. */
const MOST_CELL = 200;

/** A value for one cell; undefined is empty. */
export function cellText(value: unknown): string {
  if (value === undefined) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > MOST_CELL ? `${text.slice(0, MOST_CELL)}…` : text;
}
