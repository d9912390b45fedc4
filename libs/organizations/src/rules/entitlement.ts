/** The limits of each plan. They are defined here and nowhere else. */
import { type Entitlement, type Plan } from '@muster/contract';

export interface PlanLimits {
  /**
   * The maximum number of seats that can be purchased. An organization can use as many seats as it has
   * purchased.
   */
  readonly seats: number | null;
  readonly projects: number | null;
  readonly agentsInCatalog: number | null;
  readonly auditRetentionDays: number | null;
}

const limitsByPlan: Record<Plan, PlanLimits> = {
  free: { seats: 5, projects: 5, agentsInCatalog: 10, auditRetentionDays: 90 },
  team: { seats: 250, projects: 500, agentsInCatalog: 500, auditRetentionDays: 365 },
  enterprise: { seats: null, projects: null, agentsInCatalog: null, auditRetentionDays: null },
};

/** Returns the limits of a plan. Null means no limit. */
export const planLimits = (plan: Plan): PlanLimits => limitsByPlan[plan];

/** Returns the features of a plan as booleans for clients to display. They are derived from the limits. */
export const planFeatures = (plan: Plan): Entitlement['features'] => ({
  agents: true,
  privateProjects: true,
  teams: true,
  audit: true,
  fullYearOfAudit: (limitsByPlan[plan].auditRetentionDays ?? Infinity) >= 365,
  unlimitedProjects: limitsByPlan[plan].projects === null,
});

/** The default number of seats of a new organization. */
export const defaultSeatsByPlan: Record<Plan, number> = { free: 5, team: 25, enterprise: 250 };
