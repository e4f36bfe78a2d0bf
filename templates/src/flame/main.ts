// The flame graph page: one profile, or two and what they differ in.

import "../style.css";
import "./flame.css";

import { h, section } from "../dom";
import { follow_system } from "../theme";
import { load } from "./data";
import { draw_for_paper } from "./paper";
import { FlameView } from "./view";

/** The hash keeps what the reader chose, so that it cannot name the place. */
function skip_graph(event: Event): void {
  event.preventDefault();
  document.getElementById("functions-title")?.focus();
}

async function start(): Promise<void> {
  const model = await load("memduel-data");
  const view = new FlameView(model);
  const names = model.profiles.map((profile) => profile.name);
  const program = model.profiles[0]?.facts["command"] ?? "";
  document.body.replaceChildren(
    h(
      "div",
      { class: "page wide" },
      h("a", { class: "skip", href: "#functions", click: skip_graph }, "Skip the graph: functions as a table"),
      h("header", {}, h("div", {}, h("h1", {}, names.length === 2 ? `${names[1]} vs. ${names[0]}` : (names[0] ?? "")), h("p", { class: "muted" }, program === "" ? "memduel flame graph" : `${program} · memduel flame graph`))),
      h("main", {}, view.graph_part(), ...view.other_parts().map(({ id, title, content }) => section(id, title, ...content))),
    ),
  );
  follow_system(() => view.reset());
  view.reset();
  document.body.dataset["ready"] = "true";
  addEventListener("hashchange", () => view.reset());
  addEventListener("beforeprint", draw_for_paper);
  addEventListener("keydown", (event) => {
    if (event.key === "/" && !(event.target instanceof HTMLInputElement)) view.focus_search(event);
  });
}

start().catch((error: unknown) => {
  document.body.replaceChildren(
    h("main", { class: "page" }, h("h1", {}, "This flame graph cannot be shown"), h("p", {}, String(error))),
  );
});
