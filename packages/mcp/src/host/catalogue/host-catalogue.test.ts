import { expect, it } from "vitest";
import { HostCatalogue } from "./host-catalogue.js";

/** Begins checks of the links of a result, for a server with these templates. */
function checksOf(...uriTemplates: string[]): () => (uri: string) => boolean {
  const catalogue = new HostCatalogue();
  catalogue.add("s");
  catalogue.set("s", { resourceTemplates: uriTemplates.map((uriTemplate) => ({ name: uriTemplate, uriTemplate })) });
  const names = catalogue.names("s");
  if (names === undefined) throw new Error("the catalogue has no such server");
  return () => names.serving();
}

const linksOf = (...uriTemplates: string[]) => checksOf(...uriTemplates)();

const alike = (count: number) => Array.from({ length: count }, (_, at) => `https://a.example/{+a}/${at}/{+b}`);

it.each([
  ["https://a.example/{id}", "https://a.example/1", true],
  ["https://a.example/{id}", "https://%61.example/1", true],
  ["https://a.example/%c3%a9/{id}", "https://a.example/é/1", true],
  ["https://a.example/%2f/{id}", "https://a.example/%2F/1", true],
  ["https://a.example/{id}", "https://b.example/1", false],
  ["https://a.example/{id}", "https://a.example/1/2", false],
  ["{+any}", "https://a.example/1", false],
  ["file:///{name}", "note://any", true],
])("a server with the template %s serves the link %s: %s", (template, link, expected) => {
  expect(linksOf("https://other.example/{x}", template)(link)).toBe(expected);
});

it("a result of many links is matched with at most 10,000 templates, and the next result again", () => {
  const begin = checksOf(...alike(400), "https://a.example/last/{id}");
  const served = (links: number) => {
    const serves = begin();
    return Array.from({ length: links }, (_, at) => serves(`https://a.example/last/${at}`)).filter(Boolean).length;
  };
  // Each link is compared with 400 templates before the one that it fits; the first of all also compiles them.
  expect([served(1000), served(1000), served(5)]).toEqual([15, 24, 5]);
});

it("a long link counts for as much as it is long", () => {
  const serves = linksOf(...alike(100), "https://a.example/last/{id}");
  expect(serves(`https://a.example/last/${"x".repeat(20_000)}`)).toBe(false);
  expect(serves("https://a.example/last/1")).toBe(false);
});

it("templates that begin otherwise leave room for more links", () => {
  const others = Array.from({ length: 500 }, (_, at) => `https://${at}.example/{id}`);
  const serves = linksOf(...others, "https://a.example/last/{id}");
  const links = Array.from({ length: 1000 }, (_, at) => `https://a.example/last/${at}`);
  expect(links.every(serves)).toBe(true);
  // Without an end to it, such a list would still cost as much as it is long for every link.
  expect(Array.from({ length: 10_000 }, (_, at) => `https://a.example/last/${at}`).every(serves)).toBe(false);
});
