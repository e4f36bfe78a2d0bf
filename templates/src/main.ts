// The report page: decompresses its own data, then draws the document: the result with its reasons, and below it the details.

import "uplot/dist/uPlot.min.css";
import "./style.css";
import "./flame/flame.css";

import { choice, h } from "./dom";
import { draw_for_paper } from "./flame/paper";
import { keep_reading, keeping } from "./keep";
import { type ComparedVariant, load_model, type ReportDocument, type ReportModel, type Section } from "./model";
import { draw_parts, type Place } from "./parts";
import { name_stacks } from "./stack";
import { choose, chosen_text } from "./state";
import { command_code, go_to, sentence_nodes, text_nodes } from "./text";
import { apply_theme, choose_theme, follow_system, theme, type Theme, themes } from "./theme";
import { swatch, type VariantLooks, variant_looks } from "./variants";

function heading({ title, name, setting }: ReportDocument): HTMLElement {
  const facts = ["memduel", name, setting].filter((fact) => fact !== "").join(" · ");
  return h("header", {}, h("h1", {}, title), h("p", { class: "muted" }, facts));
}

function result(document: ReportDocument, looks: VariantLooks): HTMLElement {
  const answer = document.answer.toLowerCase().replace(" ", "-");
  return h(
    "div",
    { class: "result" },
    document.notice === "" ? null : h("p", { class: "notice" }, document.notice),
    document.compared.length === 0 ? null : h("dl", { class: "compared" }, ...document.compared.flatMap((one) => variant(one, looks))),
    h("p", { class: "answer" }, document.answer === "NO GATES" ? null : h("strong", { class: `badge ${answer}` }, document.answer), " ", h("span", { class: "sentence" }, ...sentence_nodes(document.sentence))),
    document.exit.length === 0 ? null : h("p", { class: "exit muted" }, ...text_nodes(document.exit)),
  );
}

function variant({ name, words, is_baseline }: ComparedVariant, looks: VariantLooks): HTMLElement[] {
  const role = is_baseline ? h("span", { class: "muted" }, " (baseline)") : null;
  return [h("dt", {}, swatch(looks.get(name)), ` ${name}`, role), h("dd", {}, words === "" ? null : command_code(words))];
}

/** On the first screen the title is a label beside the parts; without one they are as wide as the page. */
function first_section(section: Section, place: Omit<Place, "section">): HTMLElement {
  const { id, title, parts } = section;
  const content = h("div", {}, ...draw_parts(parts, { ...place, section }));
  return title === "" ? h("section", { id }, content) : h("section", { id, class: "labelled" }, h("h2", { tabindex: "-1" }, title), content);
}

function detail_section(section: Section, place: Omit<Place, "section">): HTMLElement {
  const { id, title, parts } = section;
  const heading = h("h2", { id: `${id}-title`, tabindex: "-1" }, title);
  return h("section", { id, "aria-labelledby": `${id}-title` }, heading, ...draw_parts(parts, { ...place, section }));
}

function contents(details: Section[]): HTMLElement | null {
  if (details.length === 0) return null;
  const button = ({ id, title }: Section): HTMLElement => h("button", { type: "button", "data-section": id, click: () => go_to(id) }, title);
  return h("nav", { "aria-label": "Details" }, h("span", { class: "muted" }, "Details:"), h("div", {}, ...details.map(button)));
}

function theme_switch(model: ReportModel): HTMLElement {
  const change = (value: Theme): void => {
    choose_theme(value);
    keeping(() => render(model));
  };
  return choice("Theme", themes.map((value) => ({ value, label: value })), theme(), change);
}

function render(model: ReportModel): void {
  const looks = variant_looks(model);
  const place = { model, looks };
  const { first_screen, details } = model.document;
  document.body.replaceChildren(
    h(
      "div",
      { class: "page" },
      heading(model.document),
      h(
        "main",
        {},
        h("div", { class: "first-screen" }, result(model.document, looks), ...first_screen.map((section) => first_section(section, place))),
        contents(details),
        h("div", { class: "details" }, ...details.map((section) => detail_section(section, place))),
      ),
      h("footer", {}, theme_switch(model)),
    ),
  );
  document.body.dataset["ready"] = "true";
}

/** The flame graphs are unpacked while the page is shown already, and move what stands below them. */
function stay_at(wanted: string): void {
  if (wanted !== "") document.addEventListener("flames", () => go_to(wanted), { once: true });
}

/** The section that is being read goes into the URL and is marked above; the first screen has no name. */
function follow_reading(): void {
  let pending = 0;
  const look = (): void => {
    const parts = [...document.querySelectorAll(".details > section")].map((part) => ({ id: part.id, top: part.getBoundingClientRect().top }));
    const at_end = scrollY > 0 && scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
    const begun = parts.filter(({ top }) => top < innerHeight * (at_end ? 1 : 0.5));
    // The last ones share a screen: of them stays what was asked for.
    const wanted = at_end ? begun.find(({ id, top }) => top >= 0 && id === chosen_text("at")) : undefined;
    const read = (wanted ?? begun.at(-1))?.id ?? "";
    choose("at", read);
    for (const button of document.querySelectorAll("nav button"))
      button.setAttribute("aria-current", String((button as HTMLElement).dataset["section"] === read));
  };
  const later = (): void => {
    clearTimeout(pending);
    pending = window.setTimeout(look, 200);
  };
  addEventListener("scroll", later, { passive: true });
}

/** Paper is light, whatever the screen shows, and has every fold open but long ones, which fill a book. */
function print_in_full(model: ReportModel): void {
  let undo = (): void => undefined;
  addEventListener("beforeprint", () => {
    apply_theme("light");
    undo = keep_reading();
    render(model);
    for (const details of document.querySelectorAll("details")) {
      details.open = !details.classList.contains("long");
      details.dispatchEvent(new Event("toggle")); // its own comes after the paper is printed
    }
    draw_for_paper();
  });
  addEventListener("afterprint", () => {
    apply_theme();
    render(model);
    undo();
  });
}

async function start(): Promise<void> {
  const model = await load_model();
  name_stacks(model.document);
  follow_system(() => keeping(() => render(model)));
  render(model);
  print_in_full(model);
  go_to(chosen_text("at"));
  stay_at(chosen_text("at"));
  addEventListener("hashchange", () => {
    keeping(() => render(model));
    go_to(chosen_text("at"));
  });
  follow_reading();
}

start().catch((error: unknown) => {
  document.body.replaceChildren(
    h("main", { class: "page" }, h("h1", {}, "This report cannot be shown"), h("p", {}, String(error))),
  );
});
