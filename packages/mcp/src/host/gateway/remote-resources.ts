import type { Watch } from "../../server/resources/resource.js";
import { compileMatcher } from "../../uri-template/match.js";
import type { HostCatalogue } from "../catalogue/host-catalogue.js";

/** Where the resources come from. */
interface ResourceSource {
  readonly catalogue: HostCatalogue;
  watch(server: string, uri: string, updated: () => void): () => void;
}

type Matches = (uri: string) => boolean;

/** The resources of the servers behind a gateway, as far as subscriptions need to know them. */
export class RemoteResources {
  readonly #source: ResourceSource;
  /** By the entry in the list, because lists are replaced as a whole. */
  readonly #matchers = new WeakMap<object, Matches>();

  constructor(source: ResourceSource) {
    this.#source = source;
  }

  /** Whether a server lists the URI or a template of it; one that lists neither may serve any. */
  knows(uri: string): boolean {
    const { catalogue } = this.#source;
    const owner = catalogue.ownerOf(uri);
    if (owner === undefined) return false;
    const { resources, resourceTemplates } = catalogue.of(owner.server);
    if (resources.length === 0 && resourceTemplates.length === 0) return true;
    if (catalogue.find("resources", uri) !== undefined) return true;
    return resourceTemplates.some((template) => this.#matches(template)(owner.inner));
  }

  watchOf(uri: string): Watch | undefined {
    const found = this.#source.catalogue.ownerOf(uri);
    return found && ((_uri, updated) => this.#source.watch(found.server, found.inner, () => updated()));
  }

  #matches(template: { readonly uriTemplate: string }): Matches {
    let matches = this.#matchers.get(template);
    if (matches === undefined) {
      matches = matcherOf(template.uriTemplate);
      this.#matchers.set(template, matches);
    }
    return matches;
  }
}

function matcherOf(template: string): Matches {
  try {
    const match = compileMatcher(template);
    return (uri) => match(uri) !== undefined;
  } catch {
    // A template that cannot be read here may still be the server's.
    return () => true;
  }
}
