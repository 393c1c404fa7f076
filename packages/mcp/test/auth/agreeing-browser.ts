const MAX_HOPS = 10;

/** A user's browser: follows redirects, keeps one cookie, agrees to what it is asked, and ends at the client's redirect address. */
export async function agreeTo(start: URL, redirectUri: string): Promise<URL> {
  let [url, cookie] = [start, ""];
  for (let hops = 0; hops < MAX_HOPS; hops++) {
    let response = await fetch(url, { redirect: "manual", headers: cookie === "" ? {} : { cookie } });
    cookie = response.headers.get("set-cookie")?.split(";", 1)[0] ?? cookie;
    if (response.status === 200) {
      const page = await response.text();
      const [, action = ""] = /action="([^"]+)"/.exec(page) ?? [];
      const [, request = ""] = /name="request" value="([^"]+)"/.exec(page) ?? [];
      const body = new URLSearchParams({ request, answer: "allow" });
      const headers = { cookie, origin: url.origin };
      response = await fetch(new URL(action, url), { method: "POST", redirect: "manual", headers, body });
    }
    url = new URL(response.headers.get("location") ?? "", url);
    if (url.href.startsWith(redirectUri)) return url;
  }
  throw new Error("the login did not come back");
}
