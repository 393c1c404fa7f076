import { printable } from "@parley/mcp/protocol";
import { useRef } from "preact/hooks";
import type { ConnectionInfo, OfferKind } from "../../src/contract/connections.js";
import { act } from "../backend/act.js";
import { storeChoice, storedChoice } from "../backend/choice-storage.js";
import { ProblemNote } from "../parts/problem-note.js";
import { TabPanel, Tabs } from "../parts/tabs.js";
import { useAction } from "../parts/use-action.js";
import { CallArea } from "./call-area.js";
import { OfferPane } from "./offer-list.js";
import type { PanelProps } from "./panel-props.js";
import { PromptPanel } from "./prompt-panel.js";
import { RequestPanel } from "./request-panel.js";
import { ResourcePanel } from "./resource-panel.js";
import { SkillPanel } from "./skill-panel.js";
import { TemplatePanel } from "./template-panel.js";
import { ToolPanel } from "./tool-panel.js";
import { cacheState, useCachedState } from "./use-cached-state.js";
import { type LoadedList, useOffer, useOffers } from "./use-offers.js";

type TabId = OfferKind | "request";

const KINDS = ["tools", "resources", "templates", "prompts", "skills"] as const satisfies readonly OfferKind[];

const TITLES: Readonly<Record<TabId, string>> = {
  tools: "Tools",
  resources: "Resources",
  templates: "Templates",
  prompts: "Prompts",
  skills: "Skills",
  request: "Request",
};
const LABEL = "What the server offers";

/** The offers of a server with their forms and results. */
export function UseView({ connection }: { readonly connection: ConnectionInfo }) {
  const lists: Readonly<Record<OfferKind, LoadedList>> = {
    tools: useOffers(connection, "tools"),
    resources: useOffers(connection, "resources"),
    templates: useOffers(connection, "templates"),
    prompts: useOffers(connection, "prompts"),
    skills: useOffers(connection, "skills"),
  };
  const [wanted, setWanted] = useChosenTab(connection);
  // A result may link to a resource of a server that lists no resources. The tab for resources then appears too.
  const kinds = KINDS.filter(
    (kind) => connection.lists[kind] !== undefined || (kind === "resources" && wanted === kind),
  );
  const tab = wanted === "request" || kinds.includes(wanted) ? wanted : (kinds[0] ?? "request");
  const tabs = [...kinds, "request" as const].map((id) => ({
    id,
    title: TITLES[id],
    count: id === "request" ? undefined : lists[id].list?.offers.length,
  }));
  const { run, problem } = useAction();
  const onRead = (uri: string) =>
    run(async () => {
      const { call } = await act("call", { connection: connection.id, request: { kind: "resource", uri } });
      cacheState(`shown ${connection.id} resource ${uri}`, call);
      cacheState(`chosen ${connection.id} resources`, uri);
      setWanted("resources");
    });
  return (
    <div class="use">
      <Tabs label={LABEL} tabs={tabs} chosen={tab} onChoose={setWanted} />
      {problem !== undefined && <ProblemNote problem={problem} />}
      <TabPanel label={LABEL} chosen={tab}>
        {tab === "request" ? (
          <RequestPanel connection={connection} onRead={onRead} />
        ) : (
          <Offers key={tab} connection={connection} kind={tab} loaded={lists[tab]} onRead={onRead} />
        )}
      </TabPanel>
    </div>
  );
}

/** The selected tab. After a reload, restores the stored tab if the server still has that list. */
function useChosenTab({ id, lists }: ConnectionInfo): readonly [TabId, (tab: TabId) => void] {
  const key = `tab ${id}`;
  const [chosen, setChosen] = useCachedState<TabId | undefined>(key, () => undefined);
  const kept = storedChoice(key);
  const choose = (tab: TabId) => {
    storeChoice(key, tab);
    setChosen(tab);
  };
  if (chosen !== undefined) return [chosen, choose];
  return [kept === "request" ? kept : (KINDS.find((kind) => kind === kept && kind in lists) ?? "tools"), choose];
}

/** The selected offer. After a reload, restores the stored offer if the list still contains it. */
function useChosenOffer(connection: string, kind: OfferKind, { list }: LoadedList) {
  const key = `chosen ${connection} ${kind}`;
  const [chosen, setChosen] = useCachedState<string | undefined>(key, () => undefined);
  const choose = (name: string) => {
    storeChoice(key, name);
    setChosen(name);
  };
  const kept = chosen === undefined ? storedChoice(key) : undefined;
  const found = kept === undefined ? undefined : list?.offers.find(({ name }) => name === kept);
  // Caches a restored choice like any other, so that the choice survives a reload of the list.
  if (found !== undefined) cacheState(key, found.name);
  return [chosen ?? found?.name, choose] as const;
}

interface OffersProps {
  readonly connection: ConnectionInfo;
  readonly kind: OfferKind;
  readonly loaded: LoadedList;
  readonly onRead: (uri: string) => void;
}

function Offers({ connection, kind, loaded, onRead }: OffersProps) {
  const [chosen, setChosen] = useChosenOffer(connection.id, kind, loaded);
  const panes = useRef<HTMLDivElement>(null);
  return (
    <div class="use-offers" ref={panes}>
      <OfferPane
        connection={connection.id}
        what={kind}
        loaded={loaded}
        chosen={chosen}
        onChoose={setChosen}
        panes={panes}
      />
      <div class="use-detail">
        {chosen === undefined ? (
          <p class="soft use-hint">Select a {kind.slice(0, -1)} to see its details and try it.</p>
        ) : (
          <Offer key={chosen} connection={connection} kind={kind} loaded={loaded} name={chosen} onRead={onRead} />
        )}
      </div>
    </div>
  );
}

const PANELS = {
  tools: ToolPanel,
  resources: ResourcePanel,
  templates: TemplatePanel,
  prompts: PromptPanel,
  skills: SkillPanel,
} as const satisfies Record<OfferKind, (props: PanelProps) => unknown>;

function Offer({ connection, kind, loaded, name, onRead }: OffersProps & { readonly name: string }) {
  const summary = loaded.list?.offers.find((each) => each.name === name);
  const { offer, problem } = useOffer(connection.id, kind, name, connection.lists[kind]);
  const Panel = PANELS[kind];
  if (offer !== undefined) return <Panel {...{ connection, name, summary, offer, onRead }} />;
  if (problem === undefined) return <p class="soft">Loading…</p>;
  if (kind !== "resources") return <ProblemNote problem={problem} />;
  return <UnlistedResource connection={connection} uri={name} onRead={onRead} />;
}

interface UnlistedResourceProps {
  readonly connection: ConnectionInfo;
  readonly uri: string;
  readonly onRead: (uri: string) => void;
}

/** A resource that the server does not list, but that a result links to. */
function UnlistedResource({ connection, uri, onRead }: UnlistedResourceProps) {
  const [shown, setShown] = useCachedState<string | undefined>(
    `shown ${connection.id} resource ${uri}`,
    () => undefined,
  );
  return (
    <div class="use-panel">
      <header class="use-head">
        <h2>{printable(uri)}</h2>
        <p class="use-description">The server does not list this resource.</p>
      </header>
      <CallArea connection={connection.id} kind="resource" name={uri} shown={shown} onShow={setShown} onRead={onRead} />
    </div>
  );
}
