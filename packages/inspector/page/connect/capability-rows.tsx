/** Maximum number of displayed capabilities. Further ones are omitted. */
const MAX_ROWS = 100;

/** The declared capabilities of a server, one per row. */
export function CapabilityRows({ capabilities }: { readonly capabilities: Readonly<Record<string, unknown>> }) {
  const rows = describeCapabilities(capabilities);
  if (rows.length === 0) return <p class="soft">The server declares no capabilities.</p>;
  return (
    <dl class="connect-facts">
      {rows.map(({ name, words }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{words}</dd>
        </div>
      ))}
    </dl>
  );
}

/**
 * Describes each capability, such as `tools`: `yes, listChanged`. Deeper members appear as JSON. Each extension and
 * each experimental capability gets its own row.
 */
export function describeCapabilities(
  capabilities: Readonly<Record<string, unknown>>,
): { name: string; words: string }[] {
  return Object.entries(capabilities)
    .flatMap(([name, value]) =>
      (name === "extensions" || name === "experimental") && isRecord(value)
        ? Object.entries(value).map(([inner, settings]) => ({
            name: inner,
            words: `${name.replace(/s$/, "")}, ${describe(settings)}`,
          }))
        : [{ name, words: describe(value) }],
    )
    .slice(0, MAX_ROWS);
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function describe(value: unknown): string {
  if (value === true) return "yes";
  if (value === false) return "no";
  if (!isRecord(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, inner]) => {
    if (inner === true || (isRecord(inner) && Object.keys(inner).length === 0)) return name;
    return inner === false ? `no ${name}` : `${name}: ${JSON.stringify(inner)}`;
  });
  return ["yes", ...members].join(", ");
}
