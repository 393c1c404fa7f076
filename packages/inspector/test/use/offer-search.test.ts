import { describe, expect, it } from "vitest";
import { searchOffers } from "../../page/use/offer-search.js";
import type { OfferSummary } from "../../src/contract/offers.js";

const offer = (name: string, more: Partial<OfferSummary> = {}): OfferSummary => ({
  name,
  marks: [],
  findings: 0,
  ...more,
});
const offers = [
  offer("delete_file", { description: "Removes a file", marks: ["destructive"] }),
  offer("read_file", { title: "Read" }),
  offer("file_list", { description: "Lists what can be read" }),
  offer("weather", { description: "The forecast" }),
];
const found = (query: string) => searchOffers(offers, query).map(({ name }) => name);

describe("the search in a list", () => {
  it("shows all, in their order, for no words", () => {
    expect(searchOffers(offers, "  ")).toBe(offers);
  });

  it("puts those first that begin with the word, then those with it in name, title and description", () => {
    expect(found("file")).toEqual(["file_list", "delete_file", "read_file"]);
    expect(found("read")).toEqual(["read_file", "file_list"]);
  });

  it("wants every word, wherever it is, whatever its case", () => {
    expect(found("FILE removes")).toEqual(["delete_file"]);
    expect(found("file weather")).toEqual([]);
    expect(found("destructive")).toEqual(["delete_file"]);
  });

  it("takes letters in order where no entry has the words", () => {
    expect(found("dlfl")).toEqual(["delete_file"]);
    expect(found("wthr")).toEqual(["weather"]);
    expect(found("zzz")).toEqual([]);
  });

  it("goes through 20,000 entries on each key", () => {
    const many = Array.from({ length: 20_000 }, (_, index) => offer(`tool_${index}`, { description: "x".repeat(300) }));
    expect(searchOffers(many, "tool_19999").map(({ name }) => name)).toEqual(["tool_19999"]);
    expect(searchOffers(many, "tool")).toHaveLength(20_000);
  });
});
