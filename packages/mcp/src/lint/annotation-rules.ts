import type { LintRule } from "./lint-rule.js";

const HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] as const;
/**
 * First words in the names of tools: `DESTROYS` for tools that destroy something, `CHANGES` for tools that only change
 * something.
 */
const DESTROYS = new Set("clear delete destroy drop erase kill overwrite purge remove truncate wipe".split(" "));
const CHANGES = new Set(
  "append buy create deploy edit insert pay publish rename reset send update upload write".split(" "),
);

/** The first word of a name: `drop` for `drop_table`, `dropTable` and `DROP-TABLE`. */
function firstWord(name: string): string {
  return (/^(?:[A-Z]+(?![a-z])|[A-Za-z][a-z]*)/.exec(name)?.[0] ?? "").toLowerCase();
}

/** Rules about annotations, which hosts use to decide what needs the consent of the user. */
export const ANNOTATION_RULES: readonly LintRule[] = [
  {
    id: "annotations-missing",
    severity: "warning",
    summary: "The tool has no annotations about what it changes, so hosts assume that it is destructive.",
    *each({ annotations }) {
      if (HINTS.some((hint) => annotations?.[hint] !== undefined)) return;
      yield {
        path: "annotations",
        message: "the tool has no hints, so hosts assume that it is destructive",
        fix: "Set `readOnlyHint`, or `destructiveHint` and `idempotentHint`.",
      };
    },
  },
  {
    id: "annotations-contradict",
    severity: "error",
    summary: "The annotations say that the tool is read-only and also that it is destructive.",
    *each({ annotations }) {
      if (annotations?.readOnlyHint !== true || annotations.destructiveHint !== true) return;
      yield {
        path: "annotations",
        message: "`readOnlyHint` and `destructiveHint` are both true",
        fix: "Remove the one that is wrong.",
      };
    },
  },
  {
    id: "annotations-deny-name",
    severity: "warning",
    summary: "The annotations say that the tool is read-only or not destructive, but its name says otherwise.",
    *each({ name, annotations }) {
      const fix = "Correct the hint or the name.";
      const word = firstWord(name);
      if (annotations?.readOnlyHint === true && (CHANGES.has(word) || DESTROYS.has(word))) {
        yield {
          path: "annotations.readOnlyHint",
          message: "the tool is marked as read-only, but its name says that it changes something",
          fix,
        };
      } else if (annotations?.destructiveHint === false && DESTROYS.has(word)) {
        yield {
          path: "annotations.destructiveHint",
          message: "the tool is marked as not destructive, but its name says that it destroys something",
          fix,
        };
      }
    },
  },
];
