/** Whose an agent of the catalog is to publish and to delete. */
import { type OrgRole, orgRank } from '@muster/registry';
import { type Caller, forbidden } from '@muster/runtime';
import { type CatalogHead } from '../../../data/catalog.ts';

/** 403 to all but its first publisher and admins. */
export function requirePublisher({ publisherId }: CatalogHead, caller: Caller, orgRole: OrgRole): void {
  if (publisherId === caller.memberId || orgRank(orgRole) >= orgRank('admin')) return;
  throw forbidden('not_publisher', 'Another member published this agent; an admin may, too.');
}
