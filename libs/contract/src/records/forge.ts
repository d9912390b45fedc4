/** Forges: connections to them, their linked repositories, and the deliveries that they sent. */
import { z } from 'zod';
import { Id, nameText, RepositoryUrl, recordStamps, boundedText, Time } from '../kernel/values.ts';
import { ObservationKind } from './execution.ts';
import { Trust } from './merge-proof.ts';

export const forgeKinds = ['github', 'gitlab', 'gitea', 'forgejo'] as const;
export const ForgeKind = z.enum(forgeKinds);
export type ForgeKind = z.infer<typeof ForgeKind>;

/** The display names of forges. They are also the names of the actors of forge events. */
export const forgeNames: Readonly<Record<ForgeKind, string>> = {
  github: 'GitHub',
  gitlab: 'GitLab',
  gitea: 'Gitea',
  forgejo: 'Forgejo',
};

const apiRootPaths: Readonly<Record<ForgeKind, string>> = {
  github: '/api/v3',
  gitlab: '/api/v4',
  gitea: '/api/v1',
  forgejo: '/api/v1',
};

/** Returns true if GitHub operates the host: github.com, or a customer's own subdomain of ghe.com. */
export const isGitHubHost = (host: string): boolean => host === 'github.com' || host.endsWith('.ghe.com');

/**
 * Returns the root of a forge's API, without a slash at the end. Hosts that GitHub operates have a separate
 * host for the API.
 */
export const forgeApiRoot = (kind: ForgeKind, baseUrl: string): string => {
  const { host } = new URL(baseUrl);
  return kind === 'github' && isGitHubHost(host) ? `https://api.${host}` : `${baseUrl}${apiRootPaths[kind]}`;
};

/** The default address of each kind of forge; null if each organization runs its own server. */
export const forgeHomeUrls: Readonly<Record<ForgeKind, string | null>> = {
  github: 'https://github.com',
  gitlab: 'https://gitlab.com',
  gitea: null,
  forgejo: null,
};

export const ForgeName = nameText(100);

/** The credentials for calls to a forge: a token, or a GitHub App with its id and private key. */
export const ForgeCredentials = z
  .strictObject({
    token: boundedText(1_000, 1).optional(),
    appId: z.int().min(1).max(Number.MAX_SAFE_INTEGER).optional(),
    privateKey: boundedText(8_192, 1).optional().describe('As PEM'),
  })
  .refine(
    ({ token, appId, privateKey }) =>
      token === undefined
        ? appId !== undefined && privateKey !== undefined
        : appId === undefined && privateKey === undefined,
    { error: 'must be a token, or appId and privateKey together' },
  );
export type ForgeCredentials = z.infer<typeof ForgeCredentials>;

/** A failed action of a forge connection; `doing` names the action. */
export const ForgeFailure = z.object({
  at: Time,
  doing: z.enum(['receive', 'sendStatus', 'reconcile', 'makeApp']),
  message: z.string(),
});
export type ForgeFailure = z.infer<typeof ForgeFailure>;

export const ForgeConnection = z
  .object({
    id: Id,
    kind: ForgeKind,
    name: z.string(),
    baseUrl: z.string(),
    credentialsKind: z.enum(['token', 'app']).nullable().describe('null if it has no credentials'),
    appUrl: z.string().nullable().describe('Of the GitHub App that was created from manifestUrl'),
    lastDeliveryAt: Time.nullable(),
    lastStatusAt: Time.nullable(),
    state: z.enum(['active', 'failing']).describe('failing: lastError has the reason'),
    lastError: ForgeFailure.nullable().describe('null if the last call succeeded'),
    ...recordStamps,
  })
  .meta({ id: 'ForgeConnection' });
export type ForgeConnection = z.infer<typeof ForgeConnection>;

/** The values to enter in the settings of the forge. */
export const ForgeSetup = z
  .object({
    webhookUrl: z.string(),
    secret: z.string().describe('The secret that signs deliveries; shown only in this response'),
    manifestUrl: z
      .string()
      .nullable()
      .describe(
        'A page that creates a GitHub App with all settings; valid for an hour. null for other forges, or if there are credentials',
      ),
  })
  .meta({ id: 'ForgeSetup' });
export type ForgeSetup = z.infer<typeof ForgeSetup>;

export const ForgeRepository = z
  .object({
    id: Id,
    connectionId: Id,
    projectId: Id,
    externalId: z
      .string()
      .nullable()
      .describe("The repository's id at the forge; null until a delivery names it"),
    url: z.string().nullable(),
    fullName: z.string().nullable(),
    defaultBranch: z.string().nullable(),
    ...recordStamps,
  })
  .meta({ id: 'ForgeRepository' });
export type ForgeRepository = z.infer<typeof ForgeRepository>;

/** The parameters that name a repository. Callers give one of the two. */
export const repositoryParams = {
  externalId: boundedText(100, 1).optional().meta({ description: 'The id of the delivery at the forge' }),
  url: RepositoryUrl.optional(),
};

export const forgeDeliveryStates = ['received', 'recorded', 'parked', 'ignored', 'failed'] as const;
export const ForgeDeliveryState = z.enum(forgeDeliveryStates);
export type ForgeDeliveryState = z.infer<typeof ForgeDeliveryState>;

/** The result of processing one fact of a forge delivery. */
export const ForgeOutcome = z.object({
  kind: z.union([ObservationKind, z.literal('check')]).nullable(),
  executionId: Id.nullable(),
  result: z.enum(['recorded', 'repeated', 'linked', 'parked', 'noted', 'ignored']),
  reason: z.string().nullable().describe('Why nothing was recorded, in words'),
});
export type ForgeOutcome = z.infer<typeof ForgeOutcome>;

export const ForgeDelivery = z
  .object({
    id: Id,
    connectionId: Id,
    deliveryId: z.string().describe('The event name at the forge'),
    event: z.string(),
    trust: Trust,
    state: ForgeDeliveryState,
    outcome: z.array(ForgeOutcome),
    receivedAt: Time,
    doneAt: Time.nullable(),
  })
  .meta({ id: 'ForgeDelivery' });
export type ForgeDelivery = z.infer<typeof ForgeDelivery>;
