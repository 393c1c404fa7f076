import type { Tool } from "@parley/mcp/protocol";
import { ACTS, ARGUMENTS, SERVICES } from "./word-lists.js";

interface Thing {
  readonly service: string;
  readonly style: string;
  readonly thing: string;
  readonly parent: string;
}

function things(): Thing[] {
  return SERVICES.trim()
    .split("\n")
    .flatMap((line) => {
      const [head = "", list = ""] = line.split(": ");
      const [service = "", style = ""] = head.split(" ");
      return list.split(", ").map((pair) => {
        const [thing = "", parent = ""] = pair.split("@");
        return { service, style, thing, parent };
      });
    });
}

const spoken = (name: string) => name.replaceAll("_", " ");
const plural = (name: string) =>
  /[^aeiou]y$/.test(name) ? `${name.slice(0, -1)}ies` : /(s|x|ch)$/.test(name) ? `${name}es` : `${name}s`;

function styled(style: string, name: string): string {
  if (style === "kebab") return name.replaceAll("_", "-");
  return style === "camel" ? name.replace(/_(.)/g, (_all, letter: string) => letter.toUpperCase()) : name;
}

function toolOf({ service, style, thing, parent }: Thing, act: string): Tool {
  const { does, args, answers } = ACTS[act] ?? { does: "", args: "", answers: "" };
  const fill = (text: string) =>
    text
      .replaceAll("{thing}", spoken(thing))
      .replaceAll("{things}", plural(spoken(thing)))
      .replaceAll("{parent}", spoken(parent))
      .replaceAll("{service}", service);
  const names = args.split(" ");
  const properties = names.map((name) => {
    const { type, text } = ARGUMENTS[name.replace("?", "")] ?? { type: "string", text: "" };
    const items = type === "array" ? { items: { type: "string" } } : {};
    return [styled(style, name.replace("?", "")), { type, ...items, description: fill(text) }] as const;
  });
  const named = act === "list" || act === "search" ? plural(thing) : thing;
  return {
    name: `${service}__${styled(style, `${act}_${named}`)}`,
    description: `${fill(does)} ${fill(answers)}`,
    inputSchema: {
      type: "object",
      properties: Object.fromEntries(properties),
      required: names.filter((name) => !name.endsWith("?")).map((name) => styled(style, name)),
      additionalProperties: false,
    },
  };
}

/** Up to 1,000 tools of 40 services, always the same: whole services one after another. */
export function fixtureTools(count = 1000): Tool[] {
  const acts = Object.keys(ACTS);
  return things()
    .flatMap((one, index) => [0, 1, 2, 3, 4].map((step) => toolOf(one, acts[(index + step * 3) % acts.length] ?? "")))
    .slice(0, count);
}

/** The server that a tool of the fixture belongs to. */
export const fixtureServer = ({ name }: Tool): string => name.slice(0, name.indexOf("__"));
