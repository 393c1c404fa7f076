/** What the library tells programs to change, and the same for a person before the page. The first that is found is replaced. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/`timeouts\.connectMs`/, "--timeout of `parley inspect`"],
  [/; `data\.stderr` has its last lines\.$/, "; the details have its last lines."],
  [
    /pass its full path as `command`, or set `PATH` in `env`/,
    "start the inspector with its full path, or set PATH by --env",
  ],
  [/^(Pass \S+) in `env`;/, "$1 by --env of `parley inspect`, or in `env` of its configuration;"],
  [/^Add [^.]*`revisions` option[^.]*\./, "Choose another revision, or let it be negotiated."],
  [/, or use an older revision with `revisions`/, ", or choose an older revision"],
  [/^Pass credentials to `connect` in `headers`/, "Connect again, with credentials as a header"],
  [/pass it as `client`/, "log in with it by `parley login --client-id`, whose tokens `parley inspect` uses"],
  [/, or publish a client metadata document and pass its address as `clientMetadataUrl`/, ""],
  [/^Look at `cause` and at the server's log/, "Look at the server's log"],
  [/, or set `allowCrossOriginRedirects`/, ""],
  [/, or pass `checkOutput: false` to take results unchecked/, ""],
  [/, or raise `\w+`(?: of `connect`| on the reading side)(?: or of the transport)?/, ""],
];

/** Advice of the library in words of the page and of the terminal that started it. */
export function pageAdvice(fix: string): string {
  return WORDS.reduce((text, [api, words]) => text.replace(api, words), fix);
}
