// The report as reports/model_json.cpp writes it.

import { packed_response } from "./packed";
import type * as types from "report-types";

export type * from "report-types";
export type Text = types.TextRun[];
export type Part = types.Section["parts"][number];
export type PartOf<Kind extends Part["kind"]> = Extract<Part, { kind: Kind }>;
export type Metrics = Record<string, number>;
export type Span = Omit<types.PhaseSpan, "phase">;

export interface Results extends types.ResultLists {
  schema: string;
  experiment: { name: string; baseline: string; config_sha256: string };
}

export interface ReportModel extends types.PageData {
  schema: string;
  config: unknown;
  results: Results;
}

export async function load_model(): Promise<ReportModel> {
  return (await packed_response("memduel-data").json()) as ReportModel;
}
