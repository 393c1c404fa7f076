import { fileURLToPath } from "node:url";
import { openCoreOracle } from "./core-oracle.js";
import { openSchemaOracle, type SchemaOracle } from "./schema-oracle.js";
import { isWireObject, type KnownExtensions, type MessageOracle, type Sender } from "./wire-message.js";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Where the official package is installed by `npm run peers`. */
const CORE_ENTRY = here("../peers/node_modules/@modelcontextprotocol/core/dist/index.mjs");

/** Where the published schemas lie when they are present: beside the repository, never in it. */
export const SPEC_FOLDER = here("../../../../../shared/spec");

/** The only revision in which several messages may come as one array. */
export const BATCH_REVISION = "2025-03-26";

export interface OracleOptions {
  /** Methods that an extension adds; only their envelope is judged. */
  extensionMethods?: readonly string[];
  /** Values of `resultType` that an extension adds; such results are judged as envelopes only. */
  extensionResultTypes?: readonly string[];
}

/** All judges that could be opened. */
export interface Oracles {
  /** Their names; empty when neither is there, and then every message passes. */
  readonly used: readonly string[];
  /** The published schemas by themselves, where present. */
  readonly schemas: SchemaOracle | undefined;
  /** Says what is wrong with a message; nothing when it is sound. `requestMethod` is the method that a result answers. */
  validateMessage(revision: string, sender: Sender, message: unknown, requestMethod?: string): string[];
}

let announced = false;

/** Opens what is there and prints, once per process, what that is. */
export async function loadOracles(options: OracleOptions = {}): Promise<Oracles> {
  const extensions: KnownExtensions = {
    methods: new Set(options.extensionMethods),
    resultTypes: new Set(options.extensionResultTypes),
  };
  const core = await openCoreOracle(CORE_ENTRY, extensions);
  const schemas = openSchemaOracle(SPEC_FOLDER, extensions);
  const judges = [core, schemas].filter((judge) => judge !== undefined);
  if (!announced) announce(core, schemas);
  announced = true;
  return {
    used: judges.map((judge) => judge.name),
    schemas,
    validateMessage(revision, sender, message, requestMethod) {
      return judge(judges, revision, sender, message, requestMethod);
    },
  };
}

function judge(
  judges: readonly MessageOracle[],
  revision: string,
  sender: Sender,
  message: unknown,
  requestMethod: string | undefined,
): string[] {
  if (Array.isArray(message)) {
    if (revision !== BATCH_REVISION) return [`${revision} has no arrays of messages`];
    if (message.length === 0) return ["an array of messages is not empty"];
    return message.flatMap((each) => judge(judges, revision, sender, each, requestMethod));
  }
  if (!isWireObject(message)) return ["the message is not an object"];
  return judges.flatMap((each) =>
    each.validate(revision, sender, message, requestMethod).map((problem) => `[${each.name}] ${problem}`),
  );
}

function announce(core: MessageOracle | undefined, schemas: MessageOracle | undefined): void {
  const used = [core?.name, schemas?.name].filter((name) => name !== undefined);
  const missing = [
    core === undefined ? "@modelcontextprotocol/core (npm run peers installs it)" : undefined,
    schemas === undefined ? "../shared/spec (not present)" : undefined,
  ].filter((name) => name !== undefined);
  console.info(
    `message oracle: ${used.join(" and ") || "none"}${missing.length > 0 ? `; not read: ${missing.join(", ")}` : ""}`,
  );
}
