// The report page: decompresses its own data, then builds every section that has any.

import "uplot/dist/uPlot.min.css";
import "./style.css";
import "./flame/flame.css";

import { ablation_section, lower_bounds_section } from "./ablation";
import { type VariantLooks, variant_looks } from "./variants";
import { choice, h, on_scheme_change } from "./dom";
import { evidence_section } from "./evidence";
import { first_screen } from "./first_screen";
import { flames_section } from "./flames";
import { name_groups } from "./format";
import { growth_section } from "./growth";
import { keep_reading, keeping } from "./keep";
import { metrics_section } from "./metrics_table";
import { load_model, type ReportModel } from "./model";
import { compared_variants } from "./overview";
import { part_peaks_section } from "./part_peaks";
import { profiles_section } from "./profiles";
import { rounds_section } from "./rounds";
import { choose, chosen_text } from "./state";

type Theme = "auto" | "light" | "dark";
let theme: Theme = "auto";

function heading(model: ReportModel, looks: VariantLooks, redraw: () => void): HTMLElement {
  const variants = model.results.variants.filter((variant) => variant.ablation !== true).map((variant) => variant.name);
  const baseline = model.results.experiment.baseline;
  const others = variants.filter((name) => name !== baseline);
  const duel = others.length === 0 ? baseline : `${others.join(", ")} against ${baseline}`;
  return h(
    "header",
    {},
    h(
      "div",
      {},
      h("h1", {}, model.title),
      h(
        "p",
        { class: "muted" },
        `${duel} · ${model.setting}`,
        model.confidential ? " · confidential: arguments, environment values and paths are left out" : "",
      ),
      compared_variants(model, looks),
    ),
    choice(
      "Theme",
      [
        { value: "auto", label: "auto" },
        { value: "light", label: "light" },
        { value: "dark", label: "dark" },
      ],
      theme,
      (value) => {
        theme = value;
        apply(value);
        redraw();
      },
    ),
  );
}

function contents(sections: HTMLElement[]): HTMLElement {
  return h(
    "nav",
    { "aria-label": "Sections" },
    ...sections.map((part) => {
      const title = part.querySelector("h2");
      return h(
        "button",
        {
          type: "button",
          click: () => {
            choose("at", part.id);
            go_to_chosen();
          },
        },
        title?.textContent ?? part.id,
      );
    }),
  );
}

/** The section that the URL names; the first screen, where it names none. */
function go_to_chosen(): void {
  const part = document.getElementById(chosen_text("at"));
  if (part === null) return;
  part.scrollIntoView();
  part.querySelector("h2")?.focus({ preventScroll: true });
  part.dispatchEvent(new Event("arrive"));
}

/** The flame graphs are unpacked while the page is shown already, and move what stands below them. */
function stay_at(wanted: string): void {
  if (wanted === "") return;
  const again = (): void => {
    choose("at", wanted);
    go_to_chosen();
  };
  document.addEventListener("flames", again, { once: true });
}

/** The section that is being read goes into the URL, the first one by no name. */
function follow_reading(): void {
  let pending = 0;
  addEventListener(
    "scroll",
    () => {
      clearTimeout(pending);
      pending = window.setTimeout(() => {
        const parts = [...document.querySelectorAll("main > section[id]")];
        const at_end = scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
        const read = parts.filter((part) => at_end || part.getBoundingClientRect().top < innerHeight / 2).at(-1);
        choose("at", read === undefined || read === parts[0] ? "" : read.id);
      }, 200);
    },
    { passive: true },
  );
}

/** Paper is light, whatever the screen shows, and has every fold open but those with raw tables, which fill a book. */
function print_in_full(model: ReportModel): void {
  const root = document.documentElement;
  let undo = (): void => undefined;
  addEventListener("beforeprint", () => {
    root.dataset["theme"] = "light";
    undo = keep_reading();
    render(model);
    for (const details of document.querySelectorAll("details")) {
      details.open = !details.classList.contains("raw");
      details.dispatchEvent(new Event("toggle")); // its own comes after the paper is printed
    }
  });
  addEventListener("afterprint", () => {
    apply(theme);
    render(model);
    undo();
  });
}

function apply(wanted: Theme): void {
  if (wanted === "auto") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = wanted;
}

function render(model: ReportModel): void {
  const looks = variant_looks(model);
  const redraw = (): void => keeping(() => render(model));
  const sections = [
    ...first_screen(model, looks),
    ...lower_bounds_section(model, looks),
    ...ablation_section(model),
    ...part_peaks_section(model),
    ...rounds_section(model, looks),
    ...growth_section(model),
    ...flames_section(model),
    ...metrics_section(model),
    ...profiles_section(model),
    evidence_section(model),
  ];
  document.body.replaceChildren(
    h("div", { class: "page" }, heading(model, looks, redraw), contents(sections), h("main", {}, ...sections)),
  );
  document.body.dataset["ready"] = "true";
}

async function start(): Promise<void> {
  const model = await load_model();
  name_groups(model.results.job.groups);
  render(model);
  print_in_full(model);
  go_to_chosen();
  stay_at(chosen_text("at"));
  addEventListener("hashchange", () => {
    keeping(() => render(model));
    go_to_chosen();
  });
  follow_reading();
  on_scheme_change(() => keeping(() => render(model)));
}

start().catch((error: unknown) => {
  document.body.replaceChildren(
    h("main", { class: "page" }, h("h1", {}, "This report cannot be shown"), h("p", {}, String(error))),
  );
});
