import { z } from 'zod';
import { project } from '../kernel/access.ts';
import { operation } from '../kernel/operation.ts';
import { page, pageOf } from '../kernel/pagination.ts';
import { ExpectedVersion, Id, ProjectRef, StoryRef } from '../kernel/values.ts';
import { checkpointParams, LeaseToken, RunId, Signal, TtlSeconds } from '../records/execution.ts';
import { Group, GroupName, GroupState, GroupStories, MergeStrategy } from '../records/group.ts';
import { GitMeta, UpstreamInput } from '../records/story.ts';

const groupId = Id;
const group = '01936d5c-0000-7000-8000-000000000092';
const held = { groupId: group, leaseToken: 'lse_1_00000000000000000000000000000000' };

const TheGroup = z.object({ group: Group });
const GroupAndSignals = z.object({ group: Group, signals: z.array(Signal) });

/** What the holder of the coordination lease may be refused with, always. */
const holderRefusals = ['stale_lease', 'archived'] as const;

export const deliveryGroups = {
  create: operation({
    name: 'deliveryGroups.create',
    effect: 'write',
    summary: 'Deliver stories together',
    description: `The stories are of the project, and in no other group that is open: else details name that group, and every story that is in one. Begins as a draft. Work on its stories goes on undisturbed, whoever does it.`,
    access: project('contributor'),
    params: z.strictObject({
      projectId: ProjectRef,
      name: GroupName,
      storyIds: GroupStories,
      mergeStrategy: MergeStrategy.default('per_story'),
      git: GitMeta.optional(),
    }),
    result: TheGroup,
    refusals: ['in_active_group', 'mismatched_project', 'archived'],
    emits: ['group.created'],
    example: { projectId: 'WEB', name: 'Passkeys', storyIds: ['WEB-1'], mergeStrategy: 'integration_branch' },
  }),
  get: operation({
    name: 'deliveryGroups.get',
    effect: 'read',
    summary: 'Get a delivery group',
    description: `With how far its stories are, and who coordinates it.`,
    access: project('viewer'),
    params: z.strictObject({ groupId }),
    result: TheGroup,
    example: { groupId: group },
  }),
  getForStory: operation({
    name: 'deliveryGroups.getForStory',
    effect: 'read',
    summary: 'Get the delivery group that a story is in',
    description: `The one that is neither landed nor abandoned; null where it is in none.`,
    access: project('viewer'),
    params: z.strictObject({ storyId: StoryRef }),
    result: z.object({ group: Group.nullable() }),
    example: { storyId: 'WEB-2' },
  }),
  list: operation({
    name: 'deliveryGroups.list',
    effect: 'read',
    summary: 'List the delivery groups of a project',
    description: `Newest first; of one state where it is named.`,
    access: project('viewer'),
    params: z.strictObject({ projectId: ProjectRef, state: GroupState.optional(), ...page }),
    result: pageOf(Group),
    example: { projectId: 'WEB' },
  }),
  update: operation({
    name: 'deliveryGroups.update',
    effect: 'write',
    summary: 'Rename a delivery group, or move it to another state',
    description: `From draft to active, between active and in_review, from in_review to landed; from any open state to abandoned. Landed and abandoned are final: the stories are free for other groups, the coordination lease ends, and the group's execution completes, as succeeded or canceled. Not while another works on the group under a live lease: ask for a stop or take it over first. With policy requireMergeProof, landed needs an observed merge of the group, or of each story that is not canceled; a merge alone lands no group. The state it has changes nothing.`,
    access: project('contributor'),
    params: z.strictObject({
      groupId,
      name: GroupName.optional(),
      state: GroupState.optional(),
      expectedVersion: ExpectedVersion,
    }),
    result: TheGroup,
    refusals: ['version_mismatch', 'invalid_transition', 'policy', 'lease_held', 'archived'],
    emits: ['group.updated', 'group.stateChanged', 'execution.completed'],
    example: { groupId: group, name: 'Passkeys everywhere', state: 'in_review' },
  }),
  replaceStories: operation({
    name: 'deliveryGroups.replaceStories',
    effect: 'write',
    summary: 'Say anew which stories a delivery group has',
    description: `In this order. Not while another member or agent holds the group, to coordinate it or to work on it. A story joins with the work that is done on it; but where it and the group are under leases of different holders, one cannot be without the other's end: a live lease of the story refuses, one past its time ends.`,
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
    emits: ['group.storiesReplaced'],
    example: { groupId: group, storyIds: ['WEB-1', 'WEB-2'] },
  }),
  updateGitMeta: operation({
    name: 'deliveryGroups.updateGitMeta',
    effect: 'write',
    summary: "Record the state of a delivery group's branch and pull request",
    description: `Merges field by field: what is left out stays, null clears. Also of a group that is landed or abandoned.`,
    access: project('contributor'),
    params: z.strictObject({ groupId, git: GitMeta }),
    result: TheGroup,
    refusals: ['archived'],
    emits: ['group.gitMetaUpdated'],
    example: { groupId: group, git: { branch: 'passkeys', checks: 'passing' } },
  }),
  updateUpstream: operation({
    name: 'deliveryGroups.updateUpstream',
    effect: 'write',
    summary: 'Link a delivery group to the record of another tracker',
    description: `One group of a project per provider and externalId; null unlinks.`,
    access: project('contributor'),
    params: z.strictObject({ groupId, upstream: UpstreamInput.nullable() }),
    result: TheGroup,
    refusals: ['already_exists', 'archived'],
    emits: ['group.upstreamUpdated'],
    example: { groupId: group, upstream: { provider: 'jira', externalId: 'ACME-7' } },
  }),
  acquireLease: operation({
    name: 'deliveryGroups.acquireLease',
    effect: 'write',
    summary: 'Take the lease to coordinate a delivery group',
    description: `Of many at once exactly one wins; the others hear who holds it and until when. The same holder (member, agent and runId) keeps its epoch and gets a fresh token; another holder's expired lease may be taken. It keeps nobody from working on the group or its stories. leaseToken is shown here and nowhere else.`,
    access: project('contributor'),
    params: z.strictObject({ groupId, ttlSeconds: TtlSeconds.optional(), runId: RunId.optional() }),
    result: z.object({ group: Group, leaseToken: z.string(), signals: z.array(Signal) }),
    refusals: ['lease_held', 'invalid_transition', 'archived'],
    emits: ['group.leaseAcquired'],
    secret: 'leaseToken',
    example: { groupId: group, ttlSeconds: 900 },
  }),
  renewLease: operation({
    name: 'deliveryGroups.renewLease',
    effect: 'write',
    summary: 'Keep the lease to coordinate a delivery group',
    description: `Any operation of the holder renews; this one does nothing else. Its signals are what others did to the group and its stories since the last.`,
    access: project('contributor'),
    params: z.strictObject({ groupId, leaseToken: LeaseToken, ttlSeconds: TtlSeconds.optional() }),
    result: GroupAndSignals,
    refusals: [...holderRefusals],
    isRenewal: true,
    example: held,
  }),
  releaseLease: operation({
    name: 'deliveryGroups.releaseLease',
    effect: 'write',
    summary: 'Let go of coordinating a delivery group',
    description: `The group stays as it is, with its checkpoint; another may go on.`,
    access: project('contributor'),
    params: z.strictObject({ groupId, leaseToken: LeaseToken }),
    result: GroupAndSignals,
    refusals: [...holderRefusals],
    emits: ['group.leaseReleased'],
    example: held,
  }),
  checkpoint: operation({
    name: 'deliveryGroups.checkpoint',
    effect: 'write',
    summary: 'Write down how far the delivery of a group is',
    description: `The next coordinator goes on from the newest checkpoint. expectedSeq makes it conditional.`,
    access: project('contributor'),
    params: z.strictObject({ groupId, leaseToken: LeaseToken, ...checkpointParams }),
    result: GroupAndSignals,
    refusals: [...holderRefusals, 'version_mismatch'],
    emits: ['group.checkpointed'],
    example: { ...held, summary: 'Two of three are merged', nextSteps: ['Merge WEB-3'] },
  }),
};
