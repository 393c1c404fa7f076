import { isObject } from "../jsonrpc/message.js";
import { type LintRule, shownKey } from "./lint-rule.js";

const MIN_LENGTH = 10;
/** The longest description that OpenAI accepts, in characters. */
const MAX_LENGTH = 1024;

/** Rules about descriptions of tools and arguments. */
export const DESCRIPTION_RULES: readonly LintRule[] = [
  {
    id: "description-missing",
    severity: "error",
    summary: "The tool has no description, so models can choose it only by its name.",
    *each({ description = "" }) {
      if (description.trim() !== "") return;
      yield {
        message: "the tool has no description",
        fix: "Describe what it does, when to use it and what it returns.",
      };
    },
  },
  {
    id: "description-short",
    severity: "warning",
    summary: `The description has fewer than ${MIN_LENGTH} characters, or repeats the name.`,
    *each({ name, description = "" }) {
      const text = description.trim();
      const words = (value: string) => value.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
      if (text === "" || (text.length >= MIN_LENGTH && words(text) !== words(name))) return;
      yield {
        message: "the description is too short, or only repeats the name",
        fix: "Describe when to use it and what it returns.",
      };
    },
  },
  {
    id: "description-long",
    severity: "warning",
    summary: `The description has more than ${MAX_LENGTH} characters: OpenAI rejects it, and every request pays for it.`,
    *each({ description = "" }) {
      if (description.length <= MAX_LENGTH) return;
      yield {
        message: `the description has ${description.length} characters; OpenAI accepts at most ${MAX_LENGTH}`,
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
          fix: "Add a description; with zod: `.describe(…)`.",
        };
      }
    },
  },
];
