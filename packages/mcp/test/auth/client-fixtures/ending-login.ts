import { connect } from "@parley/mcp";
import { oauth, redirectLogin } from "@parley/mcp/auth";
import { browserLogin, terminalLogin } from "@parley/mcp/login";

const [url = "", how = ""] = process.argv.slice(2);

/** The browser of a user who agrees. */
const visit = async (address: string) => {
  await fetch(address);
};

/** Logins that end, after each of which the process has nothing left to wait for. */
const LOGINS = {
  "an opener that fails": () =>
    browserLogin({
      open: () => {
        throw new Error("no browser");
      },
    }),
  "a pasted address": () =>
    terminalLogin({
      port: 0,
      output: { write: (text) => void pasted(/ {2}(http\S+)/.exec(text)?.[1] ?? "") },
      ask: () => answer,
    }),
  "a redirect while stdin is read": () =>
    terminalLogin({ port: 0, output: { write: (text) => void visit(/ {2}(http\S+)/.exec(text)?.[1] ?? "") } }),
  "nobody who waits": () => browserLogin({ open: () => given.abort() }),
  "a page that is left open": () =>
    redirectLogin({
      redirectUri: "http://127.0.0.1:1/callback",
      visit: () => {
        given.abort();
        return new Promise(() => {});
      },
    }),
};

const given = new AbortController();
let paste: (text: string) => void;
const answer = new Promise<string>((resolve) => {
  paste = resolve;
});
const pasted = async (address: string) => {
  const { headers } = await fetch(address, { redirect: "manual" });
  paste(headers.get("location") ?? "");
};

// A name of the table above; any other fails below.
const login = LOGINS[how as keyof typeof LOGINS]();
try {
  const client = await connect(url, { auth: oauth({ login }), signal: given.signal });
  console.log(await client.call("who"));
  await client.close();
} catch (error) {
  console.log(String(error));
}
