import { REVISIONS, type Revision } from "@parley/mcp/protocol";

/** Newest first, because the newest revision is chosen most often. */
const NEWEST_FIRST = [...REVISIONS].reverse();

interface RevisionSelectProps {
  readonly label: string;
  /** Undefined if client and server negotiate the revision. */
  readonly chosen: Revision | undefined;
  readonly onChoose: (revision: Revision | undefined) => void;
  readonly disabled?: boolean | undefined;
}

/** Selects a protocol revision, or negotiation. */
export function RevisionSelect({ label, chosen, onChoose, disabled = false }: RevisionSelectProps) {
  const choose = (value: string) => onChoose(REVISIONS.find((revision) => revision === value));
  return (
    <select
      aria-label={label}
      value={chosen ?? ""}
      disabled={disabled}
      onChange={(event) => choose(event.currentTarget.value)}
    >
      <option value="">Auto-negotiate</option>
      {NEWEST_FIRST.map((revision) => (
        <option key={revision} value={revision}>
          {revision}
        </option>
      ))}
    </select>
  );
}
