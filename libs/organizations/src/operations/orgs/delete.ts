import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { aboutOrg, lockOrg, markOrgDeleted } from '../../data/orgs.ts';

/** The number of days for which the data of a deleted organization is kept. */
const keptDays = 30;

const daysAfter = (at: string, days: number): string =>
  new Date(Date.parse(at) + days * 24 * 60 * 60 * 1_000).toISOString();

// `delete` is a reserved word.
export const deleteOperation = handle(registry.orgs.delete, async ({ params, db, access, emit, refuse }) => {
  const [org, { at }] = await Promise.all([lockOrg(db), access()]);
  if (params.confirmSlug !== org.slug) throw refuse('confirmation_mismatch');
  const purgeAfter = daysAfter(at, keptDays);
  db.later(markOrgDeleted(at));
  emit('org.deleted', aboutOrg(org), { purgeAfter });
  return { deleted: true as const, purgeAfter };
});
