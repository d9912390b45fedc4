import { deliveryRegistry } from '@muster/delivery-registry';
import { handle } from '@muster/runtime';
import { findVersion, toCatalogAgent } from '../../../data/catalog.ts';
import { sortNewestFirst } from '../../../rules/catalog-versions.ts';
import { resolveVersion } from './wanted-version.ts';

export const get = handle(deliveryRegistry.agents.catalog.get, async ({ params, db }) => {
  const { row, versions } = await resolveVersion(db, params, findVersion);
  return { agent: toCatalogAgent(row), versions: sortNewestFirst(versions) };
});
