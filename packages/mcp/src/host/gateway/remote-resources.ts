import type { Watch } from "../../server/resources/resource.js";
import type { HostCatalogue } from "../catalogue/host-catalogue.js";
import { matchesTemplate } from "../catalogue/template-matches.js";

/** Where the resources come from. */
interface ResourceSource {
  readonly catalogue: HostCatalogue;
  watch(server: string, uri: string, updated: () => void): () => void;
}

/** The resources of the servers behind a gateway, as far as subscriptions need to know them. */
export class RemoteResources {
  readonly #source: ResourceSource;

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
    return resourceTemplates.some((template) => matchesTemplate(template, owner.inner));
  }

  watchOf(uri: string): Watch | undefined {
    const found = this.#source.catalogue.ownerOf(uri);
    return found && ((_uri, updated) => this.#source.watch(found.server, found.inner, () => updated()));
  }
}
