import { z } from 'zod';
import {
  platformAccess,
  operation,
  pageParams,
  pageSchemaOf,
  SearchText,
  PlatformAccount,
  PlatformMetrics,
  PlatformOrg,
  PlatformSubscription,
  PlatformTeam,
} from '@muster/contract';

const platformListParams = z.strictObject({ query: SearchText.optional(), ...pageParams });
/** A sentence about short pages of search results, shared by several descriptions. */
const shortPagesNote =
  'A search examines 5,000 records per page, so a page may have few or no items and still a nextCursor.';

export const admin = {
  platform: {
    accounts: operation({
      name: 'admin.platform.accounts',
      effect: 'read',
      summary: 'List everyone on the installation',
      keywords: 'users people persons all organizations operator',
      description: `One item per e-mail address, sorted by address, with every organization of that person. query matches part of the address or the name. ${shortPagesNote}`,
      access: platformAccess(),
      params: platformListParams,
      result: pageSchemaOf(PlatformAccount),
      example: { query: 'ana' },
    }),
    orgs: operation({
      name: 'admin.platform.orgs',
      effect: 'read',
      summary: 'List the organizations of the installation',
      keywords: 'tenants customers companies all operator',
      description: `Sorted by slug, including deleted organizations that are not purged yet. query matches part of the slug or the name. ${shortPagesNote}`,
      access: platformAccess(),
      params: platformListParams,
      result: pageSchemaOf(PlatformOrg),
      example: {},
    }),
    teams: operation({
      name: 'admin.platform.teams',
      effect: 'read',
      summary: 'List the teams of all organizations',
      keywords: 'squads all operator tenants',
      description: `Sorted by name. query matches part of the team's name, or of its organization's slug or name. ${shortPagesNote}`,
      access: platformAccess(),
      params: platformListParams,
      result: pageSchemaOf(PlatformTeam),
      example: {},
    }),
    subscriptions: operation({
      name: 'admin.platform.subscriptions',
      effect: 'read',
      summary: 'List the subscriptions of the organizations',
      keywords: 'plans customers billing operator revenue',
      description: `Sorted by the organization's slug. query matches part of the slug or the name. ${shortPagesNote}`,
      access: platformAccess(),
      params: platformListParams,
      result: pageSchemaOf(PlatformSubscription),
      example: {},
    }),
    metrics: operation({
      name: 'admin.platform.metrics',
      effect: 'read',
      summary: 'Show statistics of the installation',
      keywords: 'statistics health queues dashboard',
      description:
        'Organizations are counted exactly. For very large tables the numbers are estimates by the database, and the field estimated lists those tables. The queues are those of the outbox: the jobs that follow from writes, by kind.',
      access: platformAccess(),
      params: z.strictObject({}),
      result: z.object({ metrics: PlatformMetrics }),
      example: {},
    }),
  },
};
