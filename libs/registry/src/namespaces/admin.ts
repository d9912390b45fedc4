import { z } from 'zod';
import { platform } from '../kernel/access.ts';
import { operation } from '../kernel/operation.ts';
import { page, pageOf } from '../kernel/pagination.ts';
import { SearchText } from '../kernel/values.ts';
import {
  PlatformAccount,
  PlatformMetrics,
  PlatformOrg,
  PlatformSubscription,
  PlatformTeam,
} from '../records/platform.ts';

const list = z.strictObject({ query: SearchText.optional(), ...page });
/** A sentence about short pages of search results, shared by several descriptions. */
const shortPages = `A search looks at 5,000 of them per page, so that a page can have few items, or none, and a next one.`;

export const admin = {
  platform: {
    accounts: operation({
      name: 'admin.platform.accounts',
      effect: 'read',
      summary: 'List everybody on the installation',
      keywords: 'users people persons all organizations operator',
      description: `One item per e-mail address, in that order, with every organization that the person is in; query is part of the address or the name. ${shortPages}`,
      access: platform(),
      params: list,
      result: pageOf(PlatformAccount),
      example: { query: 'ana' },
    }),
    orgs: operation({
      name: 'admin.platform.orgs',
      effect: 'read',
      summary: 'List the organizations of the installation',
      keywords: 'tenants customers companies all operator',
      description: `By slug, deleted ones that are not purged yet among them; query is part of the slug or the name. ${shortPages}`,
      access: platform(),
      params: list,
      result: pageOf(PlatformOrg),
      example: {},
    }),
    teams: operation({
      name: 'admin.platform.teams',
      effect: 'read',
      summary: 'List the teams of all organizations',
      keywords: 'squads all operator tenants',
      description: `By name; query is part of the team's name, or of its organization's slug or name. ${shortPages}`,
      access: platform(),
      params: list,
      result: pageOf(PlatformTeam),
      example: {},
    }),
    subscriptions: operation({
      name: 'admin.platform.subscriptions',
      effect: 'read',
      summary: 'List what the organizations subscribe to',
      keywords: 'plans customers billing operator revenue',
      description: `By the organization's slug; query is part of the slug or the name. ${shortPages}`,
      access: platform(),
      params: list,
      result: pageOf(PlatformSubscription),
      example: {},
    }),
    metrics: operation({
      name: 'admin.platform.metrics',
      effect: 'read',
      summary: 'Show the installation in numbers',
      keywords: 'statistics health queues dashboard',
      description: `Organizations are counted; of very large tables the database's own estimate has to do, and estimated names them. Queues are those of the outbox: what follows from writes, by its kind.`,
      access: platform(),
      params: z.strictObject({}),
      result: z.object({ metrics: PlatformMetrics }),
      example: {},
    }),
  },
};
