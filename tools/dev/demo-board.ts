import { type Client, connect } from '@muster/client';
import { type Pool } from '@muster/driver';
import { type StoryStatus } from '@muster/contract';
import { makeDemoHistory } from './demo-history.ts';
import { demoEpics, demoStories, type DemoComment, type DemoStory, type DemoPerson } from './demo-stories.ts';
import { makeWaiting } from './demo-waiting.ts';
import { type Tokens } from './dev-file.ts';

export const demoProjectKey = 'WEB';

/** The statuses that a story passes through before it reaches its current status. */
const wayTo: Record<StoryStatus, readonly StoryStatus[]> = {
  backlog: [],
  ready: ['ready'],
  in_progress: ['ready', 'in_progress'],
  in_review: ['ready', 'in_progress', 'in_review'],
  done: ['ready', 'in_progress', 'in_review', 'done'],
  canceled: ['canceled'],
};

/** Creates the project and its board with the public operations, each as the person who would call it. */
export async function makeDemoBoard(baseUrl: string, tokens: Tokens, pool: Pool): Promise<void> {
  const as = (token: string): Client => connect({ baseUrl, token });
  const people: Record<DemoPerson, Client> = {
    ana: as(tokens.owner),
    ben: as(tokens.admin),
    chloe: as(tokens.member),
    agent: as(tokens.agent),
  };
  const { project } = await people.ana.projects.create({
    key: demoProjectKey,
    name: 'Web shop',
    description: 'The shop at acme.example: catalogue, basket, checkout, account.',
    repository: { provider: 'github', url: 'https://github.com/acme-example/web-shop' },
    columns: [
      { name: 'Backlog', status: 'backlog' },
      { name: 'Ready', status: 'ready' },
      { name: 'In progress', status: 'in_progress', wipLimit: 5 },
      { name: 'In review', status: 'in_review', wipLimit: 4 },
      { name: 'Done', status: 'done' },
    ],
  });
  const epicIds = new Map<string, string>();
  for (const [name, epic] of Object.entries(demoEpics)) {
    const made = await people.ana.epics.create({ projectId: demoProjectKey, ...epic });
    epicIds.set(name, made.epic.id);
  }
  await makeDemoHistory(people, pool, project.id);
  const storyIds = new Map<string, string>();
  for (const story of demoStories)
    storyIds.set(story.title, await makeStory(people, story, epicIds, storyIds));
  await makeWaiting(people, storyIds);
}

async function makeStory(
  people: Record<DemoPerson, Client>,
  story: DemoStory,
  epicIds: ReadonlyMap<string, string>,
  storyIds: ReadonlyMap<string, string>,
): Promise<string> {
  const { by, epic, status, spec, comments, blockedBy, ...fields } = story;
  const author = people[by];
  const epicId = epic && epicIds.get(epic);
  const made = await author.stories.create({
    ...{ projectId: demoProjectKey, ...fields, ...(epicId !== undefined && { epicId }) },
    blockedBy: blockedBy.flatMap((title) => storyIds.get(title) ?? []),
  });
  const { id } = made.story;
  if (spec !== undefined) await writeSpec(people, author, id, spec);
  for (const step of wayTo[status]) await author.stories.updateStatus({ storyId: id, status: step });
  for (const comment of comments) await makeComment(people, id, comment);
  return id;
}

/** Writes the spec in two versions, so that it has a history. The first version lacks the last section. */
async function writeSpec(
  people: Record<DemoPerson, Client>,
  author: Client,
  storyId: string,
  content: string,
): Promise<void> {
  const draft = `${content.slice(0, content.lastIndexOf('\n\n'))}\n`;
  const { spec } = await author.storySpec.update({ storyId, content: draft, note: 'First draft' });
  await people.chloe.storySpec.update({
    storyId,
    content,
    baseVersion: spec.version,
    note: 'After refinement',
  });
}

async function makeComment(
  people: Record<DemoPerson, Client>,
  storyId: string,
  comment: DemoComment,
): Promise<void> {
  const { by: author, body: text, kind, replies, reactions, resolvedBy } = comment;
  const made = await people[author].comments.create({
    ...{ storyId, body: text, ...(kind !== undefined && { kind }) },
  });
  const root = made.comment.id;
  for (const { by, body } of replies) await people[by].comments.create({ storyId, body, parentId: root });
  for (const { by, emoji } of reactions) await people[by].comments.react({ commentId: root, emoji });
  if (resolvedBy !== undefined) await people[resolvedBy].comments.resolve({ commentId: root });
}
