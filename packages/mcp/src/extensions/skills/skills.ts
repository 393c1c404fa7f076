import type { CacheHint } from "../../era/era.js";
import type { Params } from "../../jsonrpc/message.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import type { Resource } from "../../protocol/features/resources.js";
import { DIRECTORY_METHOD, SKILL_METHODS, SKILLS_EXTENSION, type Skill } from "../../protocol/features/skills.js";
import { cacheHint } from "../../server/contract/cache-hints.js";
import type { RequestContext } from "../../server/contract/context.js";
import { type ReadReturn, resource, resourceTemplate } from "../../server/contract/resource.js";
import { type ListShape, PagedList, pageOf } from "../../server/sources/pages.js";
import { resourceUpdated } from "../../server/sources/watch.js";
import { stringParam } from "../seam/attach-to-server.js";
import { type DefinedExtension, defineExtension } from "../seam/define-extension.js";
import type { ExtendedServer, ExtensionCall, ServedExtension } from "../seam/extended-server.js";
import { readSkillFolder } from "./read-skill-folder.js";
import {
  checkSkillPaths,
  pathCollision,
  type ServedFile,
  type ServedSkill,
  type SkillTree,
  serveSkill,
  treeOf,
} from "./served-skill.js";
import type { SkillOffer } from "./skill.js";
import { SkillBudget } from "./skill-path.js";

/**
 * A source of skills: a folder that contains a `SKILL.md`, a folder whose subfolders contain one, or a value from
 * `skill`.
 */
export type SkillSource = string | SkillOffer;

/** Options of `skills`. */
export interface SkillsOptions {
  /** Allows clients to list the directories of skills. Default: true. */
  directoryRead?: boolean | undefined;
  /** Time and scope for which clients may cache entries and files. Default: the server's `cache`. */
  cache?: Partial<CacheHint> | undefined;
}

/** The extension that serves skills. Created by `skills`. */
export interface ServerSkills extends DefinedExtension<undefined> {
  /**
   * Reads the folders again, and notifies clients of changed resources. Throws if a skill is refused. In that case
   * nothing changes.
   */
  reload(): void;
}

/**
 * Creates the extension that serves skills, for `extensions` of `new Server`: their list, their entries with digests,
 * and their files as `skill://` resources. The server's constructor reads the folders, and throws if a skill is
 * refused.
 *
 * Spec: Skills, https://github.com/modelcontextprotocol/ext-skills
 *
 * @see {@link https://github.com/parley-mcp/parley/blob/main/docs/skills.md | Skills}
 */
export function skills(...given: SkillSource[] | [...SkillSource[], SkillsOptions]): ServerSkills {
  const last = given.at(-1);
  const options = last === undefined || isSource(last) ? {} : last;
  checkOptions("skills", options, "directoryRead cache");
  const sources = (options === last ? given.slice(0, -1) : given).map((source: SkillSource | SkillsOptions) => {
    if (isSource(source)) return source;
    throw new McpError("invalid_definition", "`skills` takes folders and values made by `skill`, and then its options");
  });
  if (sources.length === 0) {
    throw new McpError("invalid_definition", "`skills` needs at least one source", {
      fix: "Pass a folder that holds skills, or a value made by `skill`.",
    });
  }
  const directoryRead = options.directoryRead !== false;
  const served = new Set<SkillSet>();
  const extension = defineExtension({
    id: SKILLS_EXTENSION,
    settings: directoryRead ? { directoryRead } : {},
    methods: directoryRead ? [...SKILL_METHODS, DIRECTORY_METHOD] : SKILL_METHODS,
    server(server) {
      const set = new SkillSet(server, sources, options);
      served.add(set);
      return { ...set.served(directoryRead), close: () => void served.delete(set) };
    },
  });
  return Object.assign(extension, {
    reload: () => reload([...served]),
  });
}

/** Reads the folders of all sets before it changes any, so that either all sets change or none. */
function reload(sets: readonly SkillSet[]): void {
  const loaded = sets.map((set) => ({ set, next: set.load() }));
  const undo: (() => void)[] = [];
  try {
    for (const { set, next } of loaded) set.offerNew(next, undo);
  } catch (error) {
    for (const step of undo) step();
    throw error;
  }
  for (const { set, next } of loaded) set.replace(next);
}

function isSource(given: SkillSource | SkillsOptions): given is SkillSource {
  return typeof given === "string" || (typeof given === "object" && given !== null && "kind" in given);
}

const SKILL_LIST: ListShape<Skill> = { name: "skills", keyOf: ({ uri }) => uri, member: "skills" };

/** Skills by the URI of their `SKILL.md`. */
type LoadedSkills = ReadonlyMap<string, ServedSkill>;

/** The skills of one server. */
class SkillSet {
  readonly #server: ExtendedServer;
  readonly #sources: readonly SkillSource[];
  readonly #options: SkillsOptions;
  #skills: LoadedSkills = new Map();
  #tree: SkillTree = { files: new Map(), folders: new Map() };
  #list = new PagedList(SKILL_LIST, []);

  constructor(server: ExtendedServer, sources: readonly SkillSource[], options: SkillsOptions) {
    this.#server = server;
    this.#sources = sources;
    this.#options = options;
    server.offer(
      resourceTemplate(
        "skill://{+path}",
        { name: "skill-files", description: "The files of skills", cache: options.cache },
        (_variables, ctx, uri) => {
          const file = this.#file(uri);
          return file && readFile(file, ctx);
        },
      ),
    );
    reload([this]);
  }

  served(directoryRead: boolean): ServedExtension {
    return {
      handlers: {
        "skills/list": (params, call) => this.#cached(call, this.#page(this.#list, params)),
        "skills/get": (params, call) => this.#cached(call, this.#get(stringParam(params, "uri", "skills/get"))),
        ...(directoryRead ? { "resources/directory/read": (params: Params) => this.#directory(params) } : {}),
      },
    };
  }

  /** Offers new skills. Throws if the server has another resource with the same URI. */
  offerNew(next: LoadedSkills, undo: (() => void)[]): void {
    for (const [uri, skill] of next) {
      if (this.#skills.has(uri)) continue;
      this.#offer(uri, skill);
      undo.push(() => this.#server.withdraw("resource", uri));
    }
  }

  /** Replaces the skills. Call `offerNew` first: this method does not offer new skills. */
  replace(next: LoadedSkills): void {
    const before = this.#skills;
    this.#skills = next;
    this.#tree = treeOf([...next.values()]);
    this.#list = new PagedList(
      SKILL_LIST,
      [...next.values()].map(({ entry }) => entry),
    );
    for (const [uri, known] of before) {
      const now = next.get(uri);
      if (now !== undefined && sameSkill(known, now)) continue;
      this.#server.withdraw("resource", uri);
      for (const [file, { digest }] of known.files)
        if (digest !== now?.files.get(file)?.digest) this.#server.publish(resourceUpdated(file));
    }
    for (const [uri, skill] of next) {
      const known = before.get(uri);
      if (known !== undefined && !sameSkill(known, skill)) this.#offer(uri, skill);
    }
  }

  #offer(uri: string, skill: ServedSkill): void {
    const { uri: _uri, ...definition } = skill.files.get(uri)?.resource ?? { uri };
    this.#server.offer(
      resource(uri, { ...definition, cache: this.#options.cache }, (_uri, ctx) => {
        const file = this.#file(uri);
        return file && readFile(file, ctx);
      }),
    );
  }

  load(): LoadedSkills {
    const loaded = new Map<string, ServedSkill>();
    const budget = new SkillBudget();
    for (const source of this.#sources) {
      if (typeof source !== "string") budget.addSkill();
      const offers = typeof source === "string" ? readSkillFolder(source, this.#server.platform, budget) : [source];
      for (const offer of offers) {
        const skill = serveSkill(offer, this.#server.platform);
        const { uri } = skill.entry;
        if (loaded.has(uri)) throw pathCollision(skill.path, skill.path);
        loaded.set(uri, skill);
        if (typeof source === "string") continue;
        for (const { resource: listed } of skill.files.values()) budget.addBytes(listed.size ?? 0);
      }
    }
    checkSkillPaths(loaded);
    return loaded;
  }

  #file(uri: string): ServedFile | undefined {
    return this.#tree.files.get(uri);
  }

  #get(uri: string): { skill: Skill } {
    const skill = this.#skills.get(uri)?.entry;
    if (skill !== undefined) return { skill };
    throw new McpError("invalid_params", `no skill found at ${uri}`, {
      data: { uri },
      fix: "Pass the URI of a SKILL.md that `skills/list` returned.",
    });
  }

  #directory(params: Params): object {
    const uri = stringParam(params, "uri", "resources/directory/read");
    const children = this.#tree.folders.get(uri);
    if (children === undefined) {
      const why = this.#tree.files.has(uri) ? `${uri} is not a directory` : `no directory found at ${uri}`;
      throw new McpError("invalid_params", why, {
        data: { uri },
        fix: "Pass the URI of a directory, without a slash at its end.",
      });
    }
    return this.#page(new PagedList(directoryShape(uri), children), params);
  }

  #page<T>(list: PagedList<T>, params: Params): object {
    const { secrets, pageSize } = this.#server;
    return pageOf({ secrets, options: { pageSize } }, list, params);
  }

  #cached<R>(call: ExtensionCall, result: R): R {
    call.cache = cacheHint("`skills`", call.cache, this.#options.cache);
    return result;
  }
}

function directoryShape(uri: string): ListShape<Resource> {
  return { name: `the directory ${uri}`, keyOf: (child) => child.uri, member: "resources" };
}

function sameSkill(one: ServedSkill, other: ServedSkill): boolean {
  return one.entry.resources !== "dynamic" && JSON.stringify(one.entry) === JSON.stringify(other.entry);
}

/** Returns the contents of a file in the form that read handlers return. */
async function readFile({ resource: { mimeType }, content }: ServedFile, ctx: RequestContext): Promise<ReadReturn> {
  const value = typeof content === "function" ? await content(ctx) : content;
  const type = mimeType === undefined ? {} : { mimeType };
  return typeof value === "string" ? { text: value, ...type } : { blob: value, ...type };
}
