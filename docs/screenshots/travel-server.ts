import { Server } from "@parley/mcp";

const trip = {
  type: "object",
  properties: {
    from: { type: "string", title: "From", description: "The station where it begins" },
    to: { type: "string", title: "To", minLength: 2 },
    day: { type: "string", format: "date", title: "Day" },
    class: { type: "string", enum: ["first", "second"], default: "second", title: "Class" },
    travellers: {
      type: "array",
      title: "Travellers",
      minItems: 1,
      items: {
        type: "object",
        properties: {
          name: { type: "string", title: "Name", pattern: "^[A-Z]" },
          age: { type: "integer", minimum: 0, maximum: 120, title: "Age" },
        },
        required: ["name", "age"],
      },
    },
    pay: {
      title: "Pay",
      oneOf: [
        {
          title: "By card",
          type: "object",
          properties: { kind: { const: "card" }, digits: { type: "string", pattern: "^[0-9]{16}$" } },
          required: ["kind", "digits"],
        },
        {
          title: "By voucher",
          type: "object",
          properties: { kind: { const: "voucher" }, code: { type: "string" } },
          required: ["kind", "code"],
        },
      ],
    },
  },
  required: ["from", "to", "day", "travellers"],
} as const;

const trains = [
  { train: "RE 5", departs: "08:12", arrives: "10:44", changes: 0, price: 39.9 },
  { train: "IC 21", departs: "09:30", arrives: "11:35", changes: 0, price: 59.5 },
  { train: "RE 7, S 3", departs: "10:02", arrives: "13:21", changes: 1, price: 24.9 },
];

/** Minutes until the next train; every answer is another one, so that a replay has something to show. */
let minutes = 12;

/** A server whose tools have forms and results with something to see. */
export const travel = new Server({ name: "travel", title: "Travel", version: "2.1.0" })
  .tool(
    "plan_trip",
    {
      title: "Plan a trip",
      description: "Finds trains for a party, and reserves nothing.",
      input: trip,
      annotations: { readOnlyHint: true },
    },
    ({ from, to }) => ({
      content: [
        { type: "text", text: `## ${from} to ${to}\n\n**${trains.length} trains**, the cheapest first after 10.` },
      ],
      structuredContent: { from, to, trains },
    }),
  )
  .tool("cancel_trip", { description: "Gives a trip back", annotations: { destructiveHint: true } }, () => "given back")
  .tool("next_train", { description: "When the next train leaves", annotations: { readOnlyHint: true } }, () => ({
    content: [{ type: "text", text: `RE 5 leaves in ${--minutes} minutes.` }],
    structuredContent: { train: "RE 5", platform: 3, minutes },
  }));
