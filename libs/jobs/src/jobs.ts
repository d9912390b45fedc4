/** The list of all jobs. */
import { z } from 'zod';
import { type Job, perBatch, perOrganization, perRow, scheduled } from './job.ts';

const Empty = z.strictObject({});
/** A commit of a repository, with the ids that the forge of a connection uses. */
const ForgeHead = z.strictObject({
  connectionId: z.uuid(),
  externalId: z.string().min(1).max(100),
  sha: z.string().min(1).max(255),
});

export const jobs = {
  event: perOrganization({
    summary: 'Process new activity of an organization: notifications, points and other derived data',
    queue: 'sync',
    payload: z.strictObject({ activitySeq: z.int().positive(), kind: z.string() }),
    timeoutSeconds: 30,
  }),
  'gamification.sync': perOrganization({
    summary: 'Count the activity of an organization into points on request',
    queue: 'sync',
    payload: Empty,
    timeoutSeconds: 30,
  }),
  'invitation.mail': perRow({
    summary: 'Send an invitation by e-mail, with a new link',
    queue: 'deliver',
    payload: z.strictObject({ invitationId: z.uuid() }),
    timeoutSeconds: 30,
  }),
  'notification.deliver': perBatch({
    summary: 'Choose the channels of a notification, and enqueue a delivery for each',
    queue: 'deliver',
    payload: z.strictObject({ notificationId: z.uuid() }),
    timeoutSeconds: 15,
  }),
  'notification.mail': perRow({
    summary: 'Send a notification by e-mail',
    queue: 'deliver',
    payload: z.strictObject({ notificationId: z.uuid() }),
    timeoutSeconds: 30,
  }),
  'notification.push': perRow({
    summary: 'Push a notification to one device',
    queue: 'deliver',
    // The device is the SHA-256 of its push token, which is a secret.
    payload: z.strictObject({ notificationId: z.uuid(), device: z.hex().length(64) }),
    timeoutSeconds: 30,
  }),
  'token.mail': perRow({
    summary: 'Notify a member by e-mail that a token of theirs expires soon',
    queue: 'deliver',
    payload: z.strictObject({ tokenId: z.uuid() }),
    timeoutSeconds: 30,
  }),
  'passkey.mail': perRow({
    summary: 'Notify a person by e-mail that a passkey of theirs was added or removed',
    queue: 'deliver',
    payload: z.strictObject({ memberId: z.uuid(), name: z.string() }),
    timeoutSeconds: 30,
  }),
  'identityProvider.check': perRow({
    summary: 'Read the metadata of an identity provider, and check the DNS records of its domains',
    queue: 'deliver',
    payload: z.strictObject({ providerId: z.uuid() }),
    timeoutSeconds: 30,
  }),
  'domain.mail': perRow({
    summary: 'Notify an admin by e-mail that the DNS record of a domain is missing',
    queue: 'deliver',
    payload: z.strictObject({ memberId: z.uuid(), providerId: z.uuid(), domain: z.string() }),
    timeoutSeconds: 30,
  }),
  'identityProviders.check': scheduled({
    summary: 'Enqueue a check of each identity provider that has a domain',
    queue: 'upkeep',
    timeoutSeconds: 300,
  }),
  'tokens.warn': scheduled({
    summary: 'Find tokens that expire within a week, and enqueue one e-mail for each',
    queue: 'upkeep',
    timeoutSeconds: 300,
  }),
  'forge.translate': perRow({
    summary: 'Process a webhook delivery from a forge, and record its facts',
    queue: 'sync',
    payload: z.strictObject({ deliveryId: z.uuid() }),
    timeoutSeconds: 30,
  }),
  'forge.replay': perRow({
    summary: 'Record facts from a forge that arrived before their execution was known',
    queue: 'sync',
    payload: z.strictObject({ executionId: z.uuid() }),
    timeoutSeconds: 30,
  }),
  'forge.status': perRow({
    summary: 'Send the commit status of the work at the head of a pull request to its forge',
    queue: 'deliver',
    payload: ForgeHead,
    timeoutSeconds: 30,
  }),
  'forge.statuses': perOrganization({
    summary: 'Enqueue commit statuses for heads whose last sent status is outdated',
    queue: 'sync',
    payload: Empty,
    timeoutSeconds: 30,
  }),
  'forge.ask': perRow({
    summary: 'Poll a forge for a pull request without recent news, or for the id of a repository',
    queue: 'deliver',
    payload: z.union([z.strictObject({ executionId: z.uuid() }), z.strictObject({ repositoryId: z.uuid() })]),
    timeoutSeconds: 30,
  }),
  'forge.app': perRow({
    summary: 'Fetch the GitHub App that GitHub created from the manifest',
    queue: 'deliver',
    // The code from GitHub is encrypted in the payload.
    payload: z.strictObject({ connectionId: z.uuid(), code: z.string().min(1).max(1_000) }),
    timeoutSeconds: 30,
  }),
  'forge.reconcile': scheduled({
    summary: 'Find open pull requests without recent news, and enqueue a poll of each',
    queue: 'upkeep',
    timeoutSeconds: 300,
  }),
  'retention.purge': scheduled({
    summary: 'Delete rows that are past their retention time',
    queue: 'upkeep',
    timeoutSeconds: 900,
  }),
  'deletions.remove': scheduled({
    summary: 'Delete the remaining data of deleted projects and organizations',
    queue: 'upkeep',
    timeoutSeconds: 900,
  }),
  'leases.sweep': scheduled({
    summary: 'Record expired leases, notify their holders, and delete expired locks',
    queue: 'leases',
    timeoutSeconds: 60,
  }),
  'seats.recalculate': perOrganization({
    summary:
      'Recount the seats of an organization after a change of members, roles, invitations or the subscription',
    queue: 'billing',
    payload: Empty,
    timeoutSeconds: 30,
  }),
  'seats.reconcile': scheduled({
    summary:
      'Recount the seats of every organization, and report differences and seats used beyond those paid for',
    queue: 'billing',
    timeoutSeconds: 900,
  }),
} satisfies Record<string, Job>;

export type Jobs = typeof jobs;
export type JobName = keyof Jobs;
export type PayloadOf<Name extends JobName> = z.output<Jobs[Name]['payload']>;

type AskedByOf<Name extends JobName> = Jobs[Name]['askedBy'];
/** The names of jobs that are triggered by rows of the outbox. */
export type OutboxJobName = { [Name in JobName]: AskedByOf<Name> extends 'schedule' ? never : Name }[JobName];
/** The names of jobs that are triggered by time. */
export type ScheduledJobName = Exclude<JobName, OutboxJobName>;

export const jobNames = Object.keys(jobs) as JobName[];

export const isJobName = (name: string): name is JobName => Object.hasOwn(jobs, name);

export const isOutboxJob = (name: JobName): name is OutboxJobName => jobs[name].askedBy !== 'schedule';

/** Returns the definition of a job, with its general type. */
export const jobOf = (name: JobName): Job => jobs[name];
