import { consent, content, message, promptTemplate, resourceTemplate, Server, tool } from "@parley/mcp";
import { z } from "zod";
import { library } from "./library.js";
import { ask, buy, folders, orderTool, pay, secret, survey } from "./questions.js";
import { dump, fail, media, narrow, primes, shutDown, sum, work } from "./tools.js";

const notes = new Map([
  ["today", "Write an example"],
  ["tomorrow", "Read it again"],
]);

/** A resource template with an inferred variable, listing, completion, and a watch that runs while there are subscribers. */
const note = resourceTemplate(
  "note://{id}",
  {
    name: "note",
    description: "A note",
    mimeType: "text/plain",
    list: () => [...notes.keys()].map((id) => ({ uri: `note://${id}`, name: id })),
    complete: { id: (typed) => [...notes.keys()].filter((id) => id.startsWith(typed)) },
  },
  ({ id }) => notes.get(id),
);

/** Calls by tool name, counted by an observer. */
const counts = new Map<string, number>();

const base = new Server(
  { name: "everything", title: "Everything", version: "1.0.0", websiteUrl: "https://example.com" },
  {
    instructions: "Shows every feature once. Begin with the tool `sum`.",
    pageSize: 8,
    cache: { ttlMs: 1000, scope: "public", read: { ttlMs: 0 } },
    limits: { calls: 100, queuedCalls: 100 },
  },
)
  .add(sum, primes, media, fail, work, dump, narrow, shutDown)
  .add(orderTool, buy, survey, pay, secret, ask, folders, note)
  .resource("config://app", { mimeType: "application/json" }, () => JSON.stringify({ theme: "dark" }))
  .resource("logo://small", { mimeType: "image/png", size: 4 }, () => new Uint8Array([137, 80, 78, 71]))
  .prompt(
    "review",
    {
      description: "Reviews a text",
      arguments: { language: { required: true, complete: ["English", "French", "German"] }, text: {} },
    },
    ({ language, text: body = "nothing" }) => [
      message.user(`Review this ${language} text:`, content.resource("note://today", body)),
      message.assistant("I will be kind."),
    ],
  )
  .prompt("greet", { description: "Greets somebody" }, promptTemplate("Say hello to {{name}}."));

/** Tools that change the server while clients are connected. */
export const server = base
  .tool(
    "write",
    { description: "Writes a note", input: z.object({ id: z.string(), text: z.string() }) },
    ({ id, text }) => {
      const isNew = !notes.has(id);
      notes.set(id, text);
      if (isNew) base.listChanged("resources");
      base.resourceUpdated(`note://${id}`);
      return isNew ? "added" : "changed";
    },
  )
  .tool("learn", { description: "Adds a tool", input: z.object({ name: z.string() }) }, ({ name }) => {
    base.replace(tool(name, { description: "Learnt" }, () => `I am ${name}`));
    return `learnt ${name}`;
  })
  .tool("counts", { description: "How often tools were called" }, () => Object.fromEntries(counts))
  .mount("library", library)
  .use(
    consent({
      beforeToolCall: ({ name }) => (name === "format_disk" ? { deny: "Nothing is formatted here." } : "allow"),
    }),
  );

server.observe({
  ended({ method, name = "" }) {
    if (method === "tools/call") counts.set(name, (counts.get(name) ?? 0) + 1);
  },
});
