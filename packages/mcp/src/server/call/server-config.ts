import { platform } from "#platform";
import { randomName } from "../../encoding/base64.js";
import { withDefaults } from "../../encoding/with-defaults.js";
import type { CacheHint } from "../../era/era.js";
import { type Platform, replacedPlatform } from "../../platform/platform.js";
import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import { methodsWith } from "../../protocol/extension.js";
import type { MethodTable } from "../../protocol/methods.js";
import { REVISIONS, type Revision } from "../../protocol/revisions.js";
import { Secrets } from "../../seal/secrets.js";
import { type CacheTopic, cacheHints } from "../contract/cache-hints.js";
import {
  checkPageSize,
  checkServerOptions,
  DEFAULT_SERVER_LIMITS,
  type ServerInfo,
  type ServerLimits,
  type ServerOptions,
} from "../contract/options.js";

/** The options of a server with their defaults, and the counters of the server. All calls share this frozen object. */
export class ServerConfig {
  readonly info: ServerInfo;
  readonly options: ServerOptions;
  readonly platform: Platform;
  readonly limits: ServerLimits;
  readonly revisions: readonly Revision[];
  readonly methods: MethodTable;
  readonly secrets: Secrets;
  /** Cache hints for clients, by topic. */
  readonly hints: Readonly<Record<CacheTopic, CacheHint>>;
  readonly logging: boolean;
  readonly #warned = new Set<string>();
  #questions = 0;
  #questionPrefix: string | undefined;

  constructor(info: ServerInfo, options: ServerOptions) {
    checkInfo(info);
    checkOptions("the server's `info`", info, "name version title description websiteUrl icons");
    checkServerOptions(options);
    checkPageSize(options.pageSize);
    this.info = info;
    this.options = options;
    this.platform = replacedPlatform(platform, options.platform);
    this.limits = withDefaults(DEFAULT_SERVER_LIMITS, options.limits);
    this.revisions = options.revisions ?? REVISIONS;
    this.methods = methodsWith(options.extensions ?? [], "new Server");
    this.secrets = new Secrets(this.platform, options.secret);
    this.hints = cacheHints(options.cache);
    this.logging = options.logging ?? true;
    Object.freeze(this);
  }

  /**
   * Returns the id of the next request to a client. The id is unique among all nodes that serve a session, because any
   * node may receive the answer.
   */
  nextQuestionId(): string {
    this.#questionPrefix ??= this.randomId().slice(0, 8);
    this.#questions++;
    return `q${this.#questionPrefix}-${this.#questions}`;
  }

  /** Warns the operator once of a condition that repeats with every call. */
  warnOnce(line: string): void {
    // Warnings may contain URIs and names that clients choose, so the set is bounded.
    if (this.#warned.has(line) || this.#warned.size >= 1000) return;
    this.#warned.add(line);
    this.platform.warn(line);
  }

  randomId(): string {
    return randomName(this.platform, 16);
  }
}

/** Checks `info` at run time, because JavaScript programs may omit members that the protocol requires. */
function checkInfo(info: Partial<ServerInfo> | undefined): void {
  if (typeof info?.name === "string" && info.name !== "" && typeof info.version === "string") return;
  throw new McpError("invalid_definition", "a server needs a name and a version", {
    fix: 'Write `new Server({ name: "weather", version: "1.0.0" })`.',
  });
}
