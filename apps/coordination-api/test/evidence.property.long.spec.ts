/**
 * Property: whatever is uploaded, and however an upload ends, nobody sees a file before all of its bytes are stored, no
 * file runs in the origin of the console, and no other organization can read it.
 */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Client } from '@muster/client';
import { type Attachment } from '@muster/contract';
import { type AllHandlers } from '@muster/operations';
import { type People, startApp } from '@muster/testing';
import { browserFlags, findBrowser } from '@muster/testing/browser';
import fc from 'fast-check';
import { type Browser, chromium } from 'playwright-core';
import { useApi } from './api.ts';
import { createFilesFolder, declareFile, downloadFile, pathOfAddress, putFile, storeFile } from './files.ts';

const folder = await createFilesFolder();
const api = useApi({ FILES_FOLDER: folder, LIMIT_UNKNOWN_TOKENS: '100000/0.001' });
afterAll(() => rm(folder, { recursive: true, force: true }));

let people: People<AllHandlers>;
let ana: Client;
let storyId: string;
const target = () => ({ targetType: 'story' as const, targetId: storyId });

async function createStory(owner: Client): Promise<string> {
  const { project } = await owner.projects.create({ name: 'Web', key: 'WEB' });
  return (await owner.stories.create({ projectId: project.id, title: 'Sign in' })).story.id;
}
beforeEach(async () => {
  people = await api.org();
  ana = api.client(people.ana.me.token);
  storyId = await createStory(ana);
});

/** Signs a download address with the key of an organization, also for a file that has none. */
async function signDownload(signerOrgId: string, orgId: string, attachmentId: string): Promise<string> {
  const [row] = await api.world.rows<{ key: Buffer }>(
    'select cursor_key as key from streams where org_id = $1',
    signerOrgId,
  );
  const expires = Date.now() + 60_000;
  const signature = createHmac('sha256', row?.key ?? '')
    .update(['muster file', 'GET', orgId, attachmentId, expires].join('\n'))
    .digest('base64url');
  return `${api.url()}/files/${orgId}/${attachmentId}?expires=${expires}&signature=${signature}`;
}

/** Returns true if readers see either nothing of the file or all of its bytes. */
async function isWholeOrInvisible(id: string, content: Buffer): Promise<boolean> {
  const stored = await readFile(join(folder, people.orgId, id)).catch(() => undefined);
  if (stored !== undefined && !stored.equals(content)) return false;
  const address = await signDownload(people.orgId, people.orgId, id);
  const [{ attachment }, { items }, download] = await Promise.all([
    ana.attachments.get({ attachmentId: id }),
    ana.attachments.list({ ...target(), limit: 200 }),
    downloadFile(api, address),
  ]);
  const isListed = items.some((item) => item.id === id);
  return attachment.state === 'stored'
    ? isListed && download.status === 200 && download.content.equals(content)
    : !isListed && attachment.downloadUrl === null && download.status === 404;
}

const contentArbitrary = fc
  .tuple(fc.uint8Array({ minLength: 1, maxLength: 4_000 }), fc.integer({ min: 1, max: 60 }))
  .map(([bytes, times]) => Buffer.concat(Array.from({ length: times }, () => bytes)));
/** A position in a request or a file, as a part of the whole. */
const positionArbitrary = fc.double({ min: 0, max: 1, noNaN: true });

/** Returns an upload as the bytes of a request. */
function requestFor(url: string, body: Buffer, isChunked: boolean): Buffer {
  const framing = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`;
  const head = `PUT ${pathOfAddress(url)} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\n${framing}\r\n\r\n`;
  const chunks = [Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')];
  return Buffer.concat([Buffer.from(head), ...(isChunked ? chunks : [body])]);
}

/** Sends the first bytes of a request to a server, and closes the connection after `before`. */
async function sendBeginning(
  serverUrl: string,
  bytes: Buffer,
  before: () => Promise<void> = async () => undefined,
): Promise<void> {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(serverUrl).port) });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  await new Promise<void>((resolve) => {
    socket.write(bytes, () => {
      resolve();
    });
  });
  await before();
  socket.destroy();
}

async function passTurns(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await setImmediate();
}

/** Returns true if the file can be uploaded after a failed attempt, at the same address. */
async function canRepeat(attachment: Attachment, url: string, content: Buffer): Promise<boolean> {
  const { status } = await putFile(api, url, content);
  const { attachment: after } = await ana.attachments.get({ attachmentId: attachment.id });
  return status === 200 && after.state === 'stored' && isWholeOrInvisible(attachment.id, content);
}

describe('an upload', () => {
  it('that is cut at any byte shows nothing of the file, and can be repeated', async () => {
    const cut = fc.record({
      content: contentArbitrary,
      isChunked: fc.boolean(),
      position: positionArbitrary,
      turns: fc.nat(50),
    });
    await fc.assert(
      fc.asyncProperty(cut, async ({ content, isChunked, position, turns }) => {
        const { attachment, upload } = await declareFile(ana, target(), content);
        const request = requestFor(upload.url, content, isChunked);
        const sent = request.subarray(0, Math.floor(position * request.length));
        await sendBeginning(api.url(), sent, () => passTurns(turns));
        return (
          (await isWholeOrInvisible(attachment.id, content)) && canRepeat(attachment, upload.url, content)
        );
      }),
      { numRuns: 60 },
    );
  });

  it('of other bytes than declared is refused, and shows nothing of them', async () => {
    const wrong = fc.record({
      content: contentArbitrary,
      fault: fc.constantFrom('flipped' as const, 'shortened' as const, 'lengthened' as const),
      position: positionArbitrary,
    });
    await fc.assert(
      fc.asyncProperty(wrong, async ({ content, fault, position }) => {
        const at = Math.min(Math.floor(position * content.length), content.length - 1);
        const flipped = Buffer.from(content);
        flipped.writeUInt8(flipped.readUInt8(at) ^ 1, at);
        const body = {
          flipped,
          shortened: content.subarray(0, at),
          lengthened: Buffer.concat([content, content.subarray(0, at + 1)]),
        }[fault];
        const { attachment, upload } = await declareFile(ana, target(), content);
        const { status } = await putFile(api, upload.url, body);
        const { attachment: after } = await ana.attachments.get({ attachmentId: attachment.id });
        return (
          status === 422 && after.state === 'pending' && (await isWholeOrInvisible(attachment.id, content))
        );
      }),
      { numRuns: 40 },
    );
  });

  it('to a server that is killed shows nothing half, and other copies receive it afterwards', async () => {
    const killed = fc.record({
      content: contentArbitrary,
      position: fc.oneof(fc.constant(1), positionArbitrary),
      turns: fc.nat(400),
    });
    await fc.assert(
      fc.asyncProperty(killed, async ({ content, position, turns }) => {
        const server = await startApp('apps/coordination-api/src/main.ts', {
          ...{ DATABASE_URL: api.world.database.url, FILES_FOLDER: folder },
        });
        const { attachment, upload } = await declareFile(ana, target(), content);
        const request = requestFor(upload.url, content, false);
        const sent = request.subarray(0, Math.floor(position * request.length));
        await sendBeginning(server.url, sent, async () => {
          await passTurns(turns);
          await server.kill();
        });
        return (
          (await isWholeOrInvisible(attachment.id, content)) && canRepeat(attachment, upload.url, content)
        );
      }),
      { numRuns: 12 },
    );
  }, 180_000);

  it('of a product that shows what has arrived would be found', async () => {
    const content = Buffer.from('All of the bytes');
    const { id } = await storeFile(api, ana, target(), content);
    expect(await isWholeOrInvisible(id, content)).toBe(true);
    await writeFile(join(folder, people.orgId, id), content.subarray(0, 7));
    expect(await isWholeOrInvisible(id, content)).toBe(false);
    const { attachment } = await declareFile(ana, target(), content);
    await api.world.rows(`update attachments set state = 'stored' where id = $1`, attachment.id);
    expect(await isWholeOrInvisible(attachment.id, content)).toBe(false);
  });
});

describe('a bomb', () => {
  it('that is compressed is stored as it is, and never unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(40 * 1024 * 1024));
    for (const contentType of ['application/gzip', 'application/xml']) {
      const more = { contentType, kind: 'test_report', name: 'report.xml.gz' } as const;
      const { downloadUrl, report } = await storeFile(api, ana, target(), bomb, more);
      expect(report).toBeNull();
      const { headers, content } = await downloadFile(api, downloadUrl);
      expect(headers.get('content-encoding')).toBeNull();
      expect(content.equals(bomb)).toBe(true);
    }
    const { upload } = await declareFile(ana, target(), 'Hello');
    const { status } = await api.request(pathOfAddress(upload.url), {
      ...{ method: 'PUT', body: gzipSync('Hello'), headers: { 'content-encoding': 'gzip' } },
    });
    expect(status).toBe(422);
  });

  it('of entities or of nested elements has no results', async () => {
    const entities = Array.from({ length: 20 }, (_, nth) => `<!ENTITY e${nth + 1} "&e${nth};&e${nth};">`);
    const bombs = [
      `<!DOCTYPE t [<!ENTITY e0 "ha">${entities.join('')}]><testsuite name="&e20;"><testcase name="&e20;"/></testsuite>`,
      `<!DOCTYPE t [<!ENTITY f SYSTEM "file:///etc/passwd">]><testsuite><testcase name="a">&f;</testcase></testsuite>`,
      '<testsuite>'.repeat(300_000),
    ];
    for (const bomb of bombs) {
      const more = { contentType: 'application/xml', kind: 'test_report', name: 'junit.xml' } as const;
      expect((await storeFile(api, ana, target(), bomb, more)).report).toBeNull();
    }
  });
});

describe('in a browser, a file', () => {
  let browser: Browser | undefined;
  beforeAll(async () => {
    if (program !== undefined)
      browser = await chromium.launch({ executablePath: program, args: browserFlags() });
  });
  afterAll(() => browser?.close());
  const program = findBrowser();
  const inBrowser = program === undefined ? it.skip : it;

  const script = `fetch('/ran')`;
  const html = `<!doctype html><body onload="${script}"><script>${script}</script>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="${script}"><script>${script}</script></svg>`;
  const xhtml = `<html xmlns="http://www.w3.org/1999/xhtml"><script>${script}</script></html>`;
  const hostileFiles: [string, string, string][] = [
    ['page.html', 'text/html', html],
    ['page.png', 'image/png', html],
    ['page.mp4', 'video/mp4', html],
    ['page.txt', 'text/plain', html],
    ['page', 'application/octet-stream', html],
    ['picture.svg', 'image/svg+xml', svg],
    ['picture.webp', 'image/webp', svg],
    ['page.xhtml', 'application/xhtml+xml', xhtml],
    ['page.xml', 'text/xml', xhtml],
    ['archive.mht', 'message/rfc822', `Content-Type: text/html\r\n\r\n${html}`],
    ['code.js', 'text/javascript', script],
    ['polyglot.gif', 'image/gif', `GIF89a=1;${script}`],
    ['../../console/index.html'.replaceAll('/', '%2f'), 'text/html', html],
  ];

  /** Opens the address in each way that a page of the same origin can. Returns true if its script ran. */
  async function runs(url: string, isUnprotected: boolean, contentType: string): Promise<boolean> {
    const context = await browser?.newContext({ acceptDownloads: false });
    if (context === undefined) throw new Error('there is no browser');
    const page = await context.newPage();
    let hasRun = false;
    await page.route('**/ran', async (route) => {
      hasRun = true;
      await route.fulfill({ status: 204 });
    });
    const address = api.url() + pathOfAddress(url);
    const ways = `<iframe src="${address}"></iframe><object data="${address}"></object><embed src="${address}">
      <img src="${address}"><video src="${address}"></video><script src="${address}"></script>
      <script type="module" src="${address}"></script><link rel="stylesheet" href="${address}">`;
    await page.route('**/host', (route) =>
      route.fulfill({ contentType: 'text/html', body: ways.replaceAll('&', '&amp;') }),
    );
    if (isUnprotected)
      await page.route('**/files/**', async (route) => {
        const answer = await route.fetch();
        await route.fulfill({ status: 200, contentType, body: await answer.body() });
      });
    await page.goto(`${api.url()}/host`, { waitUntil: 'load' });
    await page.evaluate(`navigator.serviceWorker.register(${JSON.stringify(address)}).catch(() => 0)`);
    // A download ends the navigation with an error.
    await page.goto(address, { waitUntil: 'load' }).catch(() => undefined);
    await page.goto(`${api.url()}/host`, { waitUntil: 'load' });
    await context.close();
    return hasRun;
  }

  inBrowser.each(hostileFiles)('named %s of type %s runs nothing', async (name, contentType, content) => {
    const { downloadUrl } = await storeFile(api, ana, target(), content, { name, contentType });
    expect(await runs(downloadUrl ?? '', false, contentType)).toBe(false);
  });

  inBrowser('would run if it were served with its own type and without protection', async () => {
    for (const [name, contentType, content] of hostileFiles.filter(([, type]) =>
      ['text/html', 'image/svg+xml', 'application/xhtml+xml', 'text/javascript'].includes(type),
    )) {
      const { downloadUrl } = await storeFile(api, ana, target(), content, { name, contentType });
      expect([name, await runs(downloadUrl ?? '', true, contentType)]).toEqual([name, true]);
    }
  });
});

describe('another organization', () => {
  /** Returns the ways in which the caller can read the file. */
  async function waysToRead(
    reader: People<AllHandlers>,
    readerTarget: string,
    file: Attachment,
  ): Promise<string[]> {
    const client = api.client(reader.ana.me.token);
    const on = { targetType: 'story' as const, targetId: readerTarget, limit: 200 };
    const succeeds = (call: Promise<unknown>): Promise<boolean> =>
      call.then(
        () => true,
        () => false,
      );
    const opens = async (signerOrgId: string, orgId: string): Promise<boolean> =>
      (await downloadFile(api, await signDownload(signerOrgId, orgId, file.id))).status === 200;
    const isReadable = {
      get: await succeeds(client.attachments.get({ attachmentId: file.id })),
      list: await client.attachments.list(on).then(
        ({ items }) => items.some(({ id }) => id === file.id),
        () => false,
      ),
      'own key': await opens(reader.orgId, people.orgId),
      'own folder': await opens(reader.orgId, reader.orgId),
      delete: await succeeds(client.attachments.delete({ attachmentId: file.id })),
    };
    return Object.entries(isReadable).flatMap(([way, isOpen]) => (isOpen ? [way] : []));
  }

  it('can neither find nor read nor delete a file, which its own members can', async () => {
    const file = await storeFile(api, ana, target(), 'Secret');
    const others = await api.org();
    const theirs = await createStory(api.client(others.ana.me.token));
    expect(await waysToRead(others, storyId, file)).toEqual([]);
    expect(await waysToRead(others, theirs, file)).toEqual([]);
    expect(await waysToRead(people, storyId, file)).toEqual([
      'get',
      'list',
      'own key',
      'own folder',
      'delete',
    ]);
  });
});
