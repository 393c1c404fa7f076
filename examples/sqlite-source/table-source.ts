import { type OfferKind, type OfferPage, resourceTemplate, type Source, ToolError, tool } from "@parley/mcp";
import type { Database, Row, Value } from "./database.js";

const PAGE_SIZE = 100;
/** Rows that one query returns; a model reads all of them. */
const MAX_ROWS = 20;
/** Resources that are listed at once, where the server cannot show the pages of this source. */
const MAX_LISTED = 1000;

interface Column {
  readonly name: string;
  readonly type: "integer" | "number" | "string";
  readonly required: boolean;
}

/** The rows of one table: each is a resource, and two tools add rows and look for them. */
export class TableSource implements Source {
  readonly #db: Database;
  readonly #table: string;
  readonly #key: string;
  readonly #columns: readonly Column[];
  readonly #listeners = new Set<(kinds: readonly OfferKind[]) => void>();
  /** The functions that notify the subscribers of a row. */
  readonly #watched = new Map<string, () => void>();

  constructor(db: Database, table: string) {
    const columns = db.prepare("SELECT * FROM pragma_table_info(?)").all(table);
    const key = columns.find(({ pk }) => pk === 1);
    if (key === undefined) throw new Error(`"${table}" is no table with a primary key`);
    this.#db = db;
    this.#table = table;
    this.#key = String(key["name"]);
    this.#columns = columns.map(({ name, type, notnull, dflt_value }) => ({
      name: String(name),
      type: jsonType(String(type)),
      required: notnull === 1 && dflt_value === null,
    }));
  }

  capabilities() {
    return { tools: {}, resources: {} };
  }

  list(kind: OfferKind) {
    if (kind === "tools") return this.#tools;
    if (kind === "resourceTemplates") return [this.#template];
    return kind === "resources" ? this.#entries(undefined, MAX_LISTED) : [];
  }

  /** The database splits the list: the cursor is the key of the last row. */
  page(kind: OfferKind, cursor: string | undefined): OfferPage {
    if (kind !== "resources") return { items: this.list(kind) as never };
    const items = this.#entries(cursor, PAGE_SIZE);
    const last = items.at(-1);
    return { items, next: items.length < PAGE_SIZE ? undefined : last?.name };
  }

  find(kind: OfferKind, name: string) {
    if (kind === "tools") return this.#tools.find((one) => one.name === name);
    // Any row may be read, also one that no page has listed.
    if (kind === "resources" || name === this.#template.name) return this.#template;
    return undefined;
  }

  watchOf(uri: string) {
    return uri.startsWith(`table:///${this.#table}/`) ? this.#watch : undefined;
  }

  onChange(listener: (kinds: readonly OfferKind[]) => void) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close() {
    this.#db.close();
  }

  /** The same function every time, so that subscriptions stay as they are when the list changes. */
  readonly #watch = (uri: string, updated: () => void) => {
    this.#watched.set(uri, updated);
    return () => this.#watched.delete(uri);
  };

  get #template() {
    this.#madeTemplate ??= resourceTemplate(
      `table:///${this.#table}/{key}`,
      { title: `A row of ${this.#table}`, mimeType: "application/json" },
      ({ key }) => {
        const row = this.#rows(`WHERE ${quoted(this.#key)} = ?`, 1, String(key))[0];
        return row === undefined ? undefined : JSON.stringify(row);
      },
    );
    return this.#madeTemplate;
  }
  #madeTemplate: ReturnType<typeof resourceTemplate<string>> | undefined;

  get #tools() {
    this.#madeTools ??= [this.#setTool(), this.#findTool()];
    return this.#madeTools;
  }
  #madeTools: ReturnType<typeof tool>[] | undefined;

  /** Adds a row, or replaces the one with the same key. */
  #setTool() {
    const required = this.#columns.filter((column) => column.required).map(({ name }) => name);
    const input = { ...this.#schema(), required };
    return tool(`${this.#table}_set`, { description: `Writes a row of ${this.#table}`, input }, (row) => {
      const names = this.#columns.map(({ name }) => name).filter((name) => row[name] !== undefined);
      const into = `${quoted(this.#table)} (${names.map(quoted).join()})`;
      const values = names.map((name) => row[name] as Value);
      try {
        const sql = `INSERT OR REPLACE INTO ${into} VALUES (${names.map(() => "?").join()}) RETURNING *`;
        const [written] = this.#db.prepare(sql).all(...values);
        return this.#written(String(written?.[this.#key]));
      } catch (error) {
        throw new ToolError(`SQLite refused the row: ${error instanceof Error ? error.message : error}`);
      }
    });
  }

  #findTool() {
    const input = this.#schema();
    const description = `Finds rows of ${this.#table} with these values, at most ${MAX_ROWS}`;
    return tool(`${this.#table}_find`, { description, input }, (wanted) => {
      const names = this.#columns.map(({ name }) => name).filter((name) => wanted[name] !== undefined);
      const where = names.length === 0 ? "" : `WHERE ${names.map((name) => `${quoted(name)} = ?`).join(" AND ")}`;
      return JSON.stringify(this.#rows(where, MAX_ROWS, ...names.map((name) => wanted[name] as Value)));
    });
  }

  #schema() {
    const properties = Object.fromEntries(this.#columns.map(({ name, type }) => [name, { type }]));
    return { type: "object" as const, properties, additionalProperties: false };
  }

  #written(key: string): string {
    const uri = this.#uri(key);
    for (const listener of this.#listeners) listener(["resources"]);
    this.#watched.get(uri)?.();
    return uri;
  }

  #entries(after: string | undefined, count: number) {
    const where = after === undefined ? "" : `WHERE ${quoted(this.#key)} > ?`;
    return this.#rows(where, count, ...(after === undefined ? [] : [after])).map((row) => {
      const name = String(row[this.#key]);
      return { uri: this.#uri(name), name, mimeType: "application/json" };
    });
  }

  #rows(where: string, count: number, ...values: Value[]): Row[] {
    const order = `ORDER BY ${quoted(this.#key)} LIMIT ${count}`;
    return this.#db.prepare(`SELECT * FROM ${quoted(this.#table)} ${where} ${order}`).all(...values);
  }

  #uri(key: string): string {
    return `table:///${this.#table}/${encodeURIComponent(key)}`;
  }
}

function jsonType(declared: string): Column["type"] {
  if (/INT/i.test(declared)) return "integer";
  return /REAL|NUM|FLOA|DOUB/i.test(declared) ? "number" : "string";
}

/** A name in SQL; names cannot be parameters. */
function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
