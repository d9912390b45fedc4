import { z } from 'zod';
import { org, project } from '../kernel/access.ts';
import { notAsTool, operation } from '../kernel/operation.ts';
import { page, pageOf } from '../kernel/pagination.ts';
import { Deleted, ExpectedVersion, Id, ProjectRef, Url } from '../kernel/values.ts';
import {
  ForgeConnection,
  ForgeCredentials,
  ForgeDelivery,
  ForgeDeliveryState,
  forgeHomes,
  ForgeKind,
  ForgeName,
  ForgeRepository,
  ForgeSetup,
  repositoryParams,
} from '../records/forge.ts';

const connectionId = '01936d5c-0000-7000-8000-0000000000c0';

/**
 * The access rule of operations for admins. Agents may not call them, because they must not change the
 * records that prove their own work.
 */
const byAdmins = { access: org('admin'), byMemberOnly: true, surfaces: notAsTool } as const;
const byLeads = { access: project('lead'), byMemberOnly: true, surfaces: notAsTool } as const;

const repository = z
  .strictObject({ projectId: ProjectRef, connectionId: Id, ...repositoryParams })
  .refine(({ externalId, url }) => (externalId === undefined) !== (url === undefined), {
    error: 'must be named by externalId or by url',
    path: ['url'],
  });

export const forges = {
  connect: operation({
    ...byAdmins,
    name: 'forges.connect',
    effect: 'write',
    summary: 'Connect a forge, so that what it signs is known as its own',
    keywords: 'github gitlab gitea forgejo webhook integration app repository',
    description: `Answers what to enter at the forge: the address of its webhook, and the secret, once. Of GitHub without credentials it also answers manifestUrl, a page where two clicks make a GitHub App that has webhook, secret and credentials. Then forges.repositories.link says whose work a repository has. Credentials are written and never read; with them the forge is told what is missing at each head, and asked what it did not deliver. At most 50 in an organization.`,
    auditsRefusal: true,
    needsProof: true,
    params: z
      .strictObject({
        kind: ForgeKind,
        name: ForgeName.optional(),
        baseUrl: Url.optional().meta({ description: 'Where it is; needed where people run their own' }),
        credentials: ForgeCredentials.optional(),
      })
      .refine(({ kind, baseUrl }) => baseUrl !== undefined || forgeHomes[kind] !== null, {
        error: 'must be said of a forge that people run themselves',
        path: ['baseUrl'],
      })
      .refine(({ kind, credentials }) => kind === 'github' || credentials?.appId === undefined, {
        error: 'only GitHub has apps',
        path: ['credentials', 'appId'],
      }),
    result: z.object({ connection: ForgeConnection, setup: ForgeSetup }),
    refusals: ['limit_exceeded'],
    emits: ['forge.connected'],
    secret: 'setup',
    example: { kind: 'github' },
  }),
  get: operation({
    ...byAdmins,
    name: 'forges.get',
    effect: 'read',
    summary: 'Get a connection to a forge, with how it fares',
    keywords: 'github gitlab status health error',
    description: `When it was last heard of and told something, what went wrong since, and which credentials it has.`,
    params: z.strictObject({ connectionId: Id }),
    result: z.object({ connection: ForgeConnection }),
    example: { connectionId },
  }),
  list: operation({
    ...byAdmins,
    name: 'forges.list',
    effect: 'read',
    summary: 'List the connections to forges',
    keywords: 'github gitlab integrations',
    description: `Oldest first.`,
    params: z.strictObject({ ...page }),
    result: pageOf(ForgeConnection),
    example: {},
  }),
  update: operation({
    ...byAdmins,
    name: 'forges.update',
    effect: 'write',
    summary: 'Change a connection to a forge, or give it another secret',
    keywords: 'rotate credentials token rename',
    description: `null takes the credentials away, and so does another baseUrl without credentials: they are not sent to another address. After rotateSecret only what is signed with the new secret is taken; setup has it, once, and another manifestUrl, and is null otherwise.`,
    auditsRefusal: true,
    needsProof: true,
    params: z.strictObject({
      connectionId: Id,
      name: ForgeName.optional(),
      baseUrl: Url.optional(),
      credentials: ForgeCredentials.nullable().optional(),
      rotateSecret: z.boolean().default(false),
      expectedVersion: ExpectedVersion,
    }),
    result: z.object({ connection: ForgeConnection, setup: ForgeSetup.nullable() }),
    refusals: ['version_mismatch'],
    emits: ['forge.updated'],
    secret: 'setup',
    example: { connectionId, name: 'Our GitHub' },
  }),
  disconnect: operation({
    ...byAdmins,
    name: 'forges.disconnect',
    effect: 'write',
    destructive: true,
    summary: 'Disconnect a forge',
    keywords: 'remove delete integration',
    description: `Nothing of it is taken from now on, and nothing is sent to it. What it told of stays.`,
    auditsRefusal: true,
    params: z.strictObject({ connectionId: Id }),
    result: Deleted,
    emits: ['forge.disconnected'],
    example: { connectionId },
  }),
  repositories: {
    list: operation({
      ...byLeads,
      name: 'forges.repositories.list',
      effect: 'read',
      summary: 'List the repositories whose work a project has',
      keywords: 'linked github gitlab',
      description: `Oldest first; of one connection where it is named.`,
      params: z.strictObject({ projectId: ProjectRef, connectionId: Id.optional(), ...page }),
      result: pageOf(ForgeRepository),
      example: { projectId: 'WEB' },
    }),
    link: operation({
      ...byLeads,
      name: 'forges.repositories.link',
      effect: 'write',
      idempotent: true,
      summary: 'Say that a repository has the work of a project',
      keywords: 'connect github gitlab repo',
      description: `From now on what the forge signs of it counts in the project; what it signs of other repositories changes nothing. One that is linked already is answered again.`,
      params: repository,
      result: z.object({ repository: ForgeRepository }),
      refusals: ['limit_exceeded', 'archived'],
      emits: ['forge.repositoryLinked'],
      example: { projectId: 'WEB', connectionId, url: 'https://github.com/acme/api' },
    }),
    unlink: operation({
      ...byLeads,
      name: 'forges.repositories.unlink',
      effect: 'write',
      summary: 'Take the work of a repository out of a project',
      keywords: 'disconnect remove github gitlab repo',
      description: `What the forge told of it so far stays.`,
      params: repository,
      result: Deleted,
      refusals: ['archived'],
      emits: ['forge.repositoryUnlinked'],
      example: { projectId: 'WEB', connectionId, url: 'https://github.com/acme/web' },
    }),
  },
  deliveries: {
    list: operation({
      ...byAdmins,
      name: 'forges.deliveries.list',
      effect: 'read',
      summary: 'List what a forge delivered, and what became of it',
      keywords: 'webhook log history received ignored',
      description: `Newest first, for 14 days. outcome says of each fact which execution it was recorded of, or why none.`,
      params: z.strictObject({ connectionId: Id, state: ForgeDeliveryState.optional(), ...page }),
      result: pageOf(ForgeDelivery),
      example: { connectionId },
    }),
    redeliver: operation({
      ...byAdmins,
      name: 'forges.deliveries.redeliver',
      effect: 'write',
      summary: 'Read a delivery again, as if it came now',
      keywords: 'retry webhook replay',
      description: `For what was ignored or failed before its repository was linked, say. Facts that are recorded already stay as they are.`,
      params: z.strictObject({ deliveryId: Id }),
      result: z.object({ delivery: ForgeDelivery }),
      example: { deliveryId: '01936d5c-0000-7000-8000-0000000000c2' },
    }),
  },
};
