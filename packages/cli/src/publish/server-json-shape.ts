/** The types of a JSON value: of a text, of a switch, of the items of a list, or of the members of an object. */
export type Shape = "string" | "boolean" | readonly [Shape] | { readonly [member: string]: Shape };

/** In an object: the shape of all members that are not named. */
const ANY = "*";

const INPUT = {
  choices: ["string"],
  default: "string",
  description: "string",
  format: "string",
  isRequired: "boolean",
  isSecret: "boolean",
  placeholder: "string",
  value: "string",
} as const;
const NAMED_INPUT = { ...INPUT, name: "string", variables: { [ANY]: INPUT } } as const;
const ARGUMENT = { ...NAMED_INPUT, type: "string", isRepeated: "boolean", valueHint: "string" } as const;
const TRANSPORT = { type: "string", url: "string", headers: [NAMED_INPUT], variables: { [ANY]: INPUT } } as const;

/** The shape of `server.json` by the schema of 2025-12-11. The rules of `checkServerJson` add lengths and formats. */
export const SERVER_JSON: Shape = {
  $schema: "string",
  name: "string",
  title: "string",
  description: "string",
  version: "string",
  websiteUrl: "string",
  repository: { url: "string", source: "string", subfolder: "string", id: "string" },
  icons: [{ src: "string", mimeType: "string", sizes: ["string"], theme: "string" }],
  packages: [
    {
      registryType: "string",
      registryBaseUrl: "string",
      identifier: "string",
      version: "string",
      runtimeHint: "string",
      fileSha256: "string",
      transport: TRANSPORT,
      environmentVariables: [NAMED_INPUT],
      runtimeArguments: [ARGUMENT],
      packageArguments: [ARGUMENT],
    },
  ],
  remotes: [TRANSPORT],
  _meta: { "io.modelcontextprotocol.registry/publisher-provided": {} },
};

/** Calls `report` with the path of every member whose type differs. Members that the shape does not name are ignored. */
export function compareShape(
  value: unknown,
  shape: Shape,
  report: (path: string, expected: string) => void,
  path = "",
): void {
  // Members without a value are not written.
  if (value === undefined) return;
  if (typeof shape === "string") {
    const type: string = typeof value;
    if (type !== shape) report(path, `a ${shape}`);
  } else if (Array.isArray(shape)) {
    const [item] = shape as readonly [Shape];
    if (!Array.isArray(value)) report(path, "an array");
    else for (const [index, one] of value.entries()) compareShape(one, item, report, `${path}[${index}]`);
  } else if (typeof value !== "object" || value === null || Array.isArray(value)) {
    report(path, "an object");
  } else {
    const members = shape as { readonly [member: string]: Shape };
    for (const [name, one] of Object.entries(value)) {
      const inner = Object.hasOwn(members, name) ? members[name] : members[ANY];
      if (inner !== undefined) compareShape(one, inner, report, path === "" ? name : `${path}.${name}`);
    }
  }
}
