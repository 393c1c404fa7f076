import { useEffect, useMemo, useState } from "preact/hooks";
import type { ProblemInfo } from "../../src/contract/connections.js";
import type { ModelTool, Provider } from "../../src/contract/model-view.js";
import { act } from "../backend/act.js";
import { ProblemNote } from "../parts/problem-note.js";
import { shownFailure } from "../parts/use-action.js";
import { FindingList, findingNotes } from "./finding-list.js";
import { lineDifferences } from "./line-differences.js";
import { MarkedText } from "./marked-text.js";
import { PROVIDER_NAMES } from "./provider-names.js";

interface ToolPaneProps {
  readonly connection: string;
  readonly provider: Provider;
  readonly tool: ModelTool;
}

/**
 * One tool: its definition beside the version that the model gets, the parts that the provider drops, and the lint
 * findings. The `key` must be the name of the tool, so that another tool starts with empty state.
 */
export function ToolPane({ connection, provider, tool }: ToolPaneProps) {
  const { definition, problem } = useDefinition(connection, tool.name);
  const [sides, notes] = useMemo(() => {
    const text = jsonText(definition ?? {});
    return [lineDifferences(text, jsonText(tool.sent)), findingNotes(text, tool.findings)];
  }, [definition, tool]);
  return (
    <section class="model-tool" aria-label="Tool">
      <h2 class="mono">{tool.name}</h2>
      <p class="soft">{tool.tokens.toLocaleString("en")} tokens in every request</p>
      {problem !== undefined && <ProblemNote problem={problem} />}
      {tool.lost.length > 0 && (
        <div class="model-lost">
          <h3>What the model does not see</h3>
          <ul>
            {tool.lost.map((part) => (
              <li key={part}>{part}</li>
            ))}
          </ul>
        </div>
      )}
      <div class="model-sides">
        <div>
          <h3>What the server sent</h3>
          {definition !== undefined && (
            <MarkedText label="What the server sent" lines={sides.left} sign="−" notes={notes} />
          )}
        </div>
        <div>
          <h3>What {PROVIDER_NAMES[provider]} gets</h3>
          <MarkedText label="What the model gets" lines={sides.right} sign="+" />
        </div>
      </div>
      <FindingList title="Lint findings" findings={tool.findings} />
    </section>
  );
}

const jsonText = (value: object) => JSON.stringify(value, null, 2);

interface LoadedDefinition {
  readonly definition?: object;
  readonly problem?: ProblemInfo;
}

function useDefinition(connection: string, name: string): LoadedDefinition {
  const [loaded, setLoaded] = useState<LoadedDefinition>({});
  useEffect(() => {
    let wanted = true;
    act("offer", { connection, kind: "tools", name }).then(
      ({ definition }) => wanted && setLoaded({ definition }),
      (reason: unknown) => wanted && setLoaded({ problem: shownFailure(reason) }),
    );
    return () => {
      wanted = false;
    };
  }, [connection, name]);
  return loaded;
}
