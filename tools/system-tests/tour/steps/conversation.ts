import { type Comment } from '@muster/contract';
import { at, tally } from '../attempts.ts';
import { type Teammate } from '../team.ts';
import { listStories, type TourStep, type Tour } from '../tour-state.ts';

const discussedStories = 12;

/** People and agents talk on stories: questions, answers, decisions. */
export const conversation: TourStep = {
  name: 'People talk',
  run: async (tour) => {
    const stories = (await listStories(tour.team.ana, tour.projectId)).slice(0, discussedStories);
    for (const [index, { id }] of stories.entries()) {
      await answerQuestion(tour, id, index);
      await decide(tour, id);
      await deleteComments(tour, id);
    }
    const kinds = [...tour.comments.values()].map(({ parentId }) => (parentId === null ? 'thread' : 'reply'));
    return `on ${stories.length} stories: ${tally(kinds)}`;
  },
};

interface Saying {
  readonly by: Teammate;
  readonly body: string;
  readonly mentions?: readonly Teammate[];
  readonly parent?: Comment;
  readonly kind?: 'question' | 'decision';
}

async function say(
  { comments }: Tour,
  storyId: string,
  { by, body, mentions = [], parent, kind }: Saying,
): Promise<Comment> {
  const { comment } = await by.api.comments.create({
    ...{ storyId, body },
    ...(kind !== undefined && { kind }),
    ...(parent !== undefined && { parentId: parent.id }),
  });
  comments.set(comment.id, {
    ...{ id: comment.id, storyId, body, resolved: false, reactions: new Map() },
    // The API places a reply to a reply directly below the root comment.
    parentId: parent === undefined ? null : (parent.parentId ?? parent.id),
    mentions: mentions.map(({ memberId }) => memberId),
  });
  return comment;
}

/** A question gets its answers at the same time, then reactions, and is resolved. */
async function answerQuestion(tour: Tour, storyId: string, index: number): Promise<void> {
  const { ana, ben, chloe, dmitri, esra, femi, gwen, scout, sorter } = tour.team;
  const question = await say(tour, storyId, {
    ...{ by: at([chloe, dmitri, scout], index), kind: 'question', mentions: [ben, esra] },
    body: `@${ben.handle} @${esra.handle} do we need this before the release, or can it wait?`,
  });
  const answer = { parent: question };
  const [first] = await Promise.all([
    say(tour, storyId, { ...answer, by: ben, body: `Before. @${femi.handle} knows why.`, mentions: [femi] }),
    say(tour, storyId, { ...answer, by: esra, body: 'It blocks two others.' }),
    say(tour, storyId, { ...answer, by: gwen, body: 'Customers have asked for it **twice** this week.' }),
    say(tour, storyId, { ...answer, by: sorter, body: 'Moved up; see the board.' }),
  ]);
  await say(tour, storyId, { by: scout, body: 'Then I start with it today. 🛠️', parent: first });
  const fans = [ana, ben, dmitri, esra, gwen];
  await Promise.all(fans.map(({ api }) => api.comments.react({ commentId: question.id, emoji: '👍' })));
  const { comment } = await ben.api.comments.resolve({ commentId: question.id });
  const truth = tour.comments.get(comment.id);
  truth?.reactions.set('👍', fans.length);
  if (truth !== undefined) truth.resolved = true;
}

async function decide(tour: Tour, storyId: string): Promise<void> {
  const { ana, chloe, dmitri } = tour.team;
  const bodyOf = (decision: string): string =>
    `Decided: ${decision}.\n\n- @${chloe.handle} writes it\n- @${dmitri.handle} reviews\n`;
  const { id } = await say(tour, storyId, {
    ...{ by: ana, kind: 'decision', body: bodyOf('it goes in'), mentions: [chloe, dmitri] },
  });
  const body = bodyOf('it goes in, behind a flag');
  await ana.api.comments.update({ commentId: id, body });
  const truth = tour.comments.get(id);
  if (truth !== undefined) truth.body = body;
}

/** Deletes comments. A deleted comment disappears, unless it has replies. */
async function deleteComments(tour: Tour, storyId: string): Promise<void> {
  const { ben, dmitri, femi } = tour.team;
  const slip = await say(tour, storyId, { by: dmitri, body: 'Wrong window, sorry.' });
  await dmitri.api.comments.delete({ commentId: slip.id });
  tour.comments.delete(slip.id);
  const root = await say(tour, storyId, { by: femi, body: 'Is there a measurement?' });
  await say(tour, storyId, { by: ben, body: 'Not yet.', parent: root });
  await femi.api.comments.delete({ commentId: root.id });
  const truth = tour.comments.get(root.id);
  if (truth !== undefined) truth.body = null;
}
