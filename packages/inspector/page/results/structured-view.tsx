import { printable } from "@parley/mcp/protocol";
import { useMemo, useState } from "preact/hooks";
import { JsonTree } from "../parts/json-tree.js";
import { PlainText } from "./text-view.js";
import { cellText, type ValueTable, valueTable } from "./value-table.js";

type Form = "table" | "tree" | "json";

const TITLES: Readonly<Record<Form, string>> = { table: "Table", tree: "Tree", json: "JSON" };

/** A JSON value as a table if possible, as a tree and as text. */
export function StructuredView({
  value,
  fileName = "result.json",
}: {
  readonly value: unknown;
  readonly fileName?: string;
}) {
  const table = useMemo(() => valueTable(value), [value]);
  const [chosen, setChosen] = useState<Form>();
  const form = chosen ?? (table === undefined ? "tree" : "table");
  const forms: readonly Form[] = table === undefined ? ["tree", "json"] : ["table", "tree", "json"];
  return (
    <div class="results-structured">
      <fieldset class="results-forms" aria-label="Show structured content as">
        {forms.map((each) => (
          <button key={each} type="button" class="quiet" aria-pressed={each === form} onClick={() => setChosen(each)}>
            {TITLES[each]}
          </button>
        ))}
      </fieldset>
      {form === "table" && table !== undefined && <TableView table={table} />}
      {form === "tree" && <JsonTree value={value} label="Structured content" />}
      {form === "json" && <PlainText text={JSON.stringify(value, null, 2) ?? ""} fileName={fileName} />}
    </div>
  );
}

/** Number of rows displayed at first, and added by each "Show more". */
const SHOWN = 500;
/**
 * Maximum number of cells of a table in which nested lists are tables too. Larger tables show nested lists as text.
 */
const MAX_NESTING_CELLS = 40;
/** Maximum number of rows of a table within a cell. Further rows are only counted. */
const SHOWN_NESTED = 20;

function TableView({ table }: { readonly table: ValueTable }) {
  const [shown, setShown] = useState(SHOWN);
  const left = table.rows.length - shown;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be focusable */}
      <section class="results-scroll" aria-label="Table" tabIndex={0}>
        <Rows table={table} shown={shown} nests={table.rows.length * table.columns.length <= MAX_NESTING_CELLS} />
      </section>
      {table.hidden > 0 && <p class="soft">{table.hidden} more columns are shown in the tree.</p>}
      {left > 0 && (
        <p class="results-more">
          <button type="button" onClick={() => setShown(shown + SHOWN)}>
            Show {Math.min(left, SHOWN)} more of {left} rows
          </button>
        </p>
      )}
    </>
  );
}

interface RowsProps {
  readonly table: ValueTable;
  readonly shown: number;
  /** True if lists of objects within cells are tables too. */
  readonly nests: boolean;
}

function Rows({ table, shown, nests }: RowsProps) {
  return (
    <table>
      <thead>
        <tr>
          {table.columns.map((column) => (
            <th key={column} scope="col">
              {printable(column)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {table.rows.slice(0, shown).map((row, index) => (
          <tr key={index}>
            {row.map((cell, at) => (
              <td key={table.columns[at]}>{nests ? <Cell value={cell} /> : printable(cellText(cell))}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Cell({ value }: { readonly value: unknown }) {
  const table = useMemo(() => (Array.isArray(value) ? valueTable(value) : undefined), [value]);
  if (table === undefined) return <>{printable(cellText(value))}</>;
  const left = table.rows.length - SHOWN_NESTED;
  return (
    <>
      <Rows table={table} shown={SHOWN_NESTED} nests={false} />
      {left > 0 && <p class="soft">{left} more are shown in the tree.</p>}
    </>
  );
}
