/** A client generated from /openapi.json. */
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { useApi } from './api.ts';
import { usePrograms } from './programs.ts';

const api = useApi();
const programs = usePrograms();

describe('a client generated from it', () => {
  beforeAll(async () => {
    const { text } = await api.request('/openapi.json', { method: 'GET' });
    await programs.write('openapi.json', text);
    const manifest = createRequire(import.meta.url).resolve('openapi-typescript/package.json');
    const generator = path.join(path.dirname(manifest), 'bin/cli.js');
    await promisify(execFile)(process.execPath, [
      generator,
      programs.path('openapi.json'),
      '--output',
      programs.path('api.ts'),
    ]);
  });

  const program = (calls: string): string => `
    import createClient from 'openapi-fetch';
    import { type components, type paths } from './api.ts';
    const { BASE_URL = '', TOKEN = '' } = process.env;
    const api = createClient<paths>({ baseUrl: BASE_URL, headers: { authorization: \`Bearer \${TOKEN}\` } });
    ${calls}
  `;

  let complaints: Awaited<ReturnType<typeof programs.compile>>;

  beforeAll(async () => {
    await programs.write(
      'good.ts',
      program(`
        const written = await api.POST('/api/stories/create', {
          params: { header: { 'Idempotency-Key': 'once' } },
          body: { projectId: 'WEB', title: 'Sign in' },
        });
        const key: string | undefined = written.data?.story.key;
        const list = await api.POST('/api/stories/list', { body: { projectId: 'WEB' } });
        const titles: string[] | undefined = list.data?.items.map(({ title }) => title);
        const any = await api.POST('/api/query', { body: { operation: 'stories.get', params: { storyId: 'WEB-1' } } });
        const refused = await api.POST('/api/stories/updateStatus', {
          body: { storyId: 'WEB-1', status: 'done', expectedVersion: 99 },
        });
        const error: components['schemas']['Error'] | undefined = refused.error;
        console.log(JSON.stringify({
          key, titles, story: (any.data?.['story'] as { key: string }).key,
          refused: [refused.response.status, error?.code, error?.details?.reason],
        }));
      `),
    );
    await programs.write(
      'bad.ts',
      program(`
        await api.POST('/api/stories/shred', { body: {} });
        await api.POST('/api/stories/create', { body: { projectId: 'WEB' } });
        const { data } = await api.POST('/api/stories/get', { body: { storyId: 'WEB-1' } });
        console.log(data?.story.colour, {} satisfies Partial<components['schemas']['Error']>);
      `),
    );
    complaints = await programs.compile('good.ts', 'bad.ts');
  });

  it('compiles, reads, writes, and hears a refusal by its type', async () => {
    const { ana } = await api.org();
    await ana.projects.create({ key: 'WEB', name: 'Website' });
    expect(Object.keys(complaints)).toEqual(['bad.ts']);
    const printed = await programs.run('good.ts', { BASE_URL: api.url(), TOKEN: ana.me.token });
    expect(JSON.parse(printed)).toEqual({
      key: 'WEB-1',
      titles: ['Sign in'],
      story: 'WEB-1',
      refused: [409, 'conflict', 'version_mismatch'],
    });
  });

  it('lets nobody call what there is not, leave out what is needed, or read what never comes', () => {
    expect(complaints['bad.ts']?.match(/error TS/g)).toHaveLength(3);
    for (const word of ['/api/stories/shred', "'title' is missing", "'colour' does not exist"])
      expect(complaints['bad.ts']).toContain(word);
  });
});
