import { registry } from '@muster/registry';
import { changedFields, cleared, handle } from '@muster/runtime';
import { aboutOrg, lockOrg, setOrg, toOrg } from '../../data/orgs.ts';

export const update = handle(registry.orgs.update, async ({ params, db, access, emit, refuse }) => {
  const { expectedVersion, ...given } = params;
  const wanted = { ...given, description: cleared(given.description, '') };
  const [org, { at }] = await Promise.all([lockOrg(db), access()]);
  if (expectedVersion !== undefined && expectedVersion !== org.version) {
    throw refuse('version_mismatch', { currentVersion: org.version });
  }
  const { slug, name, description } = org;
  const fields = changedFields({ slug, name, description }, wanted);
  if (fields.length === 0) return { org: toOrg(org) };

  const changed = {
    ...org,
    slug: wanted.slug ?? slug,
    name: wanted.name ?? name,
    description: wanted.description ?? description,
    updated_at: at,
    version: org.version + 1,
  };
  db.later(setOrg(changed));
  emit('org.updated', aboutOrg(changed), { fields });
  return { org: toOrg(changed) };
});
