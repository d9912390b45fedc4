import { requireVersion } from '@muster/driver';
import { organizationsRegistry } from '@muster/organizations-registry';
import { handle } from '@muster/runtime';
import { toOrgEventSubject, lockOrg, orgs, updateOrg, toOrg } from '../../data/orgs.ts';

export const update = handle(
  organizationsRegistry.orgs.update,
  async ({ params, db, access, emit, claimSlug, refuse }) => {
    const { expectedVersion, ...wanted } = params;
    const [org, { at }] = await Promise.all([lockOrg(db), access()]);
    requireVersion(org, expectedVersion);
    const { changed, fields } = orgs.changed(org, wanted, at);
    if (fields.includes('slug') && !(await claimSlug({ wanted: changed.slug, has: org.slug })))
      throw refuse('already_exists');
    if (fields.length > 0) {
      db.deferToCommit(updateOrg(changed));
      emit('org.updated', toOrgEventSubject(changed), { fields });
    }
    return { org: toOrg(changed) };
  },
);
