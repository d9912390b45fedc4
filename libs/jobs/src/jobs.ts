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
    summary: 'Bring up to date what follows from the activity of an organization',
    queue: 'sync',
    payload: z.strictObject({ activitySeq: z.int().positive(), kind: z.string() }),
    timeoutSeconds: 30,
  }),
  'gamification.sync': perOrganization({
    summary: 'Count the activity of an organization into points, because somebody asked for it',
    queue: 'sync',
    payload: Empty,
    timeoutSeconds: 30,
  }),
  'invitation.mail': perRow({
    summary: 'Send an invitation, with a fresh link',
    queue: 'deliver',
    payload: z.strictObject({ invitationId: z.uuid() }),
    timeoutSeconds: 30,
  }),
  'notification.deliver': perBatch({
    summary: 'Find out by which ways a notification leaves the house, and ask for each',
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
    summary: 'Tell a member by e-mail that a token of theirs ends soon',
    queue: 'deliver',
    payload: z.strictObject({ tokenId: z.uuid() }),
    timeoutSeconds: 30,
  }),
  'passkey.mail': perRow({
    summary: 'Tell a person by e-mail that a passkey of theirs was removed',
    queue: 'deliver',
    payload: z.strictObject({ memberId: z.uuid(), name: z.string() }),
    timeoutSeconds: 30,
  }),
  'identityProvider.check': perRow({
    summary: 'Ask an identity provider what it offers, and look for the DNS records of its domains',
    queue: 'deliver',
    payload: z.strictObject({ providerId: z.uuid() }),
    timeoutSeconds: 30,
  }),
  'domain.mail': perRow({
    summary: 'Tell an admin by e-mail that the DNS record of a domain is gone',
    queue: 'deliver',
    payload: z.strictObject({ memberId: z.uuid(), providerId: z.uuid(), domain: z.string() }),
    timeoutSeconds: 30,
  }),
  'identityProviders.check': scheduled({
    summary:
      'Ask for a look at each identity provider that speaks for a domain, and at the DNS records of its domains',
    queue: 'upkeep',
    timeoutSeconds: 300,
  }),
  'tokens.warn': scheduled({
    summary: 'Find tokens that end within a week, and ask for the e-mail that says so, once for each',
    queue: 'upkeep',
    timeoutSeconds: 300,
  }),
  'forge.translate': perRow({
    summary: 'Read what a forge delivered, and record what it says',
    queue: 'sync',
    payload: z.strictObject({ deliveryId: z.uuid() }),
    timeoutSeconds: 30,
  }),
  'forge.replay': perRow({
    summary: 'Record what a forge told of an execution before it was known',
    queue: 'sync',
    payload: z.strictObject({ executionId: z.uuid() }),
    timeoutSeconds: 30,
  }),
  'forge.status': perRow({
    summary: 'Send a forge what is so of the work at the head of a pull request',
    queue: 'deliver',
    payload: ForgeHead,
    timeoutSeconds: 30,
  }),
  'forge.statuses': perOrganization({
    summary: 'Ask for statuses of the heads of which something else was sent to a forge than is so',
    queue: 'sync',
    payload: Empty,
    timeoutSeconds: 30,
  }),
  'forge.ask': perRow({
    summary:
      'Ask a forge about a pull request of which nothing was heard for a while, or for the id of a repository',
    queue: 'deliver',
    payload: z.union([z.strictObject({ executionId: z.uuid() }), z.strictObject({ repositoryId: z.uuid() })]),
    timeoutSeconds: 30,
  }),
  'forge.app': perRow({
    summary: 'Fetch what GitHub made of the manifest of an app',
    queue: 'deliver',
    // The code from GitHub is encrypted in the payload.
    payload: z.strictObject({ connectionId: z.uuid(), code: z.string().min(1).max(1_000) }),
    timeoutSeconds: 30,
  }),
  'forge.reconcile': scheduled({
    summary: 'Find open pull requests of which nothing was heard for a while, and ask for a look at each',
    queue: 'upkeep',
    timeoutSeconds: 300,
  }),
  'retention.purge': scheduled({
    summary: 'Remove rows that are past their day, of each table as the retention says',
    queue: 'upkeep',
    timeoutSeconds: 900,
  }),
  'deletions.remove': scheduled({
    summary: 'Remove what is left of projects and organizations that were deleted',
    queue: 'upkeep',
    timeoutSeconds: 900,
  }),
  'leases.sweep': scheduled({
    summary:
      'Note leases whose time has passed, notify their holders, and delete locks whose own time has passed',
    queue: 'leases',
    timeoutSeconds: 60,
  }),
  'seats.recalculate': perOrganization({
    summary:
      'Count the seats of an organization after a change of members, roles, invitations or the subscription',
    queue: 'billing',
    payload: Empty,
    timeoutSeconds: 30,
  }),
  'seats.reconcile': scheduled({
    summary: 'Count the seats of every organization, and report drift and seats held beyond those bought',
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
