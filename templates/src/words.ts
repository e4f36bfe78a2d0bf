// Words that stand in more than one section.

export const FUNCTION_AND_CALLERS = "function, and who calls it";
export const OF_A_PROFILE_TRIAL = "Profile trial, not part of the verdict.";
