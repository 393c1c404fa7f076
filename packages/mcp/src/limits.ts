export type { PrincipalQuota, Quota, QuotaOptions, Quotas, Rate, ToolRate } from "./server/limits/quota-options.js";
export { quotas } from "./server/limits/quotas.js";
