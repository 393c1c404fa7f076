interface DifferenceTableProps {
  readonly label: string;
  /** What the two columns are called. */
  readonly sides: readonly [string, string];
  readonly rows: readonly { readonly path: string; readonly left?: unknown; readonly right?: unknown }[];
}

/** Places at which two results differ, side by side. */
export function DifferenceTable({ label, sides, rows }: DifferenceTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section class="keep-differences" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Where</th>
            <th scope="col">{sides[0]}</th>
            <th scope="col">{sides[1]}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ path, left, right }) => (
            <tr key={path}>
              <th scope="row">
                <code>{path === "" ? "the result" : path}</code>
              </th>
              <td>
                <pre>{shownValue(left)}</pre>
              </td>
              <td>
                <pre>{shownValue(right)}</pre>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** What is not there is left out of the JSON that the page gets. */
function shownValue(value: unknown): string {
  return value === undefined ? "nothing" : JSON.stringify(value, null, 2);
}
