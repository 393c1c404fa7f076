import { useState } from "preact/hooks";
import type { ConnectionInfo } from "../../src/contract/connections.js";
import { act } from "../backend/act.js";
import { announce } from "../parts/announcer.js";
import { ProblemNote } from "../parts/problem-note.js";
import { useAction } from "../parts/use-action.js";

/** Maximum number of roots. At the limit, the button to add a root is disabled. */
const MAX_ROOTS = 100;

interface DraftRoot {
  readonly uri: string;
  readonly name: string;
}

/** Edits the folders that the client offers to the server as roots. */
export function RootsEditor({ connection }: { readonly connection: ConnectionInfo }) {
  const [roots, setRoots] = useState<readonly DraftRoot[]>(() =>
    connection.roots.map(({ uri, name = "" }) => ({ uri, name })),
  );
  const action = useAction();
  const change = (at: number, part: Partial<DraftRoot>) =>
    setRoots(roots.map((root, index) => (index === at ? { ...root, ...part } : root)));
  const save = (event: Event) => {
    event.preventDefault();
    const given = roots
      .map(({ uri, name }) => ({ uri: uri.trim(), name: name.trim() }))
      .filter(({ uri }) => uri !== "")
      .map(({ uri, name }) => (name === "" ? { uri } : { uri, name }));
    action.run(async () => {
      await act("setRoots", { connection: connection.id, roots: given });
      announce("Roots saved");
    });
  };
  return (
    <form class="connect-roots" onSubmit={save}>
      <p class="soft">Folders that the server may work in, as file: URIs.</p>
      {roots.map((root, index) => (
        <RootFields
          // The key is the position, because the URI and the name change while the user types.
          key={`root ${index}`}
          root={root}
          number={index + 1}
          onChange={(part) => change(index, part)}
          onRemove={() => setRoots(roots.filter((_, at) => at !== index))}
        />
      ))}
      {action.problem !== undefined && <ProblemNote problem={action.problem} />}
      <div class="parts-actions">
        <button
          type="button"
          disabled={roots.length >= MAX_ROOTS}
          onClick={() => setRoots([...roots, { uri: "", name: "" }])}
        >
          Add root
        </button>
        <button type="submit" disabled={action.busy}>
          Save roots
        </button>
      </div>
    </form>
  );
}

interface RootFieldsProps {
  readonly root: DraftRoot;
  readonly number: number;
  readonly onChange: (part: Partial<DraftRoot>) => void;
  readonly onRemove: () => void;
}

function RootFields({ root, number, onChange, onRemove }: RootFieldsProps) {
  return (
    <div class="connect-root">
      <input
        class="mono"
        aria-label={`URI of root ${number}`}
        placeholder="file:///home/me/project"
        value={root.uri}
        spellcheck={false}
        onInput={(event) => onChange({ uri: event.currentTarget.value })}
      />
      <input
        aria-label={`Name of root ${number}`}
        placeholder="name"
        value={root.name}
        onInput={(event) => onChange({ name: event.currentTarget.value })}
      />
      <button type="button" aria-label={`Remove root ${number}`} onClick={onRemove}>
        Remove
      </button>
    </div>
  );
}
