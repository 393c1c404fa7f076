/** A line of JSON text is a key, a value, or both; longer ones are not looked into. */
const MOST_READ = 10_000;
const MEMBER = /^(\s*)("(?:[^"\\]|\\.)*")(: )(.*)$/;

const valueClass = (value: string) =>
  value.startsWith('"') ? "parts-tree-string" : /^[\d\-tfn]/.test(value) ? "parts-tree-number" : undefined;

/** Lines of JSON text as they are; a single line gets colours. */
export function JsonLine({ text }: { readonly text: string }) {
  if (text.length > MOST_READ || text.includes("\n")) return <span class="timeline-line">{text}</span>;
  const [, indent = "", key = "", colon = "", value = text] = MEMBER.exec(text) ?? [];
  const bare = value.trimStart();
  return (
    <span class="timeline-line">
      {indent}
      {key !== "" && <span class="parts-tree-name">{key}</span>}
      {colon}
      {value.slice(0, value.length - bare.length)}
      <span class={valueClass(bare)}>{bare}</span>
    </span>
  );
}
