// The flame graphs of the run's profiled trials, one role and candidate at a time.

import { h, select } from "./dom";
import { type FlameModel, load } from "./flame/data";
import { FlameView } from "./flame/view";
import type { FlamePair, ReportModel } from "./model";
import { stack_of } from "./stack";
import { choose, chosen } from "./state";

/** Unpacked once, whatever is redrawn. */
const unpacked = new Map<string, FlameModel>();

function not_here(absent: FlamePair[]): HTMLElement | null {
  if (absent.length === 0) return null;
  const command = ({ files }: FlamePair): string => `memduel flamegraph ${files.join(" --diff ")}`;
  return h(
    "details",
    {},
    h("summary", {}, `${absent.length} not in this page`),
    ...absent.map((pair) =>
      h("p", {}, `${pair.label}: ${pair.why}. In the run's directory: `, h("code", {}, command(pair))),
    ),
  );
}

function show(model: FlameModel, place: HTMLElement): FlameView {
  const view = new FlameView(model, stack_of);
  place.replaceChildren(
    view.graph_part(),
    ...view
      .other_parts()
      .map(({ id, title, content }): HTMLElement =>
        id === "recorded"
          ? h("details", { class: "long" }, h("summary", {}, title), ...content)
          : h("div", { id: `flames-${id}` }, h("h3", {}, title), ...content),
      ),
  );
  view.reset();
  place.dataset["loaded"] = "true";
  return view;
}

export function flame_graphs(model: ReportModel): HTMLElement {
  const shown = model.flames.filter((pair) => pair.id !== "");
  const absent = model.flames.filter((pair) => pair.id === "");
  const first = shown[0];
  const place = h("div", { class: "flames" });
  let view: FlameView | null = null;
  let arrived = false;
  const fill = (flame: FlameModel): void => {
    view = show(flame, place);
    document.dispatchEvent(new Event("flames"));
    if (arrived) view.arrive();
  };
  const draw = (): void => {
    const id = chosen("flame", shown.map((pair) => pair.id), first?.id ?? "");
    if (id === "") return;
    const ready = unpacked.get(id);
    if (ready !== undefined) {
      fill(ready);
      return;
    }
    load(id)
      .then((flame) => {
        unpacked.set(id, flame);
        fill(flame);
      })
      .catch((error: unknown) => place.replaceChildren(h("p", { class: "notice" }, `This flame graph cannot be shown: ${String(error)}`)));
  };
  draw();
  const ids = shown.map((pair) => pair.id);
  const change = (id: string): void => {
    for (const key of ["stack", "zoom"]) choose(key, "");
    choose("flame", id);
    draw();
  };
  const picker = (): HTMLElement =>
    select("Profiles", shown.map(({ id, label }) => ({ value: id, label })), chosen("flame", ids, first?.id ?? ""), change);
  const part = h(
    "div",
    { "data-arrives": true },
    shown.length < 2 ? null : h("div", { class: "controls" }, picker()),
    first === undefined ? null : place,
    not_here(absent),
  );
  part.addEventListener("arrive", () => {
    arrived = true;
    view?.arrive();
  });
  return part;
}
