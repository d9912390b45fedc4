/** Files over HTTP: uploads that match what was declared, and uploads and downloads that are refused. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { rm, writeFile } from 'node:fs/promises';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Client } from '@muster/client';
import { maxAttachmentBytes } from '@muster/contract';
import { type AllHandlers } from '@muster/operations';
import { type People, waitUntil } from '@muster/testing';
import { type ApiInstance, useApi } from './api.ts';
import {
  createFilesFolder,
  declareFile,
  downloadFile,
  filesIn,
  pathOfAddress,
  putFile,
  storeFile,
} from './files.ts';

const folder = await createFilesFolder();
const api = useApi({ FILES_FOLDER: folder, LIMIT_UNKNOWN_TOKENS: '1000/0.01' });
afterAll(() => rm(folder, { recursive: true, force: true }));

let people: People<AllHandlers>;
let ana: Client;
let story: { id: string; key: string };
let projectId: string;
const storyTarget = () => ({ targetType: 'story' as const, targetId: story.key });

beforeEach(async () => {
  people = await api.org();
  ana = api.client(people.ana.me.token);
  ({ id: projectId } = (await ana.projects.create({ name: 'Web', key: 'WEB' })).project);
  ({ story } = await ana.stories.create({ projectId, title: 'Sign in' }));
});

const listOf = async (client: Client, on = storyTarget()) => (await client.attachments.list(on)).items;

describe('an upload', () => {
  it('makes the file visible, and has no effect when it is repeated', async () => {
    const { attachment, upload } = await declareFile(ana, storyTarget(), 'Hello');
    expect(attachment).toMatchObject({
      state: 'pending',
      downloadUrl: null,
      targetId: story.id,
      stale: false,
    });
    expect(await listOf(ana)).toEqual([]);

    for (let nth = 0; nth < 2; nth += 1)
      expect(await putFile(api, upload.url, 'Hello')).toMatchObject({ status: 200, body: { stored: true } });
    const [listed, ...others] = await listOf(ana);
    expect(others).toEqual([]);
    expect(listed).toMatchObject({ id: attachment.id, state: 'stored', name: 'note.txt', size: 5 });
    expect((await downloadFile(api, listed?.downloadUrl ?? null)).content.toString()).toBe('Hello');
    const { items } = await ana.activity.list({ projectId, limit: 5 });
    expect(items.filter(({ kind }) => kind === 'attachment.added')).toMatchObject([
      { subject: { key: story.key }, actor: { memberId: people.ana.me.memberId } },
    ]);
  });

  it('may have no content', async () => {
    const { downloadUrl } = await storeFile(api, ana, storyTarget(), '');
    expect((await downloadFile(api, downloadUrl)).content).toHaveLength(0);
  });

  it.each([
    ['another digest', 'Hullo'],
    ['another size', 'Hello!'],
  ])('with %s stores nothing, and can be sent again', async (_case, content) => {
    const before = await filesIn(folder);
    const { upload } = await declareFile(ana, storyTarget(), 'Hello');
    expect(await putFile(api, upload.url, content)).toMatchObject({
      status: 422,
      body: { code: 'unprocessable', details: { reason: 'upload_mismatch', expected: { size: 5 } } },
    });
    expect(await filesIn(folder)).toEqual(before);
    expect(await listOf(ana)).toEqual([]);
    expect((await putFile(api, upload.url, 'Hello')).status).toBe(200);
    expect(await putFile(api, upload.url, content)).toMatchObject({ status: 422 });
    expect(await listOf(ana)).toHaveLength(1);
  });

  it('of more than 50 MiB is refused, whether or not it states its length', async () => {
    const { upload } = await declareFile(ana, storyTarget(), 'Hello');
    const stated = await new Promise<number | undefined>((resolve, reject) => {
      const sent = request(new URL(pathOfAddress(upload.url), api.url()), {
        method: 'PUT',
        headers: { 'content-length': String(maxAttachmentBytes + 1) },
      });
      sent.on('response', ({ statusCode }) => {
        resolve(statusCode);
        sent.destroy();
      });
      sent.on('error', reject);
      sent.flushHeaders();
    });
    expect(stated).toBe(413);
    let chunks = 0;
    const chunked = await fetch(new URL(pathOfAddress(upload.url), api.url()), {
      ...{ method: 'PUT', duplex: 'half' },
      body: new ReadableStream({
        pull: (controller) => {
          controller.enqueue(new Uint8Array(1024 * 1024));
          chunks += 1;
          if (chunks > 52) controller.close();
        },
      }),
    });
    expect(chunked.status).toBe(413);
    expect(await listOf(ana)).toEqual([]);
  });

  it('that is cut leaves nothing', async () => {
    const before = await filesIn(folder);
    const { upload } = await declareFile(ana, storyTarget(), 'x'.repeat(100_000));
    const sent = request(new URL(pathOfAddress(upload.url), api.url()), {
      method: 'PUT',
      headers: { 'content-length': '100000' },
    });
    sent.on('error', () => undefined);
    sent.write('x'.repeat(60_000));
    await waitUntil(async () => (await filesIn(folder)).length > before.length);
    sent.destroy();
    await waitUntil(async () => (await filesIn(folder)).length === before.length);
    expect(await listOf(ana)).toEqual([]);
  });

  it('to a storage that is away leaves the attachment pending', async () => {
    const { attachment, upload } = await declareFile(ana, storyTarget(), 'Hello');
    const place = `${folder}/${people.orgId}`;
    // A file in place of the organization's folder, because the owner of a read-only folder may be root.
    await writeFile(place, '');
    expect(await putFile(api, upload.url, 'Hello')).toMatchObject({
      status: 503,
      body: { details: { reason: 'files_away', retryable: true } },
    });
    await rm(place);
    expect((await ana.attachments.get({ attachmentId: attachment.id })).attachment.state).toBe('pending');
    expect((await putFile(api, upload.url, 'Hello')).status).toBe(200);
  });

  it('to an attachment that was deleted is 404 and stores nothing', async () => {
    const { attachment, upload } = await declareFile(ana, storyTarget(), 'Hello');
    await ana.attachments.delete({ attachmentId: attachment.id });
    const before = await filesIn(folder);
    expect((await putFile(api, upload.url, 'Hello')).status).toBe(404);
    expect(await filesIn(folder)).toEqual(before);
  });

  it('is not accepted at a forged address', async () => {
    const { attachment, upload } = await declareFile(ana, storyTarget(), 'Hello');
    await putFile(api, upload.url, 'Hello');
    const { downloadUrl } = (await ana.attachments.get({ attachmentId: attachment.id })).attachment;
    const forged = [
      upload.url.replace(/expires=(\d)/, (_all, digit: string) => `expires=${(Number(digit) % 9) + 1}`),
      upload.url.replace(/signature=(.)/, (_all, sign: string) => `signature=${sign === 'A' ? 'B' : 'A'}`),
      upload.url.replace(/&signature=.*/, ''),
      downloadUrl ?? '',
    ];
    for (const url of forged)
      expect(await putFile(api, url, 'Hello')).toMatchObject({
        status: 401,
        body: { details: { reason: 'file_signature' } },
      });
    expect((await downloadFile(api, upload.url)).status).toBe(401);
  });
});

describe('a virus scanner', () => {
  const virus = 'X5O!P%@AP and so on';
  const upload = async (at: ApiInstance, content: string) => {
    const { attachment, upload: address } = await declareFile(ana, storyTarget(), content);
    const { status, body } = await putFile(at, address.url, content);
    const { state } = (await ana.attachments.get({ attachmentId: attachment.id })).attachment;
    return { outcome: [status, state, body.details?.['reason'] ?? null], url: address.url };
  };

  /** Expects that the API refuses the virus, and that clean files become visible. */
  const expectScans = async (at: ApiInstance) => {
    const before = await filesIn(folder);
    expect((await upload(at, virus)).outcome).toEqual([422, 'pending', 'upload_infected']);
    expect(await filesIn(folder)).toEqual(before);
    expect((await upload(at, 'clean')).outcome).toEqual([200, 'stored', null]);
  };

  it('that is a command decides by its exit code, and keeps files pending while it is away', async () => {
    const script = `${folder}/scan.sh`;
    await writeFile(script, `if grep -q X5O "$1"; then exit 1; fi`);
    const scanned = await api.startReplica({ FILES_SCAN_COMMAND: `sh ${script}` });
    await expectScans(scanned);
    await writeFile(script, 'exit 2');
    const { outcome, url } = await upload(scanned, 'later');
    expect(outcome).toEqual([503, 'pending', 'scanner_away']);
    await writeFile(script, 'exit 0');
    expect((await putFile(scanned, url, 'later')).status).toBe(200);
    await scanned.stop();
    const missing = await api.startReplica({ FILES_SCAN_COMMAND: '/no/such/scanner' });
    expect((await upload(missing, 'x')).outcome).toEqual([503, 'pending', 'scanner_away']);
    await missing.stop();
    await rm(script);
  });

  it('at an address gets the bytes, and decides by its status', async () => {
    const scanner = createServer((call, answer) => {
      void text(call).then((content) => {
        answer.writeHead(content.includes('X5O') ? 406 : content === 'unclear' ? 500 : 200).end();
      });
    });
    await once(scanner.listen(0, '127.0.0.1'), 'listening');
    const { port } = scanner.address() as AddressInfo;
    const scanned = await api.startReplica({ FILES_SCAN_URL: `http://127.0.0.1:${port}/scan` });
    await expectScans(scanned);
    expect((await upload(scanned, 'unclear')).outcome).toEqual([503, 'pending', 'scanner_away']);
    scanner.closeAllConnections();
    scanner.close();
    expect((await upload(scanned, 'clean')).outcome).toEqual([503, 'pending', 'scanner_away']);
    await scanned.stop();
  });
});

describe('a download', () => {
  const attach = async (content: string, more: object) =>
    (await storeFile(api, ana, storyTarget(), content, more)).downloadUrl;

  it.each(['image/svg+xml', 'text/html', 'application/pdf'])(
    'of %s never runs in a page',
    async (contentType) => {
      const url = await attach('<svg onload="alert(1)"/>', { contentType, name: 'x.svg' });
      const { status, headers } = await downloadFile(api, url);
      expect(status).toBe(200);
      expect(headers.get('content-type')).toBe('application/octet-stream');
      expect(headers.get('content-disposition')).toMatch(/^attachment; filename="x.svg"/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toContain('sandbox');
    },
  );

  it('of an image is shown in the page', async () => {
    const url = await attach('png', { contentType: 'image/png', name: 'x.png', kind: 'screenshot' });
    expect((await downloadFile(api, url)).headers.get('content-type')).toBe('image/png');
  });

  it('of a part has the bytes that a range names', async () => {
    const url = await attach('0123456789', { contentType: 'video/mp4', name: 'x.mp4', kind: 'video' });
    const part = (range: string, more: Record<string, string> = {}) =>
      fetch(new URL(pathOfAddress(url ?? ''), api.url()), { headers: { range, ...more } });
    const whole = await part('bytes=20-');
    expect([whole.status, whole.headers.get('accept-ranges')]).toEqual([200, 'bytes']);
    expect(await whole.text()).toBe('0123456789');
    const { status, headers } = await part('bytes=2-4');
    expect([status, headers.get('content-range'), headers.get('content-length')]).toEqual([
      206,
      'bytes 2-4/10',
      '3',
    ]);
    expect(headers.get('content-security-policy')).toContain('sandbox');
    expect(await (await part('bytes=-3')).text()).toBe('789');
    const etag = whole.headers.get('etag') ?? '';
    expect((await part('bytes=0-1', { 'if-range': etag })).status).toBe(206);
    expect((await part('bytes=0-1', { 'if-range': '"other"' })).status).toBe(200);
  });

  it('is 404 after the attachment or its project was deleted', async () => {
    const first = await attach('Hello', {});
    const [attachment] = await listOf(ana);
    await ana.attachments.delete({ attachmentId: attachment?.id ?? '' });
    expect((await downloadFile(api, first)).status).toBe(404);
    const second = await attach('Hello', {});
    await ana.projects.delete({ projectId, confirmKey: 'WEB' });
    expect((await downloadFile(api, second)).status).toBe(404);
  });
});

describe('names', () => {
  it.each(['../../etc/passwd', 'a/b.txt', 'a\\b.txt', '..', 'a\u0000b', 'a\nb', ''])(
    'such as %j are refused',
    async (name) => {
      await expect(declareFile(ana, storyTarget(), 'x', { name })).rejects.toMatchObject({ status: 400 });
    },
  );

  it('are kept, and never used as paths', async () => {
    const name = '..%2f..%2fetc "quoted"; é.txt';
    const attachment = await storeFile(api, ana, storyTarget(), 'x', { name });
    expect(attachment.name).toBe(name);
    expect(await filesIn(folder)).toContain(attachment.id);
  });
});

describe('access', () => {
  it('viewers attach files to comments only', async () => {
    const dan = api.client(people.dan.me.token);
    await expect(declareFile(dan, storyTarget(), 'x')).rejects.toMatchObject({ status: 403, reason: 'role' });
    const { comment } = await dan.comments.create({ storyId: story.id, body: 'See the file.' });
    const on = { targetType: 'comment' as const, targetId: comment.id };
    const attachment = await storeFile(api, dan, on, 'x');
    expect(await listOf(dan, on as never)).toMatchObject([{ id: attachment.id, storyId: story.id }]);
    expect((await ana.attachments.list({ ...storyTarget(), includeParts: true })).items).toHaveLength(1);
    expect(await listOf(ana)).toEqual([]);
  });

  it('authors and leads delete an attachment, others do not', async () => {
    const chloe = api.client(people.chloe.me.token);
    const { attachment } = await declareFile(ana, storyTarget(), 'x');
    await expect(chloe.attachments.delete({ attachmentId: attachment.id })).rejects.toMatchObject({
      status: 403,
    });
    const { attachment: own } = await declareFile(chloe, storyTarget(), 'x');
    await chloe.attachments.delete({ attachmentId: own.id });
    const { attachment: theirs } = await declareFile(chloe, storyTarget(), 'x');
    await ana.attachments.delete({ attachmentId: theirs.id });
  });

  it('deleting a comment or a story deletes their attachments', async () => {
    const { comment } = await ana.comments.create({ storyId: story.id, body: 'See the file.' });
    await ana.comments.create({ storyId: story.id, body: 'Thanks.', parentId: comment.id });
    const { attachment } = await declareFile(ana, { targetType: 'comment', targetId: comment.id }, 'x');
    const { attachment: other } = await declareFile(ana, storyTarget(), 'x');
    await ana.comments.delete({ commentId: comment.id });
    await expect(ana.attachments.get({ attachmentId: attachment.id })).rejects.toMatchObject({ status: 404 });
    await ana.stories.delete({ storyId: story.id });
    await expect(ana.attachments.get({ attachmentId: other.id })).rejects.toMatchObject({ status: 404 });
  });
});

describe('evidence', () => {
  const passed = '<testsuite><testcase name="a"/></testsuite>';
  const failed = '<testsuite><testcase name="a"><failure/></testcase></testsuite>';
  const report = (content: string) => {
    const more = { kind: 'test_report', name: 'junit.xml', contentType: 'application/xml' } as const;
    return storeFile(api, ana, storyTarget(), content, more);
  };
  const push = (headSha: string) => ana.stories.updateGitMeta({ storyId: story.id, git: { headSha } });
  const finish = () => ana.stories.updateStatus({ storyId: story.id, status: 'done' });
  const refusal = {
    reason: 'policy',
    body: { details: { unmet: [{ gate: 'requireEvidence', missing: ['test_report'] }] } },
  };

  it('is required by the policy, must have passed, and is stale when the head moves', async () => {
    await ana.policy.update({ requireEvidence: ['test_report'] });
    await push('aaaa111');
    await expect(finish()).rejects.toMatchObject(refusal);
    expect(await report(failed)).toMatchObject({
      ...{ headSha: 'aaaa111', stale: false },
      report: { tests: 1, failures: 1, failed: ['a'] },
    });
    await expect(finish()).rejects.toMatchObject(refusal);
    await report(passed);
    await push('bbbb222');
    expect(await listOf(ana)).toMatchObject([{ stale: true }, { stale: true }]);
    expect((await ana.attachments.list({ ...storyTarget(), includeStale: false })).items).toEqual([]);
    await expect(finish()).rejects.toMatchObject(refusal);
    await report(passed);
    expect((await ana.attachments.list({ ...storyTarget(), includeStale: false })).items).toHaveLength(1);
    expect((await finish()).story.status).toBe('done');
  });

  it('of an execution counts while it is the last one', async () => {
    await ana.policy.update({ requireEvidence: ['log'] });
    const robo = api.client(people.robo.me.token);
    const { execution, leaseToken } = await robo.deliveryExecutions.acquire({
      targetType: 'story',
      targetId: story.id,
    });
    const on = { targetType: 'execution', targetId: execution.id } as const;
    await storeFile(api, robo, on, 'x', { kind: 'log' });
    await robo.deliveryExecutions.release({ executionId: execution.id, leaseToken });
    expect((await finish()).story.status).toBe('done');
  });
});

it('an organization has a quota that concurrent calls cannot exceed', async () => {
  const small = await api.startReplica({ FILES_PER_ORGANIZATION: '10' });
  const client = small.client(people.ana.me.token);
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => declareFile(client, storyTarget(), 'Hello')));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
  expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: { reason: 'limit_exceeded' },
  });
  await small.stop();
});

it('the quota counts the files of deleted stories, which can be restored', async () => {
  const small = await api.startReplica({ FILES_PER_ORGANIZATION: '10' });
  const client = small.client(people.ana.me.token);
  const { story } = await client.stories.create({ projectId: 'WEB', title: 'Deleted' });
  for (const content of ['Hello', 'World'])
    await declareFile(client, { targetType: 'story', targetId: story.id }, content);
  await client.stories.delete({ storyId: story.id });
  await expect(declareFile(client, storyTarget(), 'x')).rejects.toMatchObject({ reason: 'limit_exceeded' });
  await small.stop();
});

describe('readiness', () => {
  const readiness = async (at: { url: () => string }) => {
    const response = await fetch(`${at.url()}/readyz`);
    const { checks } = (await response.json()) as { checks: Record<string, string> };
    return { status: response.status, checks };
  };

  it('fails in a copy with another folder, unless the folder is declared as shared', async () => {
    expect(await readiness(api)).toMatchObject({ status: 200, checks: { files: 'ok', files_shared: 'ok' } });
    const another = await createFilesFolder();
    const alone = await api.startReplica({ FILES_FOLDER: another });
    expect(await readiness(alone)).toMatchObject({ status: 503, checks: { files_shared: 'away' } });
    const declared = await api.startReplica({ FILES_FOLDER: another, FILES_SHARED: 'true' });
    expect((await readiness(declared)).status).toBe(200);
    await Promise.all([alone.stop(), declared.stop()]);
    await rm(another, { recursive: true });
  });

  it('is degraded while the folder is away', async () => {
    const another = await createFilesFolder();
    await rm(another, { recursive: true });
    await writeFile(another, '');
    const copy = await api.startReplica({ FILES_FOLDER: another, FILES_SHARED: 'true' });
    expect(await readiness(copy)).toMatchObject({ status: 200, checks: { files: 'away' } });
    await copy.stop();
    await rm(another);
  });
});
