// Numbers as people read them; the exact value is shown on hover.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

// As the terminal rounds: what lies exactly between two numbers goes to the even one. JavaScript goes up, and whole
// pages of memory and medians of counts often lie between.

/** `text` is a number rounded up from one whose digits after the last of `text` are `rest`. */
function to_even(text: string, rest: string): string {
  const odd = Number(text.at(-1)) % 2 === 1;
  return odd && /^50*$/.test(rest) ? text.slice(0, -1) + String(Number(text.at(-1)) - 1) : text;
}

function fixed(value: number, digits: number): string {
  const [, decimals = ""] = Math.abs(value).toFixed(60).split(".");
  return to_even(value.toFixed(digits), decimals.slice(digits));
}

/** To `digits` significant digits. */
function precise(value: number, digits: number): string {
  const mantissa = (text: string): string => text.replace(/e.*$/, "");
  const exact = mantissa(Math.abs(value).toPrecision(60)).replace(".", "").replace(/^0+/, "");
  const text = value.toPrecision(digits);
  return to_even(mantissa(text), exact.slice(digits)) + text.slice(mantissa(text).length);
}

const byte_units = ["B", "KiB", "MiB", "GiB", "TiB"];

/** As the terminal and `memduel summary` print it: 512 B, 41.3 KiB, 1.25 GiB. */
export function bytes_text(bytes: number): string {
  let value = bytes;
  let unit = 0;
  // What would be rounded up to 1024 of a unit is one of the next.
  for (; Math.abs(value) >= (unit === 0 ? 1023.5 : 1023.95) && unit + 1 < byte_units.length; ++unit) value /= 1024;
  const digits = unit === 0 ? 0 : Math.abs(value) < 9.995 ? 2 : 1;
  return `${minus(fixed(value, digits))} ${byte_units[unit]}`;
}

/** "34.3 ± 5.6 MiB": both in one unit. */
export function bytes_with_interval(bytes: number, half_width: number): string {
  if (half_width < 0.5) return bytes_text(bytes);
  const larger = Math.max(Math.abs(bytes), half_width);
  const unit = byte_units.indexOf(bytes_text(larger).split(" ")[1] ?? "B");
  const size = 1024 ** unit;
  const digits = unit === 0 ? 0 : larger / size < 9.995 ? 2 : 1;
  const [middle, half] = [bytes, half_width].map((value) => minus(fixed(value / size, digits)));
  return `${middle} ± ${half} ${byte_units[unit]}`;
}

/** A tick of a byte axis, whose steps are powers of two: "512 MiB", "0". */
export function tick_bytes(bytes: number): string {
  return bytes === 0 ? "0" : `${minus(String(Number((bytes / 1048576).toPrecision(4))))} MiB`;
}

export function exact_bytes(bytes: number): string {
  return `${minus(whole.format(bytes))} bytes`;
}

function minus(text: string): string {
  return text.replace("-", "−");
}

/** As the terminal prints it: 1.5 us, 12.0 ms, 3.1 s, 2 min 05 s, 3 h 07 min. */
export function seconds(value: number): string {
  const size = Math.abs(value);
  if (size < 0.99995e-6 && value !== 0) return `${minus(fixed(value * 1e9, 1))} ns`;
  if (size < 0.9995e-4 && value !== 0) return `${minus(fixed(value * 1e6, 1))} us`;
  if (size < 0.99995) return `${minus(fixed(value * 1000, 1))} ms`;
  if (size < 119.95) return `${minus(fixed(value, 1))} s`;
  const all = Math.round(value);
  const two = (number: number): string => String(number).padStart(2, "0");
  return all < 7200 ? `${Math.floor(all / 60)} min ${two(all % 60)} s` : `${Math.floor(all / 3600)} h ${two(Math.floor((all % 3600) / 60))} min`;
}

export type Unit = "bytes" | "bytes_per_round" | "bytes_per_minute" | "seconds" | "ratio" | "count";

export function unit_of(metric: string): Unit | null {
  const units = ["bytes_per_round", "bytes_per_minute", "bytes", "seconds", "ratio", "count"] as const;
  return units.find((unit) => metric.endsWith(`_${unit}`)) ?? null;
}

/** A metric's value in the unit that its name ends with. */
export function metric_value(metric: string, value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  switch (unit_of(metric)) {
    case "bytes":
      return bytes_text(value);
    case "bytes_per_round":
      return `${bytes_text(value)}/round`;
    case "bytes_per_minute":
      return `${bytes_text(value)}/min`;
    case "seconds":
      return seconds(value);
    case "count":
      return minus(fixed(value, 0));
    case "ratio":
    case null:
      return minus(String(Number(precise(value, 4))));
  }
}

/** For a title attribute: nothing rounded. */
export function metric_exact(metric: string, value: number | null | undefined): string {
  if (value === null || value === undefined) return "not measured";
  const unit = unit_of(metric);
  return unit?.startsWith("bytes") ? exact_bytes(value) : minus(String(value));
}

export function count_text(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}
