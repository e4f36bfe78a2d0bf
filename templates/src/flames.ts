// Who holds the memory: the flame graphs of the run's profile trials, one role and candidate at a time.

import { h, section, select } from "./dom";
import { type FlameModel, load } from "./flame/data";
import { FlameView } from "./flame/view";
import { stack_of } from "./flame_link";
import type { FlamePair, ReportModel } from "./model";
import { choose, chosen } from "./state";

/** Unpacked once, whatever is redrawn. */
const unpacked = new Map<string, FlameModel>();

export function pair_label({ profiler, role, variants }: FlamePair): string {
  const under = profiler === "recorder" ? "" : `, under ${profiler}`;
  return variants.length > 1 ? `${role}: ${variants[1]} against ${variants[0]}${under}` : `${role}: ${variants[0]}${under}`;
}

function not_here(absent: FlamePair[]): HTMLElement | null {
  if (absent.length === 0) return null;
  const command = ({ files }: FlamePair): string => `memduel flamegraph ${files.join(" --diff ")}`;
  return h(
    "details",
    {},
    h("summary", {}, `${absent.length} not in this page`),
    ...absent.map((pair) =>
      h("p", {}, `${pair_label(pair)}: ${pair.why}. In the run’s directory: `, h("code", {}, command(pair))),
    ),
  );
}

function show(model: FlameModel, place: HTMLElement, report: ReportModel): FlameView {
  const view = new FlameView(model, (key) => stack_of(report, key));
  place.replaceChildren(
    view.graph_part(),
    ...view
      .other_parts()
      .map(({ id, title, content }): HTMLElement =>
        id === "recorded"
          ? h("details", { class: "raw" }, h("summary", {}, title), ...content)
          : h("div", { id: `flames-${id}` }, h("h3", {}, title), ...content),
      ),
  );
  view.reset();
  place.dataset["loaded"] = "true";
  return view;
}

export function flames_section(model: ReportModel): HTMLElement[] {
  const shown = model.flames.filter((pair) => pair.id !== "");
  const absent = model.flames.filter((pair) => pair.id === "");
  const first = shown[0];
  if (first === undefined && absent.length === 0) return [];
  const place = h("div", { class: "flames" });
  let view: FlameView | null = null;
  let arrived = false;
  const fill = (flame: FlameModel): void => {
    view = show(flame, place, model);
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
  const part = section(
    "flames",
    "Who holds the memory",
    h("p", { class: "muted" }, "From profile trials, which are not part of the verdict."),
    shown.length < 2
      ? null
      : h(
          "div",
          { class: "controls" },
          select(
            "Profiles",
            shown.map((pair) => ({ value: pair.id, label: pair_label(pair) })),
            chosen("flame", shown.map((pair) => pair.id), first?.id ?? ""),
            (id) => {
              for (const key of ["stack", "zoom"]) choose(key, "");
              choose("flame", id);
              draw();
            },
          ),
        ),
    place,
    not_here(absent),
  );
  part.addEventListener("arrive", () => {
    arrived = true;
    view?.arrive();
  });
  return [part];
}
