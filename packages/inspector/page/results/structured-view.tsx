import { printable } from "@parley/mcp/protocol";
import { useMemo, useState } from "preact/hooks";
import { JsonTree } from "../parts/json-tree.js";
import { PlainText } from "./text-view.js";
import { cellText, type ValueTable, valueTable } from "./value-table.js";

type Form = "table" | "tree" | "json";

const TITLES: Readonly<Record<Form, string>> = { table: "Table", tree: "Tree", json: "JSON" };

/** A JSON value as a table where it is one, as a tree, and as text. */
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

/** Rows that are shown at first, and with each further step. */
const SHOWN = 500;

function TableView({ table }: { readonly table: ValueTable }) {
  const [shown, setShown] = useState(SHOWN);
  const left = table.rows.length - shown;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <section class="results-scroll" aria-label="Table" tabIndex={0}>
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
                  <td key={table.columns[at]}>{printable(cellText(cell))}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {table.hidden > 0 && <p class="soft">{table.hidden} more columns are in the tree.</p>}
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
