import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ConnectionInfo, ProblemInfo } from "../../src/contract/connections.js";
import { type ModelTool, type ModelView, PROVIDERS, type Provider } from "../../src/contract/model-view.js";
import { act } from "../backend/act.js";
import { ProblemNote } from "../parts/problem-note.js";
import { SearchBox } from "../parts/search-box.js";
import { TabPanel, Tabs } from "../parts/tabs.js";
import { shownFailure } from "../parts/use-action.js";
import { VirtualList } from "../parts/virtual-list.js";
import { FindingList } from "./finding-list.js";
import { PROVIDER_NAMES } from "./provider-names.js";
import { ToolPane } from "./tool-pane.js";

const ROW_HEIGHT = 40;
const LABEL = "Providers";
const TABS = PROVIDERS.map((id) => ({ id, title: PROVIDER_NAMES[id] }));
type Order = "cost" | "name";

/** The tools of a server as each provider receives them. */
export function ModelPanel({ connection }: { readonly connection: ConnectionInfo }) {
  const [provider, setProvider] = useState<Provider>("anthropic");
  const { id, opened, lists } = connection;
  return (
    <div class="model">
      <Tabs label={LABEL} tabs={TABS} chosen={provider} onChoose={setProvider} />
      <TabPanel label={LABEL} chosen={provider}>
        {/*
         * The key resets the state, so that a result for another provider, or from before a list change, is never shown
         * as the current one.
         */}
        <ProviderTools key={`${provider} ${opened} ${lists.tools}`} connection={id} provider={provider} />
      </TabPanel>
    </div>
  );
}

interface ProviderToolsProps {
  readonly connection: string;
  readonly provider: Provider;
}

function ProviderTools({ connection, provider }: ProviderToolsProps) {
  const { view, problem } = useModelView(connection, provider);
  if (problem !== undefined) return <ProblemNote problem={problem} />;
  if (view === undefined) return <p class="soft model-empty">Loading the tools…</p>;
  return <ModelTools connection={connection} view={view} />;
}

interface LoadedView {
  readonly view?: ModelView;
  readonly problem?: ProblemInfo;
}

function useModelView(connection: string, provider: Provider): LoadedView {
  const [loaded, setLoaded] = useState<LoadedView>({});
  useEffect(() => {
    let wanted = true;
    act("modelView", { connection, provider }).then(
      (view) => wanted && setLoaded({ view }),
      (reason: unknown) => wanted && setLoaded({ problem: shownFailure(reason) }),
    );
    return () => {
      wanted = false;
    };
  }, [connection, provider]);
  return loaded;
}

function ModelTools({ connection, view }: { readonly connection: string; readonly view: ModelView }) {
  const [order, setOrder] = useState<Order>("cost");
  const [search, setSearch] = useState("");
  const [name, setName] = useState<string | undefined>(undefined);
  const panes = useRef<HTMLDivElement>(null);
  const tools = useMemo(() => sortedTools(view.tools, order, search), [view, order, search]);
  const tool = view.tools.find((one) => one.name === name);
  const maxTokens = useMemo(() => view.tools.reduce((most, { tokens }) => Math.max(most, tokens), 1), [view]);
  return (
    <>
      <ModelTotal view={view} />
      <FindingList title="Lint findings about all tools" findings={view.findings} />
      <div ref={panes} class={tool === undefined ? "model-panes" : "model-panes model-panes-two"}>
        <section class="model-list" aria-label="Tools by cost">
          <div class="model-bar">
            <SearchBox value={search} onInput={setSearch} label="Search tools" />
            <OrderButton order="cost" chosen={order} onChoose={setOrder} />
            <OrderButton order="name" chosen={order} onChoose={setOrder} />
          </div>
          {tools.length === 0 ? (
            <p class="soft model-empty">
              {view.tools.length === 0 ? "The model gets no tools." : "No tool matches the search."}
            </p>
          ) : (
            <VirtualList
              label="Tools as the model sees them"
              items={tools}
              rowHeight={ROW_HEIGHT}
              keyOf={nameOf}
              render={(one) => <ToolRow tool={one} total={view.tokens} maxTokens={maxTokens} />}
              selected={name}
              onSelect={(one) => setName(one.name)}
              selectOnMove
              panes={panes}
            />
          )}
        </section>
        {tool !== undefined && (
          <ToolPane key={tool.name} connection={connection} provider={view.provider} tool={tool} />
        )}
      </div>
    </>
  );
}

const nameOf = ({ name }: ModelTool) => name;

function sortedTools(tools: readonly ModelTool[], order: Order, search: string): ModelTool[] {
  const wanted = search.trim().toLowerCase();
  const found = tools.filter(({ name }) => name.toLowerCase().includes(wanted));
  const byName = (a: ModelTool, b: ModelTool) => (a.name < b.name ? -1 : 1);
  return found.sort(order === "name" ? byName : (a, b) => b.tokens - a.tokens || byName(a, b));
}

interface OrderButtonProps {
  readonly order: Order;
  readonly chosen: Order;
  readonly onChoose: (order: Order) => void;
}

function OrderButton({ order, chosen, onChoose }: OrderButtonProps) {
  return (
    <button type="button" aria-pressed={order === chosen} onClick={() => onChoose(order)}>
      By {order}
    </button>
  );
}

function ModelTotal({ view }: { readonly view: ModelView }) {
  const how = view.counted === "exactly" ? "counted with a tokenizer" : "estimated, four characters per token";
  const lossy = view.tools.filter(({ lost }) => lost.length > 0).length;
  return (
    <div class="model-total">
      <p>
        <strong>{view.tokens.toLocaleString("en")} tokens</strong> for {view.tools.length.toLocaleString("en")}{" "}
        {view.tools.length === 1 ? "tool" : "tools"} in every request
        {view.instructionTokens > 0 && `, and ${view.instructionTokens.toLocaleString("en")} for the instructions`}{" "}
        <span class="soft">({how})</span>
      </p>
      {lossy > 0 && (
        <p>
          {PROVIDER_NAMES[view.provider]} drops parts of {lossy.toLocaleString("en")} {lossy === 1 ? "tool" : "tools"}.
        </p>
      )}
      {view.cut && <p>The server has more tools than are shown here.</p>}
    </div>
  );
}

interface ToolRowProps {
  readonly tool: ModelTool;
  readonly total: number;
  readonly maxTokens: number;
}

function ToolRow({ tool, total, maxTokens }: ToolRowProps) {
  const share = total === 0 ? 0 : (tool.tokens / total) * 100;
  const faults = tool.findings.filter(({ severity }) => severity !== "note").length;
  const isError = tool.findings.some(({ severity }) => severity === "error");
  return (
    <div class="model-row">
      <span class="mono model-name">{tool.name}</span>
      <span class="model-marks">
        {tool.lost.length > 0 && <span class="model-mark-lost">{tool.lost.length} dropped</span>}
        {faults > 0 && (
          <span class={isError ? "model-mark-error" : "model-mark-found"}>
            {faults === 1 ? "1 lint issue" : `${faults} lint issues`}
          </span>
        )}
      </span>
      <span class="model-tokens">{tool.tokens.toLocaleString("en")}</span>
      <span class="model-share">{share < 0.1 ? "<0.1" : share.toFixed(1)} %</span>
      <span class="model-meter" aria-hidden="true">
        <span style={{ width: `${(tool.tokens / maxTokens) * 100}%` }} />
      </span>
    </div>
  );
}
