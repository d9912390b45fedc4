import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type Kind, useForge } from './forge.ts';
import { useMuster } from './muster.ts';
import { type Clone, type TestRunner, useRunner, type StartedRunner } from './runner.ts';
import { useStories } from './stories.ts';

const muster = useMuster();
const stories = useStories(muster);
const { executionOf } = stories;

const secret = 'of-the-person';
const kinds = [
  ['github', 'GH_ENTERPRISE_TOKEN', `Bearer ${secret}`],
  ['gitlab', 'GITLAB_TOKEN', `Bearer ${secret}`],
  ['forgejo', 'FORGEJO_TOKEN', `token ${secret}`],
] as const satisfies readonly (readonly [Kind, string, string])[];

interface ForgeSetup {
  readonly forge: ReturnType<typeof useForge>;
  readonly runner: TestRunner;
}

/** Creates a clone whose remote address is at the forge, while git uses the bare repository. */
async function cloneAt({ forge, runner }: ForgeSetup): Promise<Clone> {
  const clone = await runner.clone();
  const remote = `${forge.url()}/acme/web.git`;
  await clone.git('config', `url.${runner.origin()}.insteadOf`, remote);
  await clone.git('remote', 'set-url', 'origin', remote);
  return clone;
}

const newStory = async (): Promise<string> => {
  const { story } = await stories.chloe.stories.create({
    projectId: 'WEB',
    title: 'Say it',
    status: 'ready',
  });
  return story.key;
};

const runWork = (
  place: ForgeSetup,
  clone: Clone,
  key: string,
  env: Readonly<Record<string, string>>,
): StartedRunner =>
  place.runner.start(clone, [key, '--', 'sh', '-c', 'env > env.txt; echo good > answer.txt'], {
    ...muster.environmentOf(stories.people.chloe),
    ...env,
  });

describe.each(kinds)('the pull request at %s', (kind, variable, authorization) => {
  const config = `forge: ${kind}\nbranch: work/{key}-{epoch}\npullRequest: draft\n`;
  const place: ForgeSetup = { forge: useForge(kind), runner: useRunner(config) };
  const { forge, runner } = place;
  beforeEach(() => {
    forge.clear();
  });

  it('is opened once the branch is there, with the credentials of the person, which no agent sees', async () => {
    const [key, clone] = [await newStory(), await cloneAt(place)];
    const working = runWork(place, clone, key, { [variable]: secret });
    expect(await working.ended).toBe(0);
    const execution = await executionOf(key);
    expect(forge.opened).toEqual([
      {
        ...{ number: 1, title: `${key} Say it`, branch: `work/${key}-1`, base: 'main', isDraft: true },
        ...{ from: 1, body: `${key} Say it\n\nMuster-Execution: ${execution?.id ?? ''}` },
      },
    ]);
    const { message } = await working.waitForEvent('pull_request');
    expect(execution).toMatchObject({ state: 'submitted', pullRequest: { number: 1 } });
    expect(message).toBe(`opened ${execution?.pullRequest?.url ?? ''}`);
    expect(forge.calls.map(({ headers }) => headers.authorization)).toEqual([authorization, authorization]);
    expect(await runner.git('show', `work/${key}-1:env.txt`)).not.toContain(secret);
  });

  it('is one, though the runner was killed when it was opened', async () => {
    const [key, clone] = [await newStory(), await cloneAt(place)];
    const first = runWork(place, clone, key, { [variable]: secret });
    const opened = new Promise<void>((resolve) => {
      forge.onOpen = () => {
        resolve();
      };
    });
    await opened;
    first.kill('SIGKILL');
    expect(await first.ended).toBeNull();
    expect(await executionOf(key)).toMatchObject({ state: 'leased' });
    forge.onOpen = undefined;
    const again = runWork(place, clone, key, { [variable]: secret });
    expect(await again.ended).toBe(0);
    expect((await again.waitForEvent('pull_request')).message).toMatch(/^found /);
    expect(forge.opened).toHaveLength(1);
    expect(await executionOf(key)).toMatchObject({ state: 'submitted', pullRequest: { number: 1 } });
  });

  it('is taken as it is where another opened it in between, but not of another repository', async () => {
    const [key, clone] = [await newStory(), await cloneAt(place)];
    const other = { number: 1, title: 'x', body: '', branch: `work/${key}-1`, base: 'main', isDraft: false };
    forge.opened.push({ ...other, from: 1 }, { ...other, number: 2, from: 2 });
    forge.blind = 1;
    const working = runWork(place, clone, key, { [variable]: secret });
    expect(await working.ended).toBe(0);
    expect(forge.calls.map(({ method }) => method)).toEqual(['GET', 'POST', 'GET']);
    expect(await executionOf(key)).toMatchObject({ pullRequest: { number: 1 } });
  });

  it('is left out where there are no credentials, and the branch is handed in', async () => {
    const [key, clone] = [await newStory(), await cloneAt(place)];
    const working = runWork(place, clone, key, {});
    expect(await working.ended).toBe(0);
    expect(forge.calls).toEqual([]);
    expect((await working.waitForEvent('warning')).message).toContain(
      'no pull request: there are no credentials',
    );
    expect(await executionOf(key)).toMatchObject({ state: 'submitted', pullRequest: null });
  });

  it('is left out, with what the forge said, where the forge refuses', async () => {
    const [key, clone] = [await newStory(), await cloneAt(place)];
    forge.onOpen = (response) => {
      response.writeHead(403, { 'content-type': 'application/json' }).end('{"message":"Not yours"}');
    };
    const working = runWork(place, clone, key, { [variable]: secret });
    expect(await working.ended).toBe(0);
    expect((await working.waitForEvent('warning')).message).toMatch(
      /answered 403: \{"message":"Not yours"\}/,
    );
    expect(forge.calls).toHaveLength(2);
    expect(await executionOf(key)).toMatchObject({ state: 'submitted', pullRequest: null });
  });
});

describe('the credentials of a forge', () => {
  const place: ForgeSetup = {
    forge: useForge('github'),
    runner: useRunner('forge: github\nbranch: work/{key}-{epoch}\n'),
  };

  it("are those of the forge's own command line where the environment has none, and GitHub's go to no other host", async () => {
    const [key, clone, folder] = [await newStory(), await cloneAt(place), await place.runner.folder()];
    const bin = path.join(folder, 'bin');
    await mkdir(bin);
    const { host } = new URL(place.forge.url());
    const gh = `#!/bin/sh\n[ "$*" = "auth token --hostname ${host}" ] && echo of-gh\n`;
    await writeFile(path.join(bin, 'gh'), gh, { mode: 0o755 });
    const env = { PATH: `${bin}:${process.env['PATH'] ?? ''}`, GH_TOKEN: 'of github.com' };
    expect(await runWork(place, clone, key, env).ended).toBe(0);
    expect(place.forge.calls[0]?.headers.authorization).toBe('Bearer of-gh');
    expect(place.forge.opened).toMatchObject([{ isDraft: false }]);
  });
});
