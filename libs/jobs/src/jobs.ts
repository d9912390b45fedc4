/** The list of all jobs. */
import { z } from 'zod';
import { type Job, defineBatchJob, defineOrganizationJob, defineRowJob, defineScheduledJob } from './job.ts';

const EmptyPayload = z.strictObject({});
/** A commit of a repository, with the ids that the forge of a connection uses. */
const ForgeHead = z.strictObject({
  connectionId: z.uuid(),
  externalId: z.string().min(1).max(100),
  sha: z.string().min(1).max(255),
});

export const jobs = {
  event: defineOrganizationJob({
    summary: 'Process new activity of an organization: notifications, points and other derived data',
    queue: 'sync',
    payload: z.strictObject({ activitySeq: z.int().positive(), kind: z.string() }),
    timeoutSeconds: 30,
  }),
  'gamification.sync': defineOrganizationJob({
    summary: 'Recalculate the points of an organization from its activity',
    queue: 'sync',
    payload: EmptyPayload,
    timeoutSeconds: 30,
  }),
  'invitation.mail': defineRowJob({
    summary: 'Send an invitation by e-mail, with a new link',
    queue: 'deliver',
    payload: z.strictObject({ invitationId: z.uuid() }),
    timeoutSeconds: 30,
  }),
  'notification.deliver': defineBatchJob({
    summary: 'Choose the channels of a notification, and enqueue a delivery for each',
    queue: 'deliver',
    payload: z.strictObject({ notificationId: z.uuid() }),
    timeoutSeconds: 15,
  }),
  'notification.mail': defineRowJob({
    summary: 'Send a notification by e-mail',
    queue: 'deliver',
    payload: z.strictObject({ notificationId: z.uuid() }),
    timeoutSeconds: 30,
  }),
  'notification.push': defineRowJob({
    summary: 'Push a notification to one device',
    queue: 'deliver',
    // The device is the SHA-256 of its push token, which is a secret.
    payload: z.strictObject({ notificationId: z.uuid(), device: z.hex().length(64) }),
    timeoutSeconds: 30,
  }),
  'digest.mail': defineRowJob({
    summary: 'Send a member the daily digest of unread notifications by e-mail',
    queue: 'deliver',
    payload: z.strictObject({ memberId: z.uuid(), since: z.iso.datetime(), until: z.iso.datetime() }),
    timeoutSeconds: 30,
  }),
  'digests.request': defineScheduledJob({
    summary: 'Find members whose daily digest is due, and enqueue one e-mail for each',
    queue: 'upkeep',
    timeoutSeconds: 300,
  }),
  'token.mail': defineRowJob({
    summary: 'Notify a member by e-mail that a token of theirs expires soon',
    queue: 'deliver',
    payload: z.strictObject({ tokenId: z.uuid() }),
    timeoutSeconds: 30,
  }),
  'passkey.mail': defineRowJob({
    summary: 'Notify a person by e-mail that a passkey of theirs was added or removed',
    queue: 'deliver',
    payload: z.strictObject({ memberId: z.uuid(), name: z.string() }),
    timeoutSeconds: 30,
  }),
  'chat.mail': defineRowJob({
    summary: 'Notify a member by e-mail that a chat channel or a Slack account was connected',
    queue: 'deliver',
    payload: z.strictObject({
      memberId: z.uuid(),
      name: z.string(),
      service: z.enum(['slack', 'teams', 'slack_account']),
    }),
    timeoutSeconds: 30,
  }),
  'slack.respond': defineRowJob({
    summary: 'Respond in Slack to a click on an answer',
    queue: 'deliver',
    payload: z.strictObject({
      /** The encrypted address at which Slack accepts the response. */
      responseUrl: z.string().min(1).max(2_000),
      response: z.discriminatedUnion('kind', [
        /** Replaces the message by the answer of the question. */
        z.strictObject({ kind: z.literal('answered'), questionId: z.uuid() }),
        /** Shows the account a link with which its member connects it. */
        z.strictObject({
          kind: z.literal('connect'),
          teamId: z.string().max(30),
          userId: z.string().max(30),
          userName: z.string().max(80),
        }),
        /** Shows the account why its answer was refused. */
        z.strictObject({ kind: z.literal('refused'), message: z.string().max(500) }),
      ]),
    }),
    timeoutSeconds: 30,
  }),
  'identityProvider.check': defineRowJob({
    summary: 'Read the metadata of an identity provider, and check the DNS records of its domains',
    queue: 'deliver',
    payload: z.strictObject({ providerId: z.uuid() }),
    timeoutSeconds: 30,
  }),
  'domain.mail': defineRowJob({
    summary: 'Notify an admin by e-mail that the DNS record of a domain is missing',
    queue: 'deliver',
    payload: z.strictObject({ memberId: z.uuid(), providerId: z.uuid(), domain: z.string() }),
    timeoutSeconds: 30,
  }),
  'identityProviders.check': defineScheduledJob({
    summary: 'Enqueue a check of each identity provider that has a domain',
    queue: 'upkeep',
    timeoutSeconds: 300,
  }),
  'tokens.warn': defineScheduledJob({
    summary: 'Find tokens that expire within a week, and enqueue one e-mail for each',
    queue: 'upkeep',
    timeoutSeconds: 300,
  }),
  'forge.translate': defineRowJob({
    summary: 'Process a webhook delivery from a forge, and record its facts',
    queue: 'sync',
    payload: z.strictObject({ deliveryId: z.uuid() }),
    timeoutSeconds: 30,
  }),
  'forge.replay': defineRowJob({
    summary: 'Record facts from a forge that arrived before their execution was known',
    queue: 'sync',
    payload: z.strictObject({ executionId: z.uuid() }),
    timeoutSeconds: 30,
  }),
  'forge.status': defineRowJob({
    summary: 'Send the commit status of the work at the head of a pull request to its forge',
    queue: 'deliver',
    payload: ForgeHead,
    timeoutSeconds: 30,
  }),
  'forge.statuses': defineOrganizationJob({
    summary: 'Enqueue commit statuses for heads whose last sent status is outdated',
    queue: 'sync',
    payload: EmptyPayload,
    timeoutSeconds: 30,
  }),
  'forge.ask': defineRowJob({
    summary: 'Poll a forge for a pull request without recent news, or for the id of a repository',
    queue: 'deliver',
    payload: z.union([z.strictObject({ executionId: z.uuid() }), z.strictObject({ repositoryId: z.uuid() })]),
    timeoutSeconds: 30,
  }),
  'forge.changes': defineRowJob({
    summary: 'Read the changed files of work from its forge, for a head that was not read before',
    queue: 'deliver',
    payload: z.strictObject({ executionId: z.uuid() }),
    timeoutSeconds: 120,
  }),
  'forge.app': defineRowJob({
    summary: 'Fetch the GitHub App that GitHub created from the manifest',
    queue: 'deliver',
    // The code from GitHub is encrypted in the payload.
    payload: z.strictObject({ connectionId: z.uuid(), code: z.string().min(1).max(1_000) }),
    timeoutSeconds: 30,
  }),
  'forge.reconcile': defineScheduledJob({
    summary: 'Find open pull requests without recent news, and enqueue a poll of each',
    queue: 'upkeep',
    timeoutSeconds: 300,
  }),
  'export.write': defineRowJob({
    summary: 'Write parts of the archive of an export until it is complete',
    queue: 'exports',
    payload: z.strictObject({ exportId: z.uuid() }),
    timeoutSeconds: 30,
  }),
  'retention.purge': defineScheduledJob({
    summary: 'Delete rows that are past their retention time',
    queue: 'upkeep',
    timeoutSeconds: 900,
  }),
  'deletions.remove': defineScheduledJob({
    summary: 'Delete the remaining data of deleted projects and organizations',
    queue: 'upkeep',
    timeoutSeconds: 900,
  }),
  'files.remove': defineScheduledJob({
    summary: 'Delete the files of deleted attachments, projects and organizations',
    queue: 'upkeep',
    timeoutSeconds: 900,
  }),
  'leases.sweep': defineScheduledJob({
    summary: 'Record expired leases, notify their holders, and delete expired locks',
    queue: 'leases',
    timeoutSeconds: 60,
  }),
  'seats.recalculate': defineOrganizationJob({
    summary:
      'Recount the seats of an organization after a change of members, roles, invitations or the subscription',
    queue: 'billing',
    payload: EmptyPayload,
    timeoutSeconds: 30,
  }),
  'seats.reconcile': defineScheduledJob({
    summary:
      'Recount the seats of every organization, and report differences and seats used beyond those paid for',
    queue: 'billing',
    timeoutSeconds: 900,
  }),
} satisfies Record<string, Job>;

export type Jobs = typeof jobs;
export type JobName = keyof Jobs;
export type PayloadOf<Name extends JobName> = z.output<Jobs[Name]['payload']>;

type TriggerOf<Name extends JobName> = Jobs[Name]['trigger'];
/** The names of jobs that are triggered by rows of the outbox. */
export type OutboxJobName = { [Name in JobName]: TriggerOf<Name> extends 'schedule' ? never : Name }[JobName];
/** The names of jobs that are triggered by time. */
export type ScheduledJobName = Exclude<JobName, OutboxJobName>;

export const jobNames = Object.keys(jobs) as JobName[];

export const isJobName = (name: string): name is JobName => Object.hasOwn(jobs, name);

export const isOutboxJob = (name: JobName): name is OutboxJobName => jobs[name].trigger !== 'schedule';

/** Returns the definition of a job, with its general type. */
export const jobDefinitionOf = (name: JobName): Job => jobs[name];
