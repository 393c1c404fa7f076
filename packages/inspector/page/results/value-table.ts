/** A value as a table. */
export interface ValueTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  /** Number of columns left out. */
  readonly hidden: number;
}

const MAX_COLUMNS = 50;
/** Number of rows whose members become columns. Members that only later rows have are not shown. */
const SAMPLED_ROWS = 1_000;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Converts a list of objects to a table with one column per member, and an object to a table of names and values.
 * Undefined for any other value.
 */
export function valueTable(value: unknown): ValueTable | undefined {
  if (Array.isArray(value)) return value.length > 0 && value.every(isObject) ? listTable(value) : undefined;
  if (!isObject(value)) return undefined;
  const entries = Object.entries(value);
  const [only] = entries;
  // Structured results usually wrap a list in an object, so a single list is shown as the table.
  if (entries.length === 1 && Array.isArray(only?.[1])) return valueTable(only[1]) ?? entryTable(entries);
  return entries.length === 0 ? undefined : entryTable(entries);
}

function entryTable(entries: readonly (readonly [string, unknown])[]): ValueTable {
  return { columns: ["name", "value"], rows: entries, hidden: 0 };
}

function listTable(list: readonly Readonly<Record<string, unknown>>[]): ValueTable {
  const names = new Set<string>();
  for (const item of list.slice(0, SAMPLED_ROWS)) for (const name of Object.keys(item)) names.add(name);
  const columns = [...names].slice(0, MAX_COLUMNS);
  return {
    columns,
    rows: list.map((item) => columns.map((name) => (Object.hasOwn(item, name) ? item[name] : undefined))),
    hidden: names.size - columns.length,
  };
}

/** Maximum number of characters of one cell. The rest is cut off. */
const MAX_CELL_LENGTH = 200;

/** Formats a value for one cell. Undefined gives an empty text. */
export function cellText(value: unknown): string {
  if (value === undefined) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > MAX_CELL_LENGTH ? `${text.slice(0, MAX_CELL_LENGTH)}…` : text;
}
