/**
 * The kinds of offers that servers list. The name of a row is the member of the list's result that contains the items.
 * Everything else that the library knows about lists of offers is derived from these rows.
 */
export const OFFER_KINDS = {
  tools: {
    list: "tools/list",
    key: "name",
    use: "tools/call",
    capability: "tools",
    changed: "notifications/tools/list_changed",
    filter: "toolsListChanged",
  },
  prompts: {
    list: "prompts/list",
    key: "name",
    use: "prompts/get",
    capability: "prompts",
    changed: "notifications/prompts/list_changed",
    filter: "promptsListChanged",
  },
  resources: {
    list: "resources/list",
    key: "uri",
    use: "resources/read",
    capability: "resources",
    changed: "notifications/resources/list_changed",
    filter: "resourcesListChanged",
  },
  resourceTemplates: {
    list: "resources/templates/list",
    key: "uriTemplate",
    use: undefined,
    capability: "resources",
    changed: "notifications/resources/list_changed",
    filter: "resourcesListChanged",
  },
} as const satisfies Record<string, OfferKindRow>;

interface OfferKindRow {
  /** The method that lists offers of the kind. */
  readonly list: string;
  /** The member that identifies an item of the list. */
  readonly key: string;
  /** The method that uses an offer. Its parameter has the name of `key`. Undefined for templates. */
  readonly use: string | undefined;
  /** The capability of servers with such offers. */
  readonly capability: string;
  /** The notification that the list has changed. */
  readonly changed: string;
  /** The member of a listen filter that subscribes to `changed`. */
  readonly filter: string;
}

/** A kind of offer, named by the member of its list's result. */
export type OfferKind = keyof typeof OFFER_KINDS;

/** A server capability with lists of offers. All lists of one capability change together. */
export type OfferCapability = (typeof OFFER_KINDS)[OfferKind]["capability"];

/** All kinds, as an array. */
export const ALL_OFFER_KINDS = /* @__PURE__ */ Object.keys(OFFER_KINDS) as readonly OfferKind[];

/** The capabilities with lists that can change. */
export const OFFER_CAPABILITIES: readonly OfferCapability[] = ["tools", "prompts", "resources"];

/** The kinds of offers that belong to a capability. */
export function kindsOf(capability: OfferCapability): readonly OfferKind[] {
  return ALL_OFFER_KINDS.filter((kind) => OFFER_KINDS[kind].capability === capability);
}

/** The kind that a method lists. Undefined for other methods. */
export function listedKind(method: string): OfferKind | undefined {
  return ALL_OFFER_KINDS.find((kind) => OFFER_KINDS[kind].list === method);
}

/** The kinds whose lists a notification reports as changed. Empty for other notifications. */
export function changedKinds(notification: string): readonly OfferKind[] {
  return ALL_OFFER_KINDS.filter((kind) => OFFER_KINDS[kind].changed === notification);
}
