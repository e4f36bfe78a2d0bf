// The report as reports/model_json.cpp writes it.

import { packed_response } from "./packed";
import type * as types from "report-types";

export type * from "report-types";
export type Verdict = types.Comparison["verdict"];
export type Outcome = types.GateResult["outcome"];
export type Metrics = Record<string, number>;
export type Span = Omit<types.PhaseSpan, "phase">;

export interface Results extends types.ResultLists {
  schema: string;
  experiment: { name: string; baseline: string; config_sha256: string };
}

export interface ReportModel extends types.ReportLists, types.ReportExtras {
  schema: string;
  config: unknown;
  results: Results;
}

export async function load_model(): Promise<ReportModel> {
  return (await packed_response("memduel-data").json()) as ReportModel;
}
