import { organizationsRegistry } from '@muster/organizations-registry';
import { handle } from '@muster/runtime';
import { toOrgEventSubject, lockOrg, markOrgDeleted } from '../../data/orgs.ts';

/** The number of days for which the data of a deleted organization is kept. */
const deletedDataRetentionDays = 30;

const addDays = (time: string, days: number): string =>
  new Date(Date.parse(time) + days * 24 * 60 * 60 * 1_000).toISOString();

// `delete` is a reserved word.
export const deleteOperation = handle(
  organizationsRegistry.orgs.delete,
  async ({ params, db, access, emit, refuse }) => {
    const [org, { at }] = await Promise.all([lockOrg(db), access()]);
    if (params.confirmSlug !== org.slug) throw refuse('confirmation_mismatch');
    const purgeAfter = addDays(at, deletedDataRetentionDays);
    db.deferToCommit(markOrgDeleted(at));
    emit('org.deleted', toOrgEventSubject(org), { purgeAfter });
    return { deleted: true as const, purgeAfter };
  },
);
