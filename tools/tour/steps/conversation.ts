import { type Comment } from '@muster/registry';
import { at, attempt, attemptAll, deal, tally, workTogether } from '../attempts.ts';
import { Check } from '../check.ts';
import { allStories } from '../pages.ts';
import { type Teammate } from '../team.ts';
import { type Step, type Tour } from '../tour-state.ts';

const storyCount = 12;
/** Each of them has up to eight calls on their way at once. */
const talksAtOnce = 4;

/** People and agents talk on the stories that are being worked on: questions, answers, decisions. */
export const conversation: Step = {
  name: 'People talk',
  run: async (tour) => {
    const stories = (await allStories(tour.team.ana, tour.projectId, 'updated', 50)).slice(0, storyCount);
    const alone = new Check('a comment is changed by its author only');
    const resolvedOnce = new Check('a thread resolved by several at once is resolved once');
    const tables = Array.from({ length: talksAtOnce }, (_, table) => table);
    await workTogether(deal(stories, tables), (table, { id }, turn) =>
      talk(tour, id, table + turn, alone, resolvedOnce),
    );
    alone.detail = resolvedOnce.detail = `${stories.length} stories`;
    tour.checks.push(alone, resolvedOnce);
    const words = [...tour.comments.values()].map(({ parentId }) => (parentId === null ? 'thread' : 'reply'));
    return `on ${stories.length} stories: ${tally(words)}`;
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
  tour: Tour,
  storyId: string,
  { by, body, mentions = [], parent, kind }: Saying,
): Promise<Comment> {
  const { comment } = await by.api.comments.create({
    ...{ storyId, body },
    ...(kind !== undefined && { kind }),
    ...(parent !== undefined && { parentId: parent.id }),
  });
  tour.comments.set(comment.id, {
    ...{ id: comment.id, storyId, body, resolved: false, reactions: new Map() },
    // A reply to a reply hangs under the root.
    parentId: parent === undefined ? null : (parent.parentId ?? parent.id),
    mentions: mentions.map(({ memberId }) => memberId),
  });
  return comment;
}

async function react(tour: Tour, { id }: Comment, by: Teammate, emoji: string, on = true): Promise<void> {
  await by.api.comments.react({ commentId: id, emoji, on });
  const reactions = tour.comments.get(id)?.reactions;
  const members = reactions?.get(emoji) ?? new Set<string>();
  if (on) members.add(by.memberId);
  else members.delete(by.memberId);
  reactions?.set(emoji, members);
}

async function talk(
  tour: Tour,
  storyId: string,
  index: number,
  alone: Check,
  resolvedOnce: Check,
): Promise<void> {
  const { ana, ben, chloe, dmitri, esra, femi, gwen, scout, sorter } = tour.team;
  const asker = at([chloe, dmitri, scout], index);
  const question = await say(tour, storyId, {
    ...{ by: asker, kind: 'question' },
    body: `@${ben.handle} @${esra.handle} do we need this before the release, or can it wait?`,
    mentions: [ben, esra],
  });
  // Answers come in at once, and each belongs under the question.
  const [answer] = await Promise.all([
    say(tour, storyId, {
      by: ben,
      body: `Before, please. @${femi.handle} knows why.`,
      mentions: [femi],
      parent: question,
    }),
    say(tour, storyId, { by: esra, body: 'It blocks two others.', parent: question }),
    say(tour, storyId, {
      by: gwen,
      body: 'Customers have asked for it **twice** this week.',
      parent: question,
    }),
    say(tour, storyId, { by: sorter, body: 'Moved up; see the board.', parent: question }),
  ]);
  const reply = await say(tour, storyId, {
    by: scout,
    body: 'Then I start with it today. 🛠️',
    parent: answer,
  });
  await Promise.all([
    ...[ana, ben, dmitri, esra, femi, gwen].map((person) => react(tour, question, person, '👍')),
    ...[ana, scout].map((person) => react(tour, reply, person, '🎉')),
  ]);
  await Promise.all([react(tour, question, femi, '👍', false), react(tour, question, femi, '👀')]);

  const decision = await say(tour, storyId, {
    ...{ by: ana, kind: 'decision' },
    body: `Decided: it goes in.\n\n- @${chloe.handle} writes it\n- @${dmitri.handle} reviews\n`,
    mentions: [chloe, dmitri],
  });
  const edited = `Decided: it goes in, behind a flag.\n\n- @${chloe.handle} writes it\n- @${dmitri.handle} reviews\n`;
  await ana.api.comments.update({ commentId: decision.id, body: edited });
  note(tour, decision, { body: edited });
  const foreign = await attempt(esra.api.comments.update({ commentId: decision.id, body: 'Not so fast.' }));
  alone.same(foreign.ok ? 'accepted' : foreign.refusal.status, 403, 'the answer to somebody else’s edit');

  const slip = await say(tour, storyId, { by: dmitri, body: 'Wrong window, sorry.' });
  await dmitri.api.comments.delete({ commentId: slip.id });
  tour.comments.delete(slip.id);
  const root = await say(tour, storyId, { by: femi, body: 'Is there a measurement?' });
  await say(tour, storyId, { by: ben, body: 'Not yet.', parent: root });
  await femi.api.comments.delete({ commentId: root.id });
  note(tour, root, { body: null });

  const outcomes = await attemptAll(
    [ana, ben, chloe].map(({ api }) => api.comments.resolve({ commentId: question.id })),
  );
  const versions = outcomes.map((outcome) => (outcome.ok ? outcome.result.comment.version : outcome.reason));
  const by = outcomes.map((outcome) =>
    outcome.ok ? outcome.result.comment.resolvedBy?.memberId : outcome.reason,
  );
  resolvedOnce.same(new Set(versions).size, 1, 'the number of different versions that the answers show');
  resolvedOnce.same(new Set(by).size, 1, 'the number of people who resolved it, by the answers');
  note(tour, question, { resolved: true });
}

function note(tour: Tour, { id }: Comment, change: { body?: string | null; resolved?: boolean }): void {
  const truth = tour.comments.get(id);
  if (truth !== undefined) Object.assign(truth, change);
}
