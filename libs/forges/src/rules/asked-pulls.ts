/** Converts a forge API's answer about a pull request to the delivery that the forge would have sent. */
import { type ForgeKind } from '@muster/contract';
import { z } from 'zod';
import { ForgeTime, type NamedRepository } from './fact.ts';
import { PullRequest, Repository } from './pull-requests.ts';

export interface PullDelivery {
  readonly event: string;
  readonly payload: object;
  /** The values that identify the content of an answer, so that a repeated answer is recognized. */
  readonly identifyingValues: readonly (string | null)[];
  readonly isOpen: boolean;
  readonly hasConflict: boolean;
  readonly headSha: string | null;
}

const PullAnswer = PullRequest.extend({
  state: z.string(),
  base: PullRequest.shape.base.extend({ repo: Repository }),
});

/**
 * Converts an answer of GitHub, Gitea or Forgejo about a pull request to a delivery. Their deliveries have
 * the same format as their answers.
 */
function pullToDelivery(payload: unknown): PullDelivery {
  const pull = PullAnswer.parse(payload);
  const isOpen = pull.state !== 'closed';
  // Gitea uses other action names in its deliveries, but the readers of both GitHub and Gitea accept
  // `edited`.
  const action = isOpen ? 'edited' : 'closed';
  return {
    event: 'pull_request',
    payload: { action, pull_request: payload, repository: pull.base.repo },
    identifyingValues: [pull.state, pull.head.sha ?? null, pull.updated_at],
    ...{ isOpen, hasConflict: pull.mergeable_state === 'dirty', headSha: pull.head.sha ?? null },
  };
}

const MergeRequestAnswer = z.object({
  iid: z.int(),
  web_url: z.string(),
  title: z.string(),
  description: z.string().nullish(),
  state: z.string(),
  source_branch: z.string(),
  target_branch: z.string(),
  source_project_id: z.int().nullish(),
  target_project_id: z.int().nullish(),
  sha: z.string().nullish(),
  merge_commit_sha: z.string().nullish(),
  squash_commit_sha: z.string().nullish(),
  detailed_merge_status: z.string().nullish(),
  created_at: ForgeTime,
  updated_at: ForgeTime,
  merged_at: ForgeTime.nullish(),
  closed_at: ForgeTime.nullish(),
});

const actionByMergeState: Readonly<Record<string, string>> = { merged: 'merge', closed: 'close' };

/**
 * Converts GitLab's answer about a merge request to a delivery. GitLab uses other field names in its
 * deliveries than in its answers.
 */
function mergeRequestToDelivery(payload: unknown, repository: NamedRepository): PullDelivery {
  const { web_url: url, sha = null, state, ...merge } = MergeRequestAnswer.parse(payload);
  const isOpen = actionByMergeState[state] === undefined;
  const at = state === 'merged' ? merge.merged_at : state === 'closed' ? merge.closed_at : null;
  const { externalId, fullName, defaultBranch } = repository;
  return {
    event: 'Merge Request Hook',
    payload: {
      project: {
        ...{ id: Number(externalId), web_url: repository.url },
        ...{ path_with_namespace: fullName, default_branch: defaultBranch },
      },
      object_attributes: {
        ...merge,
        ...{ url, action: actionByMergeState[state] ?? 'update', updated_at: at ?? merge.updated_at },
        merge_commit_sha: merge.merge_commit_sha ?? merge.squash_commit_sha ?? null,
        ...(sha !== null && { last_commit: { id: sha } }),
      },
    },
    identifyingValues: [state, sha, at ?? merge.updated_at],
    ...{ isOpen, hasConflict: merge.detailed_merge_status === 'conflict', headSha: sha },
  };
}

/**
 * Converts a forge API's answer about a pull request to a delivery. Throws a ZodError if the answer does not
 * match the forge's documentation.
 */
export const toPullDelivery = (
  kind: ForgeKind,
  payload: unknown,
  repository: NamedRepository,
): PullDelivery =>
  kind === 'gitlab' ? mergeRequestToDelivery(payload, repository) : pullToDelivery(payload);
