import { z } from 'zod';
import { project } from '../kernel/access.ts';
import { operation } from '../kernel/operation.ts';
import { pageParams, pageSchemaOf } from '../kernel/pagination.ts';
import { ExpectedVersion, Id, ProjectRef, StoryRef } from '../kernel/values.ts';
import { checkpointParams, LeaseToken, RunId, Signal, TtlSeconds } from '../records/execution.ts';
import { Group, GroupName, GroupState, GroupStories, MergeStrategy } from '../records/group.ts';
import { GitMeta, UpstreamInput } from '../records/story.ts';

const groupId = Id;
const exampleGroupId = '01936d5c-0000-7000-8000-000000000092';
const exampleLease = { groupId: exampleGroupId, leaseToken: 'lse_1_00000000000000000000000000000000' };

const GroupResult = z.object({ group: Group });
const GroupAndSignals = z.object({ group: Group, signals: z.array(Signal) });

/** The refusals that any operation for the holder of a group's coordination lease can have. */
const holderRefusals = ['stale_lease', 'archived'] as const;

export const deliveryGroups = {
  create: operation({
    name: 'deliveryGroups.create',
    effect: 'write',
    summary: 'Deliver stories together',
    keywords:
      'batch bundle group release train stack together ship several at once combine integration branch',
    description:
      'The stories must be of one project and in no other open group; otherwise details name the other group and its stories. The group starts as a draft. Work on its stories is not affected.',
    access: project('contributor'),
    params: z.strictObject({
      projectId: ProjectRef,
      name: GroupName,
      storyIds: GroupStories,
      mergeStrategy: MergeStrategy.default('per_story'),
      git: GitMeta.optional(),
    }),
    result: GroupResult,
    refusals: ['in_active_group', 'mismatched_project', 'archived', 'invalid_pull_request'],
    emits: ['group.created'],
    example: { projectId: 'WEB', name: 'Passkeys', storyIds: ['WEB-1'], mergeStrategy: 'integration_branch' },
  }),
  get: operation({
    name: 'deliveryGroups.get',
    effect: 'read',
    summary: 'Get a delivery group',
    keywords: 'show batch bundle release details progress stories',
    description: 'Includes the progress of its stories, and its coordinator.',
    access: project('viewer'),
    params: z.strictObject({ groupId }),
    result: GroupResult,
    example: { groupId: exampleGroupId },
  }),
  getForStory: operation({
    name: 'deliveryGroups.getForStory',
    effect: 'read',
    summary: 'Get the delivery group that a story is in',
    keywords: 'which batch bundle release',
    description: 'The group that is neither landed nor abandoned; null if the story is in none.',
    access: project('viewer'),
    params: z.strictObject({ storyId: StoryRef }),
    result: z.object({ group: Group.nullable() }),
    example: { storyId: 'WEB-2' },
  }),
  list: operation({
    name: 'deliveryGroups.list',
    effect: 'read',
    summary: 'List the delivery groups of a project',
    keywords: 'batches bundles releases',
    description: 'Newest first; optionally only groups in one state.',
    access: project('viewer'),
    params: z.strictObject({ projectId: ProjectRef, state: GroupState.optional(), ...pageParams }),
    result: pageSchemaOf(Group),
    example: { projectId: 'WEB' },
  }),
  update: operation({
    name: 'deliveryGroups.update',
    effect: 'write',
    idempotent: true,
    summary: 'Rename a delivery group, or move it to another state',
    keywords: 'land landed abandon release batch',
    description:
      "Allowed changes: draft to active, active to in_review and back, in_review to landed, and any open state to abandoned. Landed and abandoned are final: the stories can join other groups, the coordination lease ends, and the group's execution completes as succeeded or canceled. Not possible while someone else works on the group under a live lease: request a stop or take it over first. With policy requireMergeProof, landed needs an observed merge of the group, or of each story that is not canceled; with mergeProof verified a connected forge must have reported it. A merge alone does not land a group. Setting the current state has no effect.",
    access: project('contributor'),
    params: z.strictObject({
      groupId,
      name: GroupName.optional(),
      state: GroupState.optional(),
      expectedVersion: ExpectedVersion,
    }),
    result: GroupResult,
    refusals: ['version_mismatch', 'invalid_transition', 'policy', 'lease_held', 'archived'],
    emits: ['group.updated', 'group.stateChanged', 'execution.completed'],
    example: { groupId: exampleGroupId, name: 'Passkeys everywhere', state: 'in_review' },
  }),
  replaceStories: operation({
    name: 'deliveryGroups.replaceStories',
    effect: 'write',
    idempotent: true,
    summary: 'Replace the stories of a delivery group',
    keywords: 'add remove story to from group batch',
    description:
      "The list is in delivery order. Not possible while another member or agent holds the group's lease, to coordinate it or to work on it. A story is added together with its existing work; but if the story and the group are under leases of different holders, a live lease of the story makes the call fail, and an expired one ends.",
    access: project('contributor'),
    params: z.strictObject({ groupId, storyIds: GroupStories, expectedVersion: ExpectedVersion }),
    result: z.object({ group: Group, added: z.array(Id), removed: z.array(Id) }),
    refusals: [
      'version_mismatch',
      'lease_held',
      'in_active_group',
      'invalid_transition',
      'mismatched_project',
      'archived',
    ],
    emits: ['group.storiesReplaced', 'execution.superseded'],
    example: { groupId: exampleGroupId, storyIds: ['WEB-1', 'WEB-2'] },
  }),
  updateGitMeta: operation({
    name: 'deliveryGroups.updateGitMeta',
    effect: 'write',
    idempotent: true,
    summary: "Record the state of a delivery group's branch and pull request",
    keywords: 'batch bundle release attach pr commit head sha checks ci',
    description:
      'Only the given fields change: an omitted field keeps its value, null clears it. Also possible for landed and abandoned groups.',
    access: project('contributor'),
    params: z.strictObject({ groupId, git: GitMeta }),
    result: GroupResult,
    refusals: ['archived', 'invalid_pull_request'],
    emits: ['group.gitMetaUpdated'],
    example: { groupId: exampleGroupId, git: { branch: 'passkeys', checks: 'passing' } },
  }),
  updateUpstream: operation({
    name: 'deliveryGroups.updateUpstream',
    effect: 'write',
    idempotent: true,
    summary: 'Link a delivery group to the record of another tracker',
    keywords: 'batch bundle release jira linear github external sync',
    description:
      'Each provider and externalId can be linked to one group of a project; null removes the link.',
    access: project('contributor'),
    params: z.strictObject({ groupId, upstream: UpstreamInput.nullable() }),
    result: GroupResult,
    refusals: ['already_exists', 'archived'],
    emits: ['group.upstreamUpdated'],
    example: { groupId: exampleGroupId, upstream: { provider: 'jira', externalId: 'ACME-7' } },
  }),
  acquireLease: operation({
    name: 'deliveryGroups.acquireLease',
    effect: 'write',
    summary: 'Take the lease to coordinate a delivery group',
    keywords: 'claim start coordinate batch bundle release take over',
    description:
      'Exactly one of several callers succeeds; the others learn who holds the lease and until when. The same holder (member, agent and runId) keeps its epoch and gets a new token. An expired lease of another holder may be taken. The lease prevents no one from working on the group or its stories. leaseToken is shown only in this response.',
    access: project('contributor'),
    params: z.strictObject({ groupId, ttlSeconds: TtlSeconds.optional(), runId: RunId.optional() }),
    result: z.object({ group: Group, leaseToken: z.string(), signals: z.array(Signal) }),
    refusals: ['lease_held', 'invalid_transition', 'archived'],
    emits: ['group.leaseAcquired'],
    secret: 'leaseToken',
    example: { groupId: exampleGroupId, ttlSeconds: 900 },
  }),
  renewLease: operation({
    name: 'deliveryGroups.renewLease',
    effect: 'write',
    idempotent: true,
    summary: 'Renew the lease to coordinate a delivery group',
    keywords: 'extend prolong heartbeat alive batch bundle release',
    description:
      'Every operation of the holder renews the lease; this one does only that. Its signals report what others did to the group and its stories since the last call.',
    access: project('contributor'),
    params: z.strictObject({ groupId, leaseToken: LeaseToken, ttlSeconds: TtlSeconds.optional() }),
    result: GroupAndSignals,
    refusals: ['stale_lease'],
    reachesArchived: true,
    isRenewal: true,
    example: exampleLease,
  }),
  releaseLease: operation({
    name: 'deliveryGroups.releaseLease',
    effect: 'write',
    idempotent: true,
    summary: 'Release the lease to coordinate a delivery group',
    keywords: 'drop give up stop unclaim batch bundle release',
    description: 'The group and its checkpoint stay as they are, and another holder may continue.',
    access: project('contributor'),
    params: z.strictObject({ groupId, leaseToken: LeaseToken }),
    result: GroupAndSignals,
    refusals: ['stale_lease'],
    reachesArchived: true,
    emits: ['group.leaseReleased'],
    example: exampleLease,
  }),
  checkpoint: operation({
    name: 'deliveryGroups.checkpoint',
    effect: 'write',
    summary: 'Save a checkpoint of a delivery group',
    keywords: 'save progress notes summary batch bundle release',
    description:
      'The next coordinator continues from the newest checkpoint. With expectedSeq the call fails if there is a newer one.',
    access: project('contributor'),
    params: z.strictObject({ groupId, leaseToken: LeaseToken, ...checkpointParams }),
    result: GroupAndSignals,
    refusals: [...holderRefusals, 'version_mismatch'],
    emits: ['group.checkpointed'],
    example: { ...exampleLease, summary: 'Two of three are merged', nextSteps: ['Merge WEB-3'] },
  }),
};
