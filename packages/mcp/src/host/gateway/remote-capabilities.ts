import type { CacheHint } from "../../era/era.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import type { OfferKind } from "../../protocol/features/offer-kinds.js";
import type { ServerFacts } from "../../server/call/facts.js";
import type { HostCatalogue } from "../catalogue/host-catalogue.js";
import { narrowest } from "../catalogue/server-lists.js";

/** Characters of all instructions together; models get them with every conversation. */
const LONGEST_INSTRUCTIONS = 32_768;

/** What the servers behind declare together; of what none of them has, nothing. */
export function remoteCapabilities({ options }: ServerFacts, catalogue: HostCatalogue): ServerCapabilities {
  const changes = options.listChanged === false ? {} : { listChanged: true };
  const all: ServerCapabilities = {};
  let logs = options.logging === true;
  for (const server of catalogue.servers()) {
    const { tools, prompts, resources, completions, logging } = catalogue.of(server).about?.capabilities ?? {};
    if (tools !== undefined) all.tools = changes;
    if (prompts !== undefined) all.prompts = changes;
    if (completions !== undefined) all.completions = {};
    if (logging !== undefined) logs = options.logging !== false;
    if (resources === undefined) continue;
    const subscribe = resources.subscribe === true && options.subscribe !== false ? { subscribe: true } : {};
    all.resources = { ...all.resources, ...changes, ...subscribe };
  }
  // Every server declares it by default; this one has nothing to log unless it is said.
  return logs ? all : { ...all, ...({ logging: undefined } as object) };
}

/** How long the joint list may be cached: as the narrowest of its parts. */
export function remoteHint({ options, hints }: ServerFacts, catalogue: HostCatalogue, kind: OfferKind): CacheHint {
  const { cache } = options;
  const isSet = cache?.ttlMs !== undefined || cache?.[kind]?.ttlMs !== undefined;
  const own = hints[kind];
  const capability = kind === "resourceTemplates" ? "resources" : kind;
  const parts: CacheHint[] = isSet ? [own] : [];
  for (const server of catalogue.servers()) {
    const { about, hints: given } = catalogue.of(server);
    if (about?.capabilities[capability] !== undefined) parts.push(given?.[kind] ?? own);
  }
  return narrowest(parts) ?? own;
}

/** The instructions of all servers, each under its name where there are several. */
export function remoteInstructions(catalogue: HostCatalogue): string | undefined {
  const given = [...catalogue.servers()].flatMap((server) => {
    const text = catalogue.of(server).about?.instructions;
    return text === undefined || text.trim() === "" ? [] : [{ server, text }];
  });
  const [first] = given;
  if (first === undefined) return undefined;
  const several = [...catalogue.servers()].length > 1;
  const joined = several ? given.map(({ server, text }) => `# ${server}\n\n${text}`).join("\n\n") : first.text;
  return joined.slice(0, LONGEST_INSTRUCTIONS);
}
