import { type Comment } from '@muster/contract';
import { Check } from '../check.ts';
import { type ExpectedComment, listStories, type Tour, truthOf } from '../tour-state.ts';

/** Reads everything back, and compares it with the acknowledged writes. */
export const checkKept = async (tour: Tour): Promise<Check[]> => [
  await checkStories(tour),
  await checkSpecs(tour),
  await checkComments(tour),
];

async function checkStories({ board, team: { gwen }, projectId, stories: truths }: Tour): Promise<Check> {
  const found = new Check('every story has its title, status, labels, epic, estimate, priority and blockers');
  const stories = new Map((await listStories(gwen, projectId)).map((story) => [story.id, story]));
  for (const [id, truth] of truths) {
    const story = stories.get(id);
    if (story === undefined) found.fail(`${truth.title} is missing`);
    else found.same(truthOf(story), truthOf(truth), story.key);
  }
  found.same(stories.size, truths.size, 'the number of stories');
  found.detail = `${board.stories.length} of the file, ${truths.size - board.stories.length} created since`;
  return found;
}

async function checkSpecs({ specs, storyIds, board, team: { gwen } }: Tour): Promise<Check> {
  const found = new Check('every spec is there byte for byte, as its first version');
  for (const localId of board.specs.keys())
    found.that(specs.has(storyIds.get(localId) ?? localId), () => `the spec of ${localId} was not written`);
  for (const [storyId, content] of specs) {
    const { spec } = await gwen.api.storySpec.get({ storyId });
    found.that(spec.version === 1 && spec.content === content, () => `the spec of ${storyId} differs`);
  }
  found.detail = `${specs.size} specs`;
  return found;
}

async function checkComments({ comments, team: { gwen } }: Tour): Promise<Check> {
  const found = new Check('every comment is in its thread once, with its mentions and reactions');
  const storyIds = new Set([...comments.values()].map(({ storyId }) => storyId));
  const seen = new Map<string, Comment>();
  for (const storyId of storyIds) {
    for await (const { replies, ...root } of gwen.api.comments.list.all({ storyId, limit: 3 })) {
      for (const comment of [root, ...replies]) {
        found.that(!seen.has(comment.id), () => `the comment ${comment.id} is listed twice`);
        seen.set(comment.id, comment);
      }
    }
  }
  for (const truth of comments.values()) {
    const comment = seen.get(truth.id);
    if (comment === undefined) found.fail(`the comment ${truth.id} is missing`);
    else found.same(shownOf(comment), wantedOf(truth), `the comment ${truth.id}`);
  }
  found.same(seen.size, comments.size, 'the number of comments');
  found.detail = `${seen.size} comments on ${storyIds.size} stories`;
  return found;
}

/** A deleted comment has no mentions and no reactions. */
const wantedOf = ({ body, storyId, parentId, mentions, resolved, reactions }: ExpectedComment): object => ({
  ...{ body, storyId, parentId, resolved },
  mentions: body === null ? [] : mentions.toSorted(),
  reactions: body === null ? [] : [...reactions].map(([emoji, count]) => `${emoji} ${count}`).toSorted(),
});

const shownOf = ({ body, storyId, parentId, mentions, resolvedAt, reactions }: Comment): object => ({
  ...{ body, storyId, parentId, resolved: resolvedAt !== null },
  mentions: mentions.map((one) => ('memberId' in one ? one.memberId : one.agentId)).toSorted(),
  reactions: reactions.map(({ emoji, count }) => `${emoji} ${count}`).toSorted(),
});
