import { isObject } from "../jsonrpc/message.js";
import { type LintRule, shownKey } from "./lint-rule.js";

const SHORTEST = 10;
/** OpenAI refuses longer ones. */
const MAX_LENGTH = 1024;

/** Rules about what a tool says of itself. */
export const DESCRIPTION_RULES: readonly LintRule[] = [
  {
    id: "description-missing",
    severity: "error",
    summary: "The tool has no description, so that a model has only its name to choose it by.",
    *each({ description = "" }) {
      if (description.trim() !== "") return;
      yield { message: "the tool has no description", fix: "Say what it does, when to use it and what it gives back." };
    },
  },
  {
    id: "description-short",
    severity: "warning",
    summary: `The description has fewer than ${SHORTEST} characters, or repeats the name.`,
    *each({ name, description = "" }) {
      const text = description.trim();
      const words = (value: string) => value.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
      if (text === "" || (text.length >= SHORTEST && words(text) !== words(name))) return;
      yield {
        message: "the description says no more than the name",
        fix: "Say when to use it and what it gives back.",
      };
    },
  },
  {
    id: "description-long",
    severity: "warning",
    summary: `The description has more than ${MAX_LENGTH} characters, which OpenAI refuses and every call pays for.`,
    *each({ description = "" }) {
      if (description.length <= MAX_LENGTH) return;
      yield {
        message: `the description has ${description.length} characters; OpenAI accepts ${MAX_LENGTH}`,
        fix: "Move details into the descriptions of arguments, or into a prompt or resource.",
      };
    },
  },
  {
    id: "argument-description-missing",
    severity: "warning",
    summary: "An argument has no description.",
    *each({ inputSchema }) {
      const properties = isObject(inputSchema) ? inputSchema["properties"] : undefined;
      if (!isObject(properties)) return;
      for (const [name, schema] of Object.entries(properties)) {
        if (!isObject(schema) || typeof schema["$ref"] === "string") continue;
        const { description } = schema;
        if (typeof description === "string" && description.trim() !== "") continue;
        yield {
          path: `inputSchema.properties.${shownKey(name)}`,
          message: "the argument has no description",
          fix: "Describe it: with zod, `.describe(…)`.",
        };
      }
    },
  },
];
