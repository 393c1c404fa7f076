/** Capabilities with members of their own that are written out; deeper ones are JSON. */
const MOST_ROWS = 100;

/** What a server says it can do, a capability a row. */
export function CapabilityRows({ capabilities }: { readonly capabilities: Readonly<Record<string, unknown>> }) {
  const rows = capabilityFacts(capabilities);
  if (rows.length === 0) return <p class="soft">The server has declared none.</p>;
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

/** Capabilities in words: `tools`: `yes, listChanged`. Extensions have a row each. */
export function capabilityFacts(capabilities: Readonly<Record<string, unknown>>): { name: string; words: string }[] {
  return Object.entries(capabilities)
    .flatMap(([name, value]) =>
      (name === "extensions" || name === "experimental") && isRecord(value)
        ? Object.entries(value).map(([inner, settings]) => ({
            name: inner,
            words: `${name.replace(/s$/, "")}, ${inWords(settings)}`,
          }))
        : [{ name, words: inWords(value) }],
    )
    .slice(0, MOST_ROWS);
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function inWords(value: unknown): string {
  if (value === true) return "yes";
  if (value === false) return "no";
  if (!isRecord(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, inner]) => {
    if (inner === true || (isRecord(inner) && Object.keys(inner).length === 0)) return name;
    return inner === false ? `no ${name}` : `${name}: ${JSON.stringify(inner)}`;
  });
  return ["yes", ...members].join(", ");
}
