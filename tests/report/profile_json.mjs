// All that memduel reads from a profile, see tests/programs/profile_json.cpp.
import { execFileSync } from "node:child_process";
import { join } from "node:path";

const program = join(process.env.MEMDUEL_PROGRAM, "../../tests/memduel-profile-json");

export const profile_json = (file) => JSON.parse(execFileSync(program, [file], { encoding: "utf8", maxBuffer: 1 << 28 }));
