import type { LintRule } from "./lint-rule.js";

const HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] as const;
/** First words of names of tools that destroy something, and of those that only change something. */
const DESTROYS = new Set("clear delete destroy drop erase kill overwrite purge remove truncate wipe".split(" "));
const CHANGES = new Set(
  "append buy create deploy edit insert pay publish rename reset send update upload write".split(" "),
);

/** `drop` of `drop_table`, `dropTable` and `DROP-TABLE`. */
function firstWord(name: string): string {
  return (/^(?:[A-Z]+(?![a-z])|[A-Za-z][a-z]*)/.exec(name)?.[0] ?? "").toLowerCase();
}

/** Rules about annotations, by which hosts decide what needs the consent of a user. */
export const ANNOTATION_RULES: readonly LintRule[] = [
  {
    id: "annotations-missing",
    severity: "warning",
    summary: "The tool says neither that it only reads nor that it destroys, so that hosts assume the worst.",
    *each({ annotations }) {
      if (HINTS.some((hint) => annotations?.[hint] !== undefined)) return;
      yield {
        path: "annotations",
        message: "the tool has no hints, so hosts take it for one that destroys",
        fix: "Set `readOnlyHint`, or `destructiveHint` and `idempotentHint`.",
      };
    },
  },
  {
    id: "annotations-contradict",
    severity: "error",
    summary: "The annotations say that the tool only reads and that it destroys.",
    *each({ annotations }) {
      if (annotations?.readOnlyHint !== true || annotations.destructiveHint !== true) return;
      yield {
        path: "annotations",
        message: "`readOnlyHint` and `destructiveHint` are both true",
        fix: "Keep the one that holds.",
      };
    },
  },
  {
    id: "annotations-deny-name",
    severity: "warning",
    summary: "The annotations say that a tool only reads, or destroys nothing, whose name says that it does.",
    *each({ name, annotations }) {
      const fix = "Correct the hint, or the name.";
      const word = firstWord(name);
      if (annotations?.readOnlyHint === true && (CHANGES.has(word) || DESTROYS.has(word))) {
        yield { path: "annotations.readOnlyHint", message: "by its name the tool changes something", fix };
      } else if (annotations?.destructiveHint === false && DESTROYS.has(word)) {
        yield { path: "annotations.destructiveHint", message: "by its name the tool destroys something", fix };
      }
    },
  },
];
