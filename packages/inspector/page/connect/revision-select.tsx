import { REVISIONS, type Revision } from "@parley/mcp/protocol";

/** From the newest on, since that is what is asked for most. */
const NEWEST_FIRST = [...REVISIONS].reverse();

interface RevisionSelectProps {
  readonly label: string;
  /** Undefined where it is negotiated. */
  readonly chosen: Revision | undefined;
  readonly onChoose: (revision: Revision | undefined) => void;
  readonly disabled?: boolean | undefined;
}

/** Chooses a revision of the protocol, or lets client and server agree on one. */
export function RevisionSelect({ label, chosen, onChoose, disabled = false }: RevisionSelectProps) {
  const choose = (value: string) => onChoose(REVISIONS.find((revision) => revision === value));
  return (
    <select
      aria-label={label}
      value={chosen ?? ""}
      disabled={disabled}
      onChange={(event) => choose(event.currentTarget.value)}
    >
      <option value="">negotiate</option>
      {NEWEST_FIRST.map((revision) => (
        <option key={revision} value={revision}>
          {revision}
        </option>
      ))}
    </select>
  );
}
