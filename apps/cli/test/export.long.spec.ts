/** `muster export`: it waits for the archive that the worker writes, downloads and verifies it. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { type AddressInfo } from 'node:net';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { exportKeysPath } from '@muster/contract';
import { runExport } from './export-archive.ts';
import { useMuster } from './muster.ts';
import { useStories } from './stories.ts';

const muster = useMuster();
const stories = useStories(muster);

const runExportCommand = (...args: string[]) => runExport(muster, stories.people, ...args);
const fileAt = (name: string): string => path.join(muster.home(), name);

describe('muster export', () => {
  it('downloads and verifies an archive, and does not overwrite a file', async () => {
    await stories.createStory('Sign in');
    const done = await runExportCommand('-o', 'all.tar.gz');
    expect(done).toMatchObject({ code: 0, err: '', out: expect.stringMatching(/^all\.tar\.gz: \d+ stor/) });
    expect(gunzipSync(await readFile(fileAt('all.tar.gz'))).toString('latin1', 0, 14)).toBe('members.ndjson');
    expect(await runExportCommand('-o', 'all.tar.gz')).toMatchObject({
      code: 2,
      err: expect.stringContaining('exists already'),
    });
    expect(await runExportCommand('verify', 'all.tar.gz')).toMatchObject({
      code: 0,
      out: expect.stringContaining('Digests and signature are valid.'),
    });
  });

  it('exports a project and own data to the name of the archive', async () => {
    const project = await runExportCommand('--project', 'WEB', '--json');
    expect(project).toMatchObject({ code: 0, err: '' });
    const { file, manifest } = JSON.parse(project.out) as { file: string; manifest: { scope: string } };
    expect([file, manifest.scope]).toEqual([
      expect.stringMatching(/^muster-.*-web-\d{4}-\d\d-\d\d\.tar\.gz$/),
      'project',
    ]);
    expect(await runExportCommand('--me')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/-ana-.*\.tar\.gz: /),
    });
  });

  it.each([
    ['the keys cannot be fetched', 503, '', 4],
    ['the keys are others', 200, '{"keys":[]}', 3],
  ])('leaves no file behind if %s', async (_problem, status, keys, code) => {
    // A server in front of the API that does not pass on the keys.
    const broken = createServer((incoming, answer) => {
      const { method, headers, url = '/' } = incoming;
      if (url === exportKeysPath) {
        answer.writeHead(status).end(keys);
        return;
      }
      incoming.pipe(
        request(new URL(url, muster.url()), { method, headers }, (answered) => {
          answer.writeHead(answered.statusCode ?? 502, answered.headers);
          answered.pipe(answer);
        }),
      );
    });
    await once(broken.listen(0, '127.0.0.1'), 'listening');
    const { port } = broken.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    expect(await runExportCommand('-o', 'none.tar.gz', '--base-url', url)).toMatchObject({ code });
    broken.closeAllConnections();
    broken.close();
    expect(await readdir(muster.home())).not.toContain('none.tar.gz.part');
  });

  it('says why it is refused', async () => {
    const refused = await muster.run(['export'], {
      cwd: muster.home(),
      env: muster.environmentOf(stories.people.chloe),
    });
    expect(refused).toMatchObject({ code: 3, err: expect.stringContaining('403') });
  });
});

describe('muster export verify', () => {
  /** Changes bytes of the uncompressed archive, and stores it under another name. */
  const change = async (name: string, edit: (tar: Buffer) => Buffer): Promise<string> => {
    await writeFile(fileAt(name), gzipSync(edit(gunzipSync(await readFile(fileAt('all.tar.gz'))))));
    return name;
  };
  const replace = (tar: Buffer, from: string, to: string): Buffer => {
    const at = tar.indexOf(from);
    tar.write(to, at);
    return tar;
  };

  it('finds changed records, manifests and signatures, and other keys', async () => {
    const record = await change('record.tar.gz', (tar) => replace(tar, 'Sign in', 'Sign up'));
    expect(await runExportCommand('verify', record)).toMatchObject({
      code: 3,
      err: expect.stringContaining('stories.ndjson was changed'),
    });
    const manifest = await change('manifest.tar.gz', (tar) =>
      replace(tar, '"scope": "org"', '"scope": "me" '),
    );
    expect(await runExportCommand('verify', manifest)).toMatchObject({
      code: 3,
      err: expect.stringContaining('the signature of manifest.json is wrong'),
    });
    // A digest that fits the changed record does not help, because the manifest is signed.
    const forged = await change('forged.tar.gz', (tar) => {
      const digestOf = (): string => {
        const start = tar.indexOf('stories.ndjson');
        const size = Number.parseInt(tar.toString('latin1', start + 124, start + 135), 8);
        return createHash('sha256')
          .update(tar.subarray(start + 512, start + 512 + size))
          .digest('hex');
      };
      const before = digestOf();
      replace(tar, 'Sign in', 'Sign up');
      return replace(tar, before, digestOf());
    });
    expect(await runExportCommand('verify', forged)).toMatchObject({
      code: 3,
      err: expect.stringContaining('signature'),
    });
    const keys = fileAt('keys.json');
    await writeFile(keys, JSON.stringify({ keys: [] }));
    expect(await runExportCommand('verify', 'all.tar.gz', '--keys', keys)).toMatchObject({
      code: 3,
      err: expect.stringContaining('which is not published'),
    });
  });

  it('reports an installation that does not answer as an outage', async () => {
    const verify = ['export', 'verify', 'all.tar.gz', '--base-url', 'http://127.0.0.1:1'];
    expect(await muster.run(verify, { cwd: muster.home() })).toMatchObject({
      ...{ code: 4, err: expect.stringContaining('no answer from http://127.0.0.1:1') },
    });
  });

  it('finds an archive that was cut, and files that are no archive', async () => {
    const whole = await readFile(fileAt('all.tar.gz'));
    await writeFile(fileAt('cut.tar.gz'), whole.subarray(0, whole.length - 200));
    await writeFile(fileAt('text.tar.gz'), 'not an archive');
    await writeFile(fileAt('empty.tar.gz'), gzipSync(Buffer.alloc(1_024)));
    for (const [name, problem] of [
      ['cut.tar.gz', 'not a complete archive'],
      ['text.tar.gz', 'not a complete archive'],
      ['empty.tar.gz', 'no signed manifest'],
      ['missing.tar.gz', 'cannot be read'],
    ] as const)
      expect(await runExportCommand('verify', name)).toMatchObject({
        code: 2,
        err: expect.stringContaining(problem),
      });
  });
});
