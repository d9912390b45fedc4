/** Finds the plans that a story proposes in its spec and its comments. */
import { queryOptions } from '@tanstack/react-query';
import { type Client } from '@muster/client';
import { findProposedPlans } from '@muster/import-files/plan-proposals';
import { timeAgo } from '../messages/index.ts';
import { planTexts } from '../messages/plans.ts';

export interface Proposal {
  readonly text: string;
  readonly author: string;
  readonly label: string;
  readonly at: string;
}

/** Fetches the proposals, newest first. */
export const proposalsQuery = (client: Client, storyKey: string) =>
  queryOptions({
    queryKey: ['story', storyKey, 'proposals'],
    queryFn: async (): Promise<Proposal[]> => {
      const [{ spec }, threads] = await Promise.all([
        client.storySpec.get({ storyId: storyKey }),
        Array.fromAsync(client.comments.list.all({ storyId: storyKey, limit: 200 })),
      ]);
      const comments = threads.flatMap((thread) => [thread, ...thread.replies]);
      const texts = [
        ...comments.map(({ body, author, createdAt }) => ({
          ...{ body: body ?? '', author: author.name, at: createdAt },
          label: planTexts.form.commentBy(author.name, timeAgo(createdAt)),
        })),
        {
          ...{ body: spec.content, author: spec.author?.name ?? '', at: spec.createdAt ?? '' },
          label: planTexts.form.inSpec,
        },
      ];
      return texts
        .flatMap(({ body, ...where }) => findProposedPlans(body).map((text) => ({ ...where, text })))
        .toSorted((one, other) => other.at.localeCompare(one.at));
    },
  });
