interface DifferenceTableProps {
  readonly label: string;
  /** The titles of the two columns. */
  readonly sides: readonly [string, string];
  readonly rows: readonly { readonly path: string; readonly left?: unknown; readonly right?: unknown }[];
}

/** The differences between two results, side by side. */
export function DifferenceTable({ label, sides, rows }: DifferenceTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be focusable
    <section class="keep-differences" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Path</th>
            <th scope="col">{sides[0]}</th>
            <th scope="col">{sides[1]}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ path, left, right }) => (
            <tr key={path}>
              <th scope="row">
                <code>{path === "" ? "(result)" : path}</code>
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

/** Formats the value of one side. A value that this side lacks is undefined here, because JSON omits it. */
function shownValue(value: unknown): string {
  return value === undefined ? "(absent)" : JSON.stringify(value, null, 2);
}
