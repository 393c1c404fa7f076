import { printable } from "@parley/mcp/protocol";
import { useState } from "preact/hooks";

/** Number of members displayed at first, and added by each "Show more". */
const FIRST_MEMBERS = 100;
/** Number of characters of one string displayed at first. A button shows the rest. */
const FIRST_CHARACTERS = 2_000;
/** Number of levels that are expanded at first. */
const OPEN_LEVELS = 2;

interface JsonTreeProps {
  readonly value: unknown;
  readonly label?: string | undefined;
}

/** A JSON value as a collapsible tree. The document contains only expanded branches. */
export function JsonTree({ value, label }: JsonTreeProps) {
  return (
    <ul class="parts-tree" aria-label={label ?? "JSON"}>
      <TreeNode name={label} value={value} level={0} />
    </ul>
  );
}

interface TreeNodeProps {
  readonly name?: string | undefined;
  readonly value: unknown;
  readonly level: number;
}

function TreeNode({ name, value, level }: TreeNodeProps) {
  if (typeof value !== "object" || value === null) {
    return (
      <li>
        <NodeName name={name} />
        <Leaf value={value} />
      </li>
    );
  }
  return <Branch name={name} value={value} level={level} />;
}

function Branch({ name, value, level }: TreeNodeProps & { readonly value: object }) {
  const [open, setOpen] = useState(level < OPEN_LEVELS);
  const [shown, setShown] = useState(FIRST_MEMBERS);
  const isList = Array.isArray(value);
  const keys = Object.keys(value);
  const size = isList ? `[${keys.length}]` : `{${keys.length}}`;
  if (keys.length === 0) {
    return (
      <li>
        <NodeName name={name} />
        <span class="parts-tree-size">{isList ? "[]" : "{}"}</span>
      </li>
    );
  }
  return (
    <li>
      <button type="button" class="parts-tree-branch" aria-expanded={open} onClick={() => setOpen(!open)}>
        <NodeName name={name} />
        <span class="parts-tree-size">{size}</span>
      </button>
      {open && (
        <ul>
          {keys.slice(0, shown).map((key) => (
            <TreeNode key={key} name={key} value={Reflect.get(value, key)} level={level + 1} />
          ))}
          {keys.length > shown && (
            <li>
              <button type="button" class="quiet" onClick={() => setShown(shown + FIRST_MEMBERS)}>
                Show {Math.min(FIRST_MEMBERS, keys.length - shown)} more of {keys.length - shown}
              </button>
            </li>
          )}
        </ul>
      )}
    </li>
  );
}

function NodeName({ name }: { readonly name: string | undefined }) {
  return name === undefined ? null : <span class="parts-tree-name">{printable(name)}: </span>;
}

function Leaf({ value }: { readonly value: unknown }) {
  const [whole, setWhole] = useState(false);
  const text = typeof value === "string" ? printable(JSON.stringify(value)) : String(value);
  const kind = value === null ? "null" : typeof value;
  if (text.length <= FIRST_CHARACTERS || whole) return <span class={`parts-tree-${kind}`}>{text}</span>;
  return (
    <>
      <span class={`parts-tree-${kind}`}>{text.slice(0, FIRST_CHARACTERS)}…</span>{" "}
      <button type="button" class="quiet" onClick={() => setWhole(true)}>
        Show all {text.length} characters
      </button>
    </>
  );
}
