import assert from "node:assert/strict";
import type { ClientOf, ClientOptions } from "@parley/mcp";
import type { server } from "./server.js";

type Everything = ClientOf<typeof server>;

/** How the client of the tour answers the server's questions. */
export const answers: ClientOptions = {
  onElicit(question) {
    if (question.mode === "url") return { action: "accept" };
    const { properties } = question.requestedSchema;
    if ("stars" in properties) return { action: "decline" };
    if ("sure" in properties) return { action: "accept", content: { sure: true } };
    if ("size" in properties) return { action: "accept", content: { size: "large", colour: "g", extras: ["bow"] } };
    return { action: "accept", content: { name: "Grace" } };
  },
  onSample: () => ({ role: "assistant", model: "tour", content: { type: "text", text: "Yes." } }),
  roots: [{ uri: "file:///home/tour", name: "home" }],
  logLevel: "info",
};

/** Uses every feature of the server; throws at the first unexpected result. */
export async function tour(client: Everything, say: (line: string) => void): Promise<void> {
  await tools(client, say);
  await questions(client, say);
  await resources(client, say);
  await prompts(client, say);
  await changes(client, say);
}

async function tools(client: Everything, say: (line: string) => void): Promise<void> {
  const names = (await client.allTools()).map(({ name }) => name);
  assert(names.includes("library_find") && !names.includes("shut_down"));
  say(`tools      ${names.length}, in pages of 8; those of the mounted library among them`);
  assert.deepEqual(await client.call("sum", { numbers: [1, 2, 3] }), { sum: 6, coerced: false });
  const stringified = await client.callTool("sum", { numbers: "[1, 2]" });
  assert.deepEqual(stringified.structuredContent, { sum: 3, coerced: true });
  const misspelled = await client.callTool("sum", { number: [1] });
  assert.match(JSON.stringify(misspelled.content), /did you mean/);
  assert.deepEqual(await client.call("primes", { below: 12 }), [2, 3, 5, 7, 11]);
  const { content } = await client.callTool("media");
  say(`content    ${content.map(({ type }) => type).join(", ")}`);
  assert.equal((await client.callTool("fail", { how: "model" })).isError, true);
  await assert.rejects(client.call("fail", { how: "protocol" }), { code: -32602 });
  const progress: number[] = [];
  const logged: unknown[] = [];
  const off = client.on("notifications/message", ({ data }) => logged.push(data));
  await client.call("work", { steps: 5 }, { onProgress: (step) => progress.push(step.progress) });
  off();
  assert.deepEqual(progress, [1, 2, 3, 4, 5]);
  assert.equal(logged.length, 5);
  say("work       5 of 5 steps reported, and logged");
  const long = (await client.callTool("dump")).content.find((block) => block.type === "resource_link");
  const [whole] = (await client.readResource(long?.uri ?? "")).contents;
  assert(whole !== undefined && "text" in whole && whole.text.length > 40_000);
  assert.equal((await Promise.all(Array.from({ length: 10 }, () => client.call("narrow")))).length, 10);
  assert.equal(await client.call("library_find" as never, { title: "dune" } as never), "A desert planet");
  const refused = await client.callTool("format_disk" as never);
  assert.equal(refused.isError, true);
}

async function questions(client: Everything, say: (line: string) => void): Promise<void> {
  const ordered = await client.call("order");
  assert.deepEqual(ordered, { name: "Ada", amount: 1, express: false, size: "large", colour: "g", extras: ["bow"] });
  assert.match(await client.call("buy"), /^receipt \d+ for Grace$/);
  assert.equal(await client.call("survey"), "no answer (decline)");
  assert.equal(await client.call("pay"), "paid");
  assert.equal(await client.call("ask", { question: "Is it done?" }), "Yes.");
  assert.equal(await client.call("folders"), "file:///home/tour");
  // One era returns an error with the page to visit, the other asks a question; both get the secret afterwards.
  const first = await client.call("secret").catch((error: { kind: string }) => error.kind);
  assert(first === "url_elicitation_required" || first === "the secret");
  if (first !== "the secret") assert.equal(await client.call("secret"), "the secret");
  say("questions  a form, two in a row, a refusal, two pages, the model, the folders");
}

async function resources(client: Everything, say: (line: string) => void): Promise<void> {
  const uris = (await client.allResources()).map(({ uri }) => uri);
  assert(["config://app", "logo://small", "note://today", "library+book://dune"].every((uri) => uris.includes(uri)));
  const templates = await client.allResourceTemplates();
  assert(templates.some(({ uriTemplate }) => uriTemplate === "note://{id}"));
  const [logo] = (await client.readResource("logo://small")).contents;
  assert(logo !== undefined && "blob" in logo && logo.blob === "iVBORw==");
  const [book] = (await client.readResource("library+book://emma")).contents;
  assert(book !== undefined && "text" in book && book.text === "A matchmaker");
  const completed = await client.complete({ resource: "note://{id}" }, { name: "id", value: "to" });
  assert.deepEqual(completed.values, ["today", "tomorrow"]);
  say(`resources  ${uris.length} listed, ${templates.length} family with completion`);
}

async function prompts(client: Everything, say: (line: string) => void): Promise<void> {
  const names = (await client.allPrompts()).map(({ name }) => name);
  assert.deepEqual(names, ["review", "greet"]);
  const { messages } = await client.getPrompt("review", { language: "French" });
  assert.deepEqual(
    messages.map(({ role, content }) => `${role} ${content.type}`),
    ["user text", "user resource", "assistant text"],
  );
  const greeting = await client.getPrompt("greet", { name: "Ada" });
  assert.deepEqual(greeting.messages[0]?.content, { type: "text", text: "Say hello to Ada." });
  const languages = await client.complete({ prompt: "review" }, { name: "language", value: "F" });
  assert.equal(languages.values[0], "French");
  say(`prompts    ${names.join(", ")}`);
}

async function changes(client: Everything, say: (line: string) => void): Promise<void> {
  const subscription = await client.subscribe("note://today");
  const next = subscription[Symbol.asyncIterator]().next();
  await client.call("write", { id: "today", text: "Written by the tour" });
  assert.equal(((await next).value as { uri?: string } | undefined)?.uri, "note://today");
  await subscription.close();
  const learnt = `trick_${client.protocolVersion.replaceAll("-", "")}`;
  await client.call("learn", { name: learnt });
  assert.equal(await client.call(learnt as never), `I am ${learnt}`);
  say("changes    a note was updated, a tool was learnt");
}
