import { isObject } from "../jsonrpc/message.js";
import type { ElicitRequestedSchema, PrimitiveSchemaDefinition } from "../protocol/features/elicitation.js";
import type { SamplingMessage } from "../protocol/features/sampling.js";
import { featuresOf, type Revision, type RevisionFeatures } from "../protocol/revisions.js";
import type { AskedQuestion, Question } from "./era.js";

type Members = Record<string, unknown>;

// This module is separate from the eras, so that only servers with questions load it.

/** A question in the form of the client's revision. */
export function questionFor({ question, needs }: AskedQuestion, revision: Revision): AskedQuestion {
  const features = featuresOf(revision);
  const { method, params } = question;
  if (method === "elicitation/create")
    return { question: { method, params: elicitationFor(question, features) }, needs };
  if (method !== "sampling/createMessage" || features.samplingTools) return { question, needs };
  // Older revisions allow only one content block per message, so messages with several blocks are split. Older
  // revisions also lack the capability `sampling.context`. Their clients may ignore `includeContext`, so the question
  // does not require that capability. Safe: this library creates questions, so the messages exist.
  const { messages } = params as { messages: SamplingMessage[] };
  return {
    question: { method, params: { ...params, messages: messages.flatMap(oneByOne) } },
    needs: needs.filter((need) => need !== "sampling.context"),
  };
}

/** The client's answer to a question from `questionFor`, in the form of the newest revision. */
export function answerTo(question: Question, answer: unknown, revision: Revision): unknown {
  const form = formOf(question, featuresOf(revision));
  if (form === undefined || !isObject(answer) || answer["action"] !== "accept") return answer;
  const content = answer["content"] ?? {};
  return isObject(content) ? { ...answer, content: upgradeContent(form, content) } : answer;
}

function elicitationFor(question: Question, features: RevisionFeatures): Members {
  const { elicitationId, ...params } = question.params ?? {};
  // Only revisions with completion notifications need the id. In other revisions the id is removed, so that the
  // question is the same in every round.
  if (features.elicitationIds && elicitationId !== undefined) return { ...params, elicitationId };
  const form = formOf(question, features);
  return form === undefined ? params : { ...params, requestedSchema: downgradeForm(form) };
}

/** The form of a question, if this revision has only the first version of forms. Undefined otherwise. */
function formOf({ params }: Question, features: RevisionFeatures): ElicitRequestedSchema | undefined {
  // Safe: this library creates questions, so a form is complete.
  return features.elicitation === "form"
    ? (params?.["requestedSchema"] as ElicitRequestedSchema | undefined)
    : undefined;
}

function oneByOne(message: SamplingMessage): SamplingMessage[] {
  return Array.isArray(message.content) ? message.content.map((content) => ({ ...message, content })) : [message];
}

/** A form for the first revision with forms: labels in `enumNames`, no lists, defaults only for booleans. */
function downgradeForm(form: ElicitRequestedSchema): ElicitRequestedSchema {
  const fields = Object.entries(form.properties).map(([name, field]) => [name, downgradeField(field)]);
  return { ...form, properties: Object.fromEntries(fields) as ElicitRequestedSchema["properties"] };
}

function downgradeField(field: PrimitiveSchemaDefinition): PrimitiveSchemaDefinition {
  if (field.type === "boolean") return field;
  const { default: _default, ...plain } = field;
  if (plain.type === "array") {
    const { items, minItems: _min, maxItems: _max, description, ...rest } = plain;
    const values = "enum" in items ? items.enum : items.anyOf.map((option) => option.const);
    const hint = `Several of these, separated by commas: ${values.join(", ")}`;
    return { ...rest, type: "string", description: description === undefined ? hint : `${description}. ${hint}` };
  }
  if (!("oneOf" in plain)) return plain;
  const { oneOf, ...rest } = plain;
  return { ...rest, enum: oneOf.map((option) => option.const), enumNames: oneOf.map((option) => option.title) };
}

/** Converts the answer to a downgraded form: splits lists and fills in defaults. */
function upgradeContent(form: ElicitRequestedSchema, content: Members): Members {
  const answer = Object.entries(form.properties).flatMap(([name, field]) => {
    const value = Object.hasOwn(content, name) ? content[name] : undefined;
    if (value === undefined) return field.default === undefined ? [] : [[name, field.default]];
    if (field.type !== "array" || typeof value !== "string") return [[name, value]];
    return [[name, value.split(",").flatMap((part) => part.trim() || [])]];
  });
  return { ...content, ...(Object.fromEntries(answer) as Members) };
}
