import { render } from "preact";
import { App } from "./app/app.js";

const root = document.getElementById("inspector");
if (root !== null) {
  root.replaceChildren();
  render(<App />, root);
}
