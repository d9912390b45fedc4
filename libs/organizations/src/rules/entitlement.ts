/** What each plan allows. The numbers of a plan are stated here and nowhere else. */
import { type Entitlement, type Plan } from '@muster/registry';

export interface PlanLimits {
  /** The most seats that can be bought; how many are free to give is what was bought. */
  readonly seats: number | null;
  readonly projects: number | null;
  readonly agentsInCatalog: number | null;
  readonly auditRetentionDays: number | null;
}

const limits: Record<Plan, PlanLimits> = {
  free: { seats: 5, projects: 5, agentsInCatalog: 10, auditRetentionDays: 90 },
  team: { seats: 250, projects: 500, agentsInCatalog: 500, auditRetentionDays: 365 },
  enterprise: { seats: null, projects: null, agentsInCatalog: null, auditRetentionDays: null },
};

/** The limits of a plan; null is none. */
export const planLimits = (plan: Plan): PlanLimits => limits[plan];

/** What a plan brings, each as a yes or no for a client to show; it follows from the limits. */
export const planFeatures = (plan: Plan): Entitlement['features'] => ({
  agents: true,
  privateProjects: true,
  teams: true,
  audit: true,
  fullYearOfAudit: (limits[plan].auditRetentionDays ?? Infinity) >= 365,
  unlimitedProjects: limits[plan].projects === null,
});

/** How many seats an organization starts with unless a number is given. */
export const startingSeats: Record<Plan, number> = { free: 5, team: 25, enterprise: 250 };
