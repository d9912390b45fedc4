/** Tests `muster ask` as an agent at work and as a script. */
import { describe, expect, it } from '@jest/globals';
import { waitUntil } from '@muster/testing';
import { useMuster } from './muster.ts';
import { useRunner } from './runner.ts';
import { useStories } from './stories.ts';

const muster = useMuster();
const stories = useStories(muster);
const { executionOf } = stories;
const runner = useRunner('branch: work/{key}-{epoch}\ncheckpoint: 1s\n');

async function makeStory(): Promise<string> {
  const { story } = await stories.chloe.stories.create({
    projectId: 'WEB',
    title: 'Say it',
    status: 'ready',
  });
  return story.key;
}
const startAgent = async (key: string, script: string) =>
  runner.start(
    await runner.clone(),
    [key, '--', 'sh', '-c', script],
    muster.environmentOf(stories.people.chloe),
  );

/** Returns the question on a story, as soon as there is one. */
async function findQuestion(key: string): Promise<string> {
  let id = '';
  await waitUntil(async () => {
    const { items } = await stories.chloe.comments.list({ storyId: key });
    id = items[0]?.id ?? '';
    return id !== '';
  });
  return id;
}
async function answer(storyId: string, questionId: string, body: string): Promise<void> {
  await stories.chloe.comments.create({ storyId, parentId: questionId, body });
  await stories.chloe.comments.resolve({ commentId: questionId });
}

describe('an agent', () => {
  it('asks, and is given the answer while its work waits', async () => {
    const key = await makeStory();
    const working = await startAgent(key, 'muster ask "Which color?" > answer.txt');
    const questionId = await findQuestion(key);
    expect(await executionOf(key)).toMatchObject({ state: 'waiting_input', waitingFor: { questionId } });
    await answer(key, questionId, 'Blue');
    expect(await working.ended).toBe(0);
    expect(await runner.git('show', `work/${key}-1:answer.txt`)).toBe('Chloé: Blue');
  });

  it('asks and ends, and is started again with the answer', async () => {
    const key = await makeStory();
    const script =
      'if grep "Blue" "$MUSTER_PROMPT_FILE" > answer.txt; then exit 0; fi; rm answer.txt; muster ask --no-wait "Which color?"';
    const working = await startAgent(key, script);
    await working.waitForEvent('waiting');
    expect(await executionOf(key)).toMatchObject({ state: 'waiting_input' });
    await answer(key, await findQuestion(key), 'Blue');
    expect(await working.ended).toBe(0);
    expect(await executionOf(key)).toMatchObject({ state: 'submitted' });
    expect(await runner.git('show', `work/${key}-1:answer.txt`)).toContain(
      'Your question was answered. Chloé: Blue',
    );
  });
});

describe('a script', () => {
  it('gets the question and its replies as JSON', async () => {
    const key = await makeStory();
    const asked = muster.runAs(stories.people.ben, 'ask', '--story', key, '--json', 'Which color?');
    await answer(key, await findQuestion(key), 'Blue');
    const { code, out } = await asked;
    expect([code, JSON.parse(out)]).toMatchObject([
      0,
      { comment: { kind: 'question', body: 'Which color?' }, replies: [{ body: 'Blue' }] },
    ]);
  });

  it('hears that the question or its story was deleted', async () => {
    const [one, other] = [await makeStory(), await makeStory()];
    const asked = [one, other].map((key) =>
      muster.runAs(stories.people.ben, 'ask', '--story', key, 'Which color?'),
    );
    await stories.chloe.comments.delete({ commentId: await findQuestion(one) });
    await findQuestion(other);
    await stories.chloe.stories.delete({ storyId: other });
    for (const { code, err } of await Promise.all(asked)) {
      expect(code).toBe(3);
      expect(err).toContain('the question was deleted before it was answered');
    }
  });

  it('has to name a story', async () => {
    expect(await muster.runAs(stories.people.ben, 'ask', 'Which color?')).toMatchObject({
      code: 2,
      err: expect.stringContaining('no story is given'),
    });
  });
});
