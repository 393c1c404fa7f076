export type { Finding, RuleInfo, Severity } from "./lint/lint-rule.js";
export { LINT_RULES, type LintOptions, lintTools } from "./lint/lint-tools.js";
