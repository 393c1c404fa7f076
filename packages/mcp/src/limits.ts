export type { PrincipalQuota, Quota, QuotaOptions, Quotas, Rate, ToolRate } from "./server/contract/quota-options.js";
export { quotas } from "./server/limits/quotas.js";
