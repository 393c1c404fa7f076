/** One stream of bytes and what a reader must make of it. Escapes are JavaScript's; `latin1` gives bytes that are no UTF-8. */
export interface SseCase {
  readonly name: string;
  readonly stream: string;
  readonly latin1?: boolean;
  /** `data`, then `id` and `event` where the event names them. */
  readonly events: readonly { data: string; id?: string; event?: string }[];
  readonly retries?: readonly number[];
}

const message = (data: string, more: { id?: string; event?: string } = {}) => ({ data, ...more });

/** After the cases that browsers share for `EventSource`: each rule of the format has at least one. */
export const SSE_CASES: readonly SseCase[] = [
  { name: "one event", stream: "data: a\n\n", events: [message("a")] },
  { name: "a byte order mark at the start is dropped", stream: "\ufeffdata: a\n\n", events: [message("a")] },
  { name: "only one byte order mark is dropped", stream: "\ufeff\ufeffdata: a\n\ndata: b\n\n", events: [message("b")] },
  {
    name: "a byte order mark later is part of a field's name",
    stream: "data: a\n\n\ufeffdata: b\n\n",
    events: [message("a")],
  },
  { name: "lines that end in CR", stream: "data: a\rdata: b\r\r", events: [message("a\nb")] },
  { name: "lines that end in CRLF", stream: "data: a\r\ndata: b\r\n\r\n", events: [message("a\nb")] },
  { name: "all three endings in one event", stream: "data: a\ndata: b\rdata: c\r\n\r\n", events: [message("a\nb\nc")] },
  { name: "CR then LF is one ending", stream: "data: a\r\n\r\ndata: b\r\n\r\n", events: [message("a"), message("b")] },
  { name: "LF then CR are two", stream: "data: a\n\rdata: b\n\r", events: [message("a"), message("b")] },
  { name: "a comment alone", stream: ": nothing\n\n", events: [] },
  { name: "a comment inside an event", stream: "data: a\n:x\n: y: z\ndata: b\n\n", events: [message("a\nb")] },
  { name: "a comment of only a colon", stream: ":\ndata: a\n\n", events: [message("a")] },
  { name: "no space after the colon", stream: "data:a\n\n", events: [message("a")] },
  { name: "only the first space is dropped", stream: "data:  a\n\n", events: [message(" a")] },
  { name: "a tab is kept", stream: "data:\ta\n\n", events: [message("\ta")] },
  { name: "a field without a colon is empty", stream: "data\n\n", events: [message("")] },
  { name: "two empty data fields are one line break", stream: "data\ndata\n\n", events: [message("\n")] },
  { name: "an empty data field with a colon", stream: "data:\n\n", events: [message("")] },
  { name: "the last event without an empty line is not told", stream: "data: a\n\ndata: b\n", events: [message("a")] },
  { name: "nor is one in the middle of a line", stream: "data: a\n\ndata: b", events: [message("a")] },
  { name: "nor one after which only CR came", stream: "data: a\r", events: [] },
  { name: "unknown fields are ignored", stream: "dat: x\ndatas: y\ndata: a\nfoo\n\n", events: [message("a")] },
  {
    name: "field names are exact: case and spaces count",
    stream: "Data: x\n data: y\ndata : z\ndata: a\n\n",
    events: [message("a")],
  },
  { name: "a type", stream: "event: t\ndata: a\n\n", events: [message("a", { event: "t" })] },
  {
    name: "a type is for one event",
    stream: "event: t\ndata: a\n\ndata: b\n\n",
    events: [message("a", { event: "t" }), message("b")],
  },
  {
    name: "a type without data tells nothing and is forgotten",
    stream: "event: t\n\ndata: b\n\n",
    events: [message("b")],
  },
  {
    name: "of two types the last counts",
    stream: "event: s\nevent: t\ndata: a\n\n",
    events: [message("a", { event: "t" })],
  },
  { name: "an id", stream: "id: 1\ndata: a\n\n", events: [message("a", { id: "1" })] },
  { name: "an empty id", stream: "id\ndata: a\n\n", events: [message("a", { id: "" })] },
  { name: "an id with NUL is ignored", stream: "id: 1\u00002\ndata: a\n\n", events: [message("a")] },
  { name: "an id beyond ASCII", stream: "id: é→😀\ndata: a\n\n", events: [message("a", { id: "é→😀" })] },
  { name: "data with NUL is kept", stream: "data: a\u0000b\n\n", events: [message("a\u0000b")] },
  { name: "data beyond ASCII", stream: "data: ok…→😀\n\n", events: [message("ok…→😀")] },
  {
    name: "bytes that are no UTF-8 are replaced",
    stream: "data: \xff\xfea\n\n",
    latin1: true,
    events: [message("\ufffd\ufffda")],
  },
  { name: "a cut UTF-8 sequence is replaced", stream: "data: \xe2\x82\n\n", latin1: true, events: [message("\ufffd")] },
  { name: "a retry", stream: "retry: 1000\ndata: a\n\n", events: [message("a")], retries: [1000] },
  { name: "a retry alone tells no event", stream: "retry: 5\n\n", events: [], retries: [5] },
  {
    name: "a retry with other signs is ignored",
    stream: "retry: 1000x\nretry: -1\nretry: 1.5\nretry: 1e3\ndata: a\n\n",
    events: [message("a")],
  },
  { name: "an empty retry is ignored", stream: "retry\nretry:\ndata: a\n\n", events: [message("a")] },
  { name: "many empty lines tell nothing", stream: "\n\n\n\r\r\r\n\r\n", events: [] },
  { name: "colons in the data", stream: "data: a: b: c\n\n", events: [message("a: b: c")] },
  {
    name: "JSON as this protocol sends it",
    stream: 'id: s.1\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n',
    events: [message('{"jsonrpc":"2.0","id":1,"result":{}}', { id: "s.1" })],
  },
  {
    name: "a priming event: an id and empty data",
    stream: "id: s.0\ndata: \n\n",
    events: [message("", { id: "s.0" })],
  },
];
