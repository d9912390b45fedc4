import { z } from 'zod';
import {
  org,
  project,
  surfacesWithoutTool,
  operation,
  pageParams,
  pageSchemaOf,
  Deleted,
  ExpectedVersion,
  Id,
  ProjectRef,
  Url,
  ForgeConnection,
  ForgeCredentials,
  ForgeDelivery,
  ForgeDeliveryState,
  forgeHomeUrls,
  ForgeKind,
  ForgeName,
  ForgeRepository,
  ForgeSetup,
  repositoryParams,
} from '@muster/contract';

const connectionId = '01936d5c-0000-7000-8000-0000000000c0';

/**
 * The access rule of operations for admins. Agents may not call them, because they must not change the
 * records that prove their own work.
 */
const adminAccess = { access: org('admin'), byMemberOnly: true, surfaces: surfacesWithoutTool } as const;
const leadAccess = { access: project('lead'), byMemberOnly: true, surfaces: surfacesWithoutTool } as const;

const RepositoryToLink = z
  .strictObject({ projectId: ProjectRef, connectionId: Id, ...repositoryParams })
  .refine(({ externalId, url }) => (externalId === undefined) !== (url === undefined), {
    error: 'must be named by externalId or by url',
    path: ['url'],
  });

export const forges = {
  connect: operation({
    ...adminAccess,
    name: 'forges.connect',
    effect: 'write',
    summary: 'Connect a forge, so that Muster accepts its signed webhooks',
    keywords: 'github gitlab gitea forgejo webhook integration app repository',
    description:
      "Returns what to enter at the forge: the webhook's URL and, only this once, its secret. For GitHub without credentials it also returns manifestUrl, a page that creates a GitHub App with webhook, secret and credentials in two clicks. Then link repositories to projects with forges.repositories.link. Credentials are never returned. With them, Muster reports commit statuses, and polls the forge for missed deliveries. At most 50 connections per organization.",
    auditsRefusal: true,
    needsProof: true,
    params: z
      .strictObject({
        kind: ForgeKind,
        name: ForgeName.optional(),
        baseUrl: Url.optional().meta({ description: 'The URL of the forge; required if it is self-hosted' }),
        credentials: ForgeCredentials.optional(),
      })
      .refine(({ kind, baseUrl }) => baseUrl !== undefined || forgeHomeUrls[kind] !== null, {
        error: 'is required for a self-hosted forge',
        path: ['baseUrl'],
      })
      .refine(({ kind, credentials }) => kind === 'github' || credentials?.appId === undefined, {
        error: 'is supported only for GitHub',
        path: ['credentials', 'appId'],
      }),
    result: z.object({ connection: ForgeConnection, setup: ForgeSetup }),
    refusals: ['limit_exceeded'],
    emits: ['forge.connected'],
    secret: 'setup',
    example: { kind: 'github' },
  }),
  get: operation({
    ...adminAccess,
    name: 'forges.get',
    effect: 'read',
    summary: 'Get a connection to a forge, with its health',
    keywords: 'github gitlab status health error',
    description:
      'Shows when it last received and sent something, errors since then, and the kind of its credentials.',
    params: z.strictObject({ connectionId: Id }),
    result: z.object({ connection: ForgeConnection }),
    example: { connectionId },
  }),
  list: operation({
    ...adminAccess,
    name: 'forges.list',
    effect: 'read',
    summary: 'List the connections to forges',
    keywords: 'github gitlab integrations',
    description: `Oldest first.`,
    params: z.strictObject({ ...pageParams }),
    result: pageSchemaOf(ForgeConnection),
    example: {},
  }),
  update: operation({
    ...adminAccess,
    name: 'forges.update',
    effect: 'write',
    summary: 'Change a connection to a forge, or rotate its secret',
    keywords: 'rotate credentials token rename',
    description:
      'null removes the credentials. A new baseUrl without credentials removes them too, so that they are never sent to another address. After rotateSecret only the new secret is accepted; setup shows it once with a new manifestUrl, and is null otherwise.',
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
    ...adminAccess,
    name: 'forges.disconnect',
    effect: 'write',
    destructive: true,
    summary: 'Disconnect a forge',
    keywords: 'remove delete integration',
    description:
      'Its webhooks are no longer accepted, and nothing is sent to it. Data received so far stays.',
    auditsRefusal: true,
    params: z.strictObject({ connectionId: Id }),
    result: Deleted,
    emits: ['forge.disconnected'],
    example: { connectionId },
  }),
  repositories: {
    list: operation({
      ...leadAccess,
      name: 'forges.repositories.list',
      effect: 'read',
      summary: 'List the repositories linked to a project',
      keywords: 'linked github gitlab',
      description: 'Oldest first; optionally only those of one connection.',
      params: z.strictObject({ projectId: ProjectRef, connectionId: Id.optional(), ...pageParams }),
      result: pageSchemaOf(ForgeRepository),
      example: { projectId: 'WEB' },
    }),
    link: operation({
      ...leadAccess,
      name: 'forges.repositories.link',
      effect: 'write',
      idempotent: true,
      summary: 'Link a repository to a project',
      keywords: 'connect github gitlab repo',
      description:
        'From now on events that the forge signs for this repository count in the project. Linking it again returns the existing link.',
      params: RepositoryToLink,
      result: z.object({ repository: ForgeRepository }),
      refusals: ['limit_exceeded', 'archived'],
      emits: ['forge.repositoryLinked'],
      example: { projectId: 'WEB', connectionId, url: 'https://github.com/acme/api' },
    }),
    unlink: operation({
      ...leadAccess,
      name: 'forges.repositories.unlink',
      effect: 'write',
      summary: 'Unlink a repository from a project',
      keywords: 'disconnect remove github gitlab repo',
      description: 'Data received so far stays.',
      params: RepositoryToLink,
      result: Deleted,
      refusals: ['archived'],
      emits: ['forge.repositoryUnlinked'],
      example: { projectId: 'WEB', connectionId, url: 'https://github.com/acme/web' },
    }),
  },
  deliveries: {
    list: operation({
      ...adminAccess,
      name: 'forges.deliveries.list',
      effect: 'read',
      summary: 'List webhook deliveries from a forge, with their results',
      keywords: 'webhook log history received ignored',
      description:
        'Newest first, for 14 days. For each fact, outcome says on which execution it was recorded, or why it was not.',
      params: z.strictObject({ connectionId: Id, state: ForgeDeliveryState.optional(), ...pageParams }),
      result: pageSchemaOf(ForgeDelivery),
      example: { connectionId },
    }),
    redeliver: operation({
      ...adminAccess,
      name: 'forges.deliveries.redeliver',
      effect: 'write',
      summary: 'Process a webhook delivery again',
      keywords: 'retry webhook replay',
      description:
        'Useful for deliveries that failed, or were ignored because their repository was not linked. Facts already recorded do not change.',
      params: z.strictObject({ deliveryId: Id }),
      result: z.object({ delivery: ForgeDelivery }),
      example: { deliveryId: '01936d5c-0000-7000-8000-0000000000c2' },
    }),
  },
};
