/** Tests `muster work --serve`, which starts a run for each story that a member assigns or mentions an agent on. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { type Client } from '@muster/client';
import { useMuster } from './muster.ts';
import { type Clone, type StartedRunner, useRunner } from './runner.ts';
import { useStories } from './stories.ts';

const muster = useMuster();
const stories = useStories(muster);
const { createStory: story, executionOf } = stories;
const runner = useRunner('branch: work/{key}-{epoch}\ncheckpoint: 1s\n');

const serve = (clone: Clone, agent: string, script: string, ...flags: string[]): StartedRunner =>
  runner.start(clone, ['--serve', '--agent', agent, ...flags, '--', 'sh', '-c', script], {
    ...muster.environmentOf(stories.people.chloe),
  });
const assign = (who: Client, key: string, agent: string) =>
  who.assignments.set({ targetType: 'story', targetId: key, agentId: agent });
const storiesOf = ({ receivedEvents: told }: StartedRunner, wanted: string) =>
  told.flatMap(({ event, story: key }) => (event === wanted ? [key] : []));
const responseOf = async (key: string) =>
  (await stories.chloe.stories.get({ storyId: key })).agentResponse?.state;

describe('muster work --serve', () => {
  it('starts a run for an assignment and for a mention by a contributor, and for no one else', async () => {
    const [assigned, mentioned, viewed] = [await story(), await story(), await story()];
    const clone = await runner.clone();
    const ana = muster.apiClient(stories.people.ana);
    const working = serve(clone, 'helper', 'cat > prompt.txt; echo good > answer.txt');
    await working.waitForEvent('listening');
    await muster
      .apiClient(stories.people.dan)
      .comments.create({ storyId: viewed, body: '@helper please look at this' });
    await assign(ana, assigned, 'helper');
    await working.waitForEvent('over', new RegExp(`^submitted: ${assigned} `));
    await ana.comments.create({ storyId: mentioned, body: '@helper please use the new form' });
    await working.waitForEvent('over', new RegExp(`^submitted: ${mentioned} `));
    expect(storiesOf(working, 'taken')).toEqual([assigned, mentioned]);
    expect(await executionOf(viewed)).toBeNull();
    const prompt = await runner.git('show', `work/${mentioned}-1:prompt.txt`);
    expect(prompt).toMatch(/## What is new\n\nAna mentioned you on .*please use the new form/);
    working.kill('SIGTERM');
    expect(await working.ended).toBe(0);
    const { items } = await stories.chloe.tokens.list({});
    expect(items.filter(({ name }) => name.includes('/serve-'))).toEqual([]);
  });

  it('loses and repeats no request when it is killed while one run works and another request waits', async () => {
    const [first, second] = [await story(), await story()];
    const [clone, place] = [await runner.clone(), await runner.folder()];
    const ana = muster.apiClient(stories.people.ana);
    const script = `echo $MUSTER_STORY >> ${place}/starts; echo good > answer.txt; until [ -e ${place}/go ]; do sleep 0.1; done`;
    const killed = serve(clone, 'worker', script);
    await killed.waitForEvent('listening');
    await assign(ana, first, 'worker');
    await killed.waitForEvent('checkpoint');
    await assign(ana, second, 'worker');
    expect(await responseOf(second)).toBe('busy');
    expect(await responseOf(first)).toBe('picked_up');
    killed.kill('SIGKILL');
    await killed.ended;
    await writeFile(path.join(place, 'go'), '');
    const again = serve(clone, 'worker', script);
    await again.waitForEvent('adopted');
    for (const key of [first, second]) await again.waitForEvent('over', new RegExp(`^submitted: ${key} `));
    // A later request shows that the earlier ones were handled.
    const third = await story();
    await assign(ana, third, 'worker');
    await again.waitForEvent('over', new RegExp(`^submitted: ${third} `));
    again.kill('SIGTERM');
    expect(await again.ended).toBe(0);
    expect((await readFile(path.join(place, 'starts'), 'utf8')).trim().split('\n')).toEqual([
      ...[first, first],
      ...[second, third],
    ]);
    for (const key of [first, second, third])
      expect(await executionOf(key)).toMatchObject({ state: 'submitted', attempt: 1 });
  });

  it('continues after a restart the work that it released when it was ended', async () => {
    const [key, clone, place] = [await story(), await runner.clone(), await runner.folder()];
    const script = `echo good > answer.txt; until [ -e ${place}/go ]; do sleep 0.1; done`;
    const ended = serve(clone, 'stopper', script);
    await ended.waitForEvent('listening');
    await assign(muster.apiClient(stories.people.ana), key, 'stopper');
    await ended.waitForEvent('checkpoint');
    ended.kill('SIGTERM');
    expect(await ended.ended).toBe(1);
    expect(await executionOf(key)).toMatchObject({ state: 'available' });
    await mkdir(path.join(place, 'go'));
    const again = serve(clone, 'stopper', script);
    await again.waitForEvent('over', new RegExp(`^submitted: ${key} `));
    again.kill('SIGTERM');
    expect(await again.ended).toBe(0);
    expect(await executionOf(key)).toMatchObject({ state: 'submitted', attempt: 2 });
  });

  it('refuses flags that select work in another way', async () => {
    const working = serve(await runner.clone(), 'helper', 'true', '--next');
    expect(await working.ended).toBe(2);
    expect(working.receivedEvents.map(({ message }) => message).join('\n')).toContain(
      '--serve can be combined only',
    );
  });
});
