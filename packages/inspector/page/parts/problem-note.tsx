import { printable } from "@parley/mcp/protocol";
import type { ProblemInfo } from "../../src/contract/connections.js";
import { JsonTree } from "./json-tree.js";

/** An error and its fix. */
export function ProblemNote({ problem }: { readonly problem: ProblemInfo }) {
  return (
    <div class="parts-problem" role="note" aria-label="Problem">
      <p class="parts-problem-message">
        {problem.kind !== undefined && <code class="parts-mark">{problem.kind}</code>}
        {problem.code !== undefined && <code class="parts-mark">{problem.code}</code>}
        {printable(problem.message)}
      </p>
      {problem.fix !== undefined && (
        <p>
          <strong>Fix:</strong> {printable(problem.fix)}
        </p>
      )}
      {problem.data !== undefined && <JsonTree value={problem.data} label="Details" />}
    </div>
  );
}
