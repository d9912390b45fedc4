/** Exports over HTTP: who may request them, what an archive contains, and who can download it. */
import { randomUUID } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Client } from '@muster/client';
import { type ArchiveRecordType, type ExportScope } from '@muster/contract';
import { type AllHandlers } from '@muster/operations';
import { type People } from '@muster/testing';
import { useApi } from './api.ts';
import { openArchive, writeExport } from './exports.ts';
import { createFilesFolder, downloadFile, pathOfAddress, storeFile } from './files.ts';

const folder = await createFilesFolder();
const api = useApi({ FILES_FOLDER: folder, LIMIT_UNKNOWN_TOKENS: '1000/0.01' });
afterAll(() => rm(folder, { recursive: true, force: true }));

let people: People<AllHandlers>;
let ana: Client;
let chloe: Client;
let projectId: string;

const clientOf = (person: { me: { token: string } }): Client => api.client(person.me.token);

beforeEach(async () => {
  people = await api.org();
  [ana, chloe] = [clientOf(people.ana), clientOf(people.chloe)];
  ({ id: projectId } = (await ana.projects.create({ name: 'Web', key: 'WEB' })).project);
});

/** Begins an export, writes it and downloads the archive. */
async function exportAs(client: Client, scope: ExportScope, project?: string) {
  const begun = await client.exports.begin({ scope, ...(project !== undefined && { projectId: project }) });
  await writeExport(api.world, people.orgId, begun.export.id, { folder });
  const done = (await client.exports.get({ exportId: begun.export.id })).export;
  expect(done).toMatchObject({ state: 'done', progress: 100, failure: null, scope });
  const { status, headers, content } = await downloadFile(api, done.downloadUrl);
  expect({ status, type: headers.get('content-type'), size: content.length }).toEqual({
    ...{ status: 200, type: 'application/gzip', size: done.size },
  });
  expect(headers.get('content-length')).toBe(String(done.size));
  return { export: done, archive: await openArchive(api, content) };
}

describe('an archive of the organization', () => {
  it('contains every record with its fields, in the order of the types', async () => {
    const { epic } = await ana.epics.create({ projectId, title: 'Sign-in', color: '#3366cc' });
    const { story } = await ana.stories.create({
      ...{
        projectId,
        title: 'Sign in by mail',
        description: 'With a link',
        epicId: epic.id,
        spec: 'Version 1',
      },
      ...{ labels: ['auth'], estimate: 3, dueDate: '2026-12-24', touches: ['src/auth'] },
    });
    const child = (await ana.stories.create({ projectId, title: 'Mail', parentId: story.id })).story;
    const last = (await ana.stories.create({ projectId, title: 'Last', blockedBy: [child.id] })).story;
    await ana.storySpec.update({ storyId: story.id, content: 'Version 2', note: 'Clearer' });
    const root = (
      await chloe.comments.create({ storyId: story.id, body: 'How long is it valid?', kind: 'question' })
    ).comment;
    await ana.comments.create({ storyId: story.id, body: 'An hour', parentId: root.id });
    await ana.comments.react({ commentId: root.id, emoji: '👍' });
    await ana.assignments.set({
      targetType: 'story',
      targetId: story.id,
      memberId: people.chloe.me.memberId,
    });
    await ana.reviewers.add({ storyId: story.id, memberId: people.ben.me.memberId });
    await clientOf(people.ben).reviewers.setVerdict({
      storyId: story.id,
      verdict: 'commented',
      note: 'Fine',
    });
    await ana.prompts.org.upsert({ slug: 'review', title: 'Review', body: 'Look at errors' });
    await ana.contracts.publish({ projectId, slug: 'mail', kind: 'markdown', content: '# Mail' });
    await ana.views.create({ name: 'Ready', layout: 'list', shared: true, projectId });
    await chloe.views.create({ name: 'Private to Chloé', layout: 'list' });
    const file = await storeFile(api, ana, { targetType: 'story', targetId: story.id }, 'Hello');

    const { archive } = await exportAs(ana, 'org');
    const { stories, columns } = {
      stories: (await ana.stories.list({ projectId, sort: 'created' })).items,
      columns: (await ana.boardColumns.list({ projectId })).items,
    };
    expect(archive.records('members').map(({ handle }) => handle)).toEqual(['ana', 'ben', 'chloe', 'dan']);
    expect(archive.records('agents')).toMatchObject([{ slug: 'robo', memberId: people.chloe.me.memberId }]);
    expect(archive.records('projects')).toMatchObject([
      { key: 'WEB', members: [{ memberId: people.ana.me.memberId, role: 'lead' }], teams: [] },
    ]);
    expect(archive.records('columns')).toMatchObject(
      columns.map(({ storyCount: _count, ...column }) => column).toSorted((a, b) => a.id.localeCompare(b.id)),
    );
    const { progress: _progress, ...listedEpic } = (await ana.epics.list({ projectId })).items[0] ?? epic;
    expect(archive.records('epics')).toEqual([{ type: 'epics', ...listedEpic }]);
    expect(archive.records('stories').map(({ code: _code, ...record }) => record)).toEqual(
      await Promise.all(
        [story.id, child.id, last.id].map(async (storyId) => ({
          type: 'stories',
          ...(await ana.stories.get({ storyId })).story,
        })),
      ),
    );
    expect(stories).toHaveLength(3);
    expect(archive.records('specs').map(({ version, content, note }) => [version, content, note])).toEqual([
      [1, 'Version 1', null],
      [2, 'Version 2', 'Clearer'],
    ]);
    const threads = (await ana.comments.list({ storyId: story.id })).items;
    const [question, answer] = archive.records('comments');
    const {
      replies,
      repliesCursor: _cursor,
      reactions: _reactions,
      ...listedRoot
    } = threads[0] ?? { replies: [] };
    expect(question).toMatchObject(listedRoot);
    expect(question?.reactions).toMatchObject([{ emoji: '👍', memberId: people.ana.me.memberId }]);
    const { reactions: _none, ...listedReply } = replies[0] ?? { reactions: [] };
    expect(answer).toMatchObject(listedReply);
    const { items: assignments } = await ana.assignments.listForProject({ projectId });
    expect(archive.records('assignments')).toEqual(
      assignments.map((item) => ({ type: 'assignments', ...item })),
    );
    const { items: reviewers } = await ana.reviewers.list({ storyId: story.id });
    expect(archive.records('reviewers')).toEqual(reviewers.map((item) => ({ type: 'reviewers', ...item })));
    expect(archive.records('prompts')).toMatchObject([
      { slug: 'review', body: 'Look at errors', scope: 'org' },
    ]);
    expect(archive.records('contracts')).toMatchObject([{ slug: 'mail', version: 1, content: '# Mail' }]);
    expect(archive.records('views').map(({ name }) => name)).toEqual(['Ready']);
    expect(archive.records('attachments')).toMatchObject([
      { id: file.id, name: 'note.txt', targetId: story.id },
    ]);
    expect(archive.entries.get(`attachments/${file.id}`)?.toString()).toBe('Hello');
    expect(archive.records('activity').map(({ kind }) => kind)).toContain('story.created');
    expect(archive.records('notifications')).toEqual([]);
    expect(archive.manifest).toMatchObject({
      ...{ format: 'muster-export', formatVersion: 1, scope: 'org', project: null, missing: [] },
      organization: { id: people.orgId, slug: people.slug },
      requestedBy: { memberId: people.ana.me.memberId },
      counts: { stories: 3, specs: 2, comments: 2, attachments: 1 },
    });
  });

  it('has no records that were created after it was requested', async () => {
    await ana.stories.create({ projectId, title: 'Before' });
    const { export: begun } = await ana.exports.begin({ scope: 'org' });
    const startAtFirstStory =
      'update exports set started_at = (select max(created_at) from stories) where id = $1';
    await api.world.rows(startAtFirstStory, begun.id);
    await ana.stories.create({ projectId, title: 'After' });
    await writeExport(api.world, people.orgId, begun.id, { folder });
    const { downloadUrl } = (await ana.exports.get({ exportId: begun.id })).export;
    const archive = await openArchive(api, (await downloadFile(api, downloadUrl)).content);
    expect(archive.records('stories').map(({ title }) => title)).toEqual(['Before']);
  });

  it('names attached files that cannot be read', async () => {
    const { story } = await ana.stories.create({ projectId, title: 'Sign in' });
    const target = { targetType: 'story', targetId: story.id } as const;
    const [lost, changed] = [
      await storeFile(api, ana, target, 'Lost'),
      await storeFile(api, ana, target, 'Same'),
    ];
    await rm(path.join(folder, people.orgId, lost.id));
    await api.world.rows(`update attachments set sha256 = repeat('b', 64) where id = $1`, changed.id);
    const { archive } = await exportAs(ana, 'org');
    expect(archive.manifest.missing).toEqual([lost.id, changed.id]);
    expect([...archive.entries.keys()].filter((name) => name.startsWith('attachments/'))).toEqual([]);
  });
});

describe('an archive of a project', () => {
  it('contains nothing of other projects', async () => {
    const other = (await ana.projects.create({ name: 'Secret plan', key: 'SEC', visibility: 'private' }))
      .project;
    for (const id of [projectId, other.id]) {
      const title = id === projectId ? 'Public' : 'Hidden';
      const { story } = await ana.stories.create({ projectId: id, title, spec: title });
      await ana.comments.create({ storyId: story.id, body: title });
      await ana.contracts.publish({ projectId: id, slug: 'api', kind: 'markdown', content: title });
      await ana.prompts.project.upsert({ projectId: id, slug: 'go', title, body: title });
      await ana.epics.create({ projectId: id, title });
      await ana.reviewers.add({ storyId: story.id, memberId: people.ana.me.memberId });
      await ana.assignments.set({
        targetType: 'story',
        targetId: story.id,
        memberId: people.ana.me.memberId,
      });
      await storeFile(api, ana, { targetType: 'story', targetId: story.id }, title, { name: `${title}.txt` });
    }
    const { archive } = await exportAs(ana, 'project', 'WEB');
    expect(archive.text).toContain('Public');
    expect(archive.text).not.toMatch(/Hidden|Secret plan|SEC-1/);
    expect(archive.manifest).toMatchObject({
      project: { id: projectId, key: 'WEB', name: 'Web' },
      counts: {
        projects: 1,
        stories: 1,
        specs: 1,
        comments: 1,
        contracts: 1,
        prompts: 1,
        epics: 1,
        attachments: 1,
      },
    });
  });
});

it('an attached file can be imported again after its import was undone', async () => {
  const { story } = await ana.stories.create({ projectId, title: 'Sign in' });
  await storeFile(api, ana, { targetType: 'story', targetId: story.id }, 'Hello');
  const { archive } = await exportAs(ana, 'project', 'WEB');
  const other = clientOf((await api.org()).ana);
  await other.projects.create({ name: 'Copy', key: 'COPY' });
  for (let round = 1; round <= 2; round += 1) {
    const { id: importId } = (
      await other.imports.begin({ projectId: 'COPY', provider: 'muster', name: 'Archive' })
    ).import;
    const put = async (...types: ArchiveRecordType[]) =>
      (
        await other.imports.put({
          ...{ importId, items: types.flatMap((type) => archive.records(type)) },
        })
      ).results;
    const imported = (await put('projects', 'columns', 'stories')).at(-1);
    await storeFile(api, other, { targetType: 'story', targetId: imported?.storyId ?? '' }, 'Hello');
    expect(await put('attachments')).toMatchObject([{ outcome: 'created' }]);
    await other.imports.undo({ importId });
  }
});

describe('an archive of own data', () => {
  it('contains what the person wrote, is assigned or was told, and no other text by others', async () => {
    const mine = (await chloe.stories.create({ projectId, title: 'Chloé’s story', spec: 'Chloé’s spec' }))
      .story;
    const theirs = (
      await ana.stories.create({ projectId, title: 'Ana’s story', description: 'ana-text', spec: 'ana-text' })
    ).story;
    const assigned = (await ana.stories.create({ projectId, title: 'For Chloé' })).story;
    await ana.assignments.set({
      targetType: 'story',
      targetId: assigned.id,
      memberId: people.chloe.me.memberId,
    });
    await ana.storySpec.update({ storyId: mine.id, content: 'ana-text' });
    await chloe.comments.create({ storyId: theirs.id, body: 'Chloé’s comment' });
    await ana.comments.create({ storyId: theirs.id, body: 'ana-text to everyone' });
    await ana.comments.create({ storyId: theirs.id, body: '@chloe please look' });
    await ana.comments.create({ storyId: theirs.id, body: 'To you', directedTo: people.chloe.me.memberId });
    await ana.prompts.org.upsert({ slug: 'review', title: 'Review', body: 'ana-text' });
    await ana.views.create({ name: 'ana-text', layout: 'list', shared: true });
    await ana.epics.create({ projectId, title: 'ana-text' });
    await ana.projects.update({ projectId, description: 'ana-text' });
    await storeFile(api, ana, { targetType: 'story', targetId: mine.id }, 'ana-text', {
      name: 'ana-text.txt',
    });

    const { archive } = await exportAs(chloe, 'me');
    expect(archive.text).not.toContain('ana-text');
    expect(archive.records('members').map(({ handle }) => handle)).toEqual(['chloe']);
    expect(archive.records('stories').map(({ title }) => title)).toEqual(['Chloé’s story', 'For Chloé']);
    expect(archive.records('specs').map(({ content }) => content)).toEqual(['Chloé’s spec']);
    expect(archive.records('comments').map(({ body }) => body)).toEqual([
      'Chloé’s comment',
      '@chloe please look',
      'To you',
    ]);
    expect(archive.records('assignments')).toMatchObject([{ targetId: assigned.id }]);
    expect(archive.records('notifications').map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['assigned', 'mention']),
    );
    expect(archive.records('activity')).toEqual([]);
  });

  it('leaves out projects that the person may not see any more', async () => {
    const secret = (await ana.projects.create({ name: 'Gone', key: 'SEC', visibility: 'private' })).project;
    const memberId = people.chloe.me.memberId;
    await ana.projects.members.add({ projectId: secret.id, memberId, role: 'contributor' });
    const { story } = await chloe.stories.create({ projectId: secret.id, title: 'Hidden' });
    await ana.comments.create({ storyId: story.id, body: '@chloe hidden' });
    await ana.projects.members.remove({ projectId: secret.id, memberId });
    expect((await exportAs(chloe, 'me')).archive.text).not.toMatch(/hidden|SEC/i);
  });

  it('is possible for viewers', async () => {
    const { archive } = await exportAs(clientOf(people.dan), 'me');
    expect(archive.records('members').map(({ handle }) => handle)).toEqual(['dan']);
  });
});

describe('a request for an export', () => {
  it('of the organization needs an admin, of a project a lead, and never an agent', async () => {
    const refused = { status: 403 };
    await expect(chloe.exports.begin({ scope: 'org' })).rejects.toMatchObject(refused);
    await expect(chloe.exports.begin({ scope: 'project', projectId: 'WEB' })).rejects.toMatchObject(refused);
    for (const scope of ['org', 'me'] as const)
      await expect(clientOf(people.robo).exports.begin({ scope })).rejects.toMatchObject({
        ...refused,
        reason: 'agents_may_not',
      });
    await ana.projects.members.add({ projectId, memberId: people.chloe.me.memberId, role: 'lead' });
    await expect(chloe.exports.begin({ scope: 'project', projectId: 'WEB' })).resolves.toMatchObject({
      export: { state: 'queued', projectId },
    });
    const denied = await ana.audit.list({ operation: 'exports.begin', outcome: 'denied' });
    expect(denied.items).toHaveLength(4);
  });

  it('names a project for the scope project, and for no other', async () => {
    for (const params of [
      { scope: 'project' },
      { scope: 'org', projectId: 'WEB' },
      { scope: 'me', projectId: 'WEB' },
    ])
      expect(await api.call(people.ana.me.token, 'exports.begin', params)).toMatchObject({
        status: 400,
        body: { details: { issues: [{ path: 'projectId' }] } },
      });
    expect(
      await api.call(people.ana.me.token, 'exports.begin', { scope: 'project', projectId: 'NONE' }),
    ).toMatchObject({ status: 404 });
  });

  it('answers the unfinished export of the same scope, also to several at the same time', async () => {
    const begun = await Promise.all(Array.from({ length: 5 }, () => ana.exports.begin({ scope: 'org' })));
    const [id] = new Set(begun.map((answer) => answer.export.id));
    expect(new Set(begun.map((answer) => answer.export.id)).size).toBe(1);
    expect((await clientOf(people.ben).exports.begin({ scope: 'org' })).export.id).toBe(id);
    const others = [await ana.exports.begin({ scope: 'me' }), await chloe.exports.begin({ scope: 'me' })];
    expect(new Set([id, ...others.map((answer) => answer.export.id)]).size).toBe(3);
    const jobs = await api.world.rows(
      `select id from outbox where org_id = $1 and topic = 'export.write'`,
      people.orgId,
    );
    expect(jobs).toHaveLength(3);
  });

  it('keeps the five newest archives', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 6; count += 1) ids.unshift((await exportAs(chloe, 'me')).export.id);
    const { items } = await chloe.exports.list({});
    expect(items.map(({ id }) => id)).toEqual(ids.slice(0, 5));
  });
});

describe('an archive can be seen and downloaded', () => {
  it('by those who could request it', async () => {
    await ana.projects.members.add({ projectId, memberId: people.chloe.me.memberId, role: 'lead' });
    const ids = {
      org: (await exportAs(ana, 'org')).export.id,
      project: (await exportAs(ana, 'project', 'WEB')).export.id,
      me: (await exportAs(ana, 'me')).export.id,
    };
    const bound = await api.world.token(people.orgId, people.ana.me.memberId, { projectIds: [projectId] });
    const scoped = await api.world.token(people.orgId, people.ana.me.memberId, { scopes: ['read'] });
    const seenBy = async (person: { me: { token: string } }) => {
      const client = clientOf(person);
      const listed = (await client.exports.list({})).items.map(({ scope }) => scope).toSorted();
      const read = await Promise.all(
        Object.entries(ids).map(([scope, exportId]) =>
          client.exports.get({ exportId }).then(
            () => scope,
            () => undefined,
          ),
        ),
      );
      expect(read.filter((scope) => scope !== undefined).toSorted()).toEqual(listed);
      return listed;
    };
    expect(await seenBy(people.ana)).toEqual(['me', 'org', 'project']);
    expect(await seenBy(people.ben)).toEqual(['org', 'project']);
    expect(await seenBy(people.chloe)).toEqual(['project']);
    expect(await seenBy(people.dan)).toEqual([]);
    expect(await seenBy(bound)).toEqual(['project']);
    expect(await seenBy(scoped)).toEqual(['me', 'project']);
    const stranger = await api.org();
    expect(await seenBy(stranger.ana)).toEqual([]);
  });

  it('only at the address that was issued, until it expires or its requester leaves', async () => {
    const { export: done } = await exportAs(ana, 'org');
    const address = pathOfAddress(done.downloadUrl ?? '');
    const statusOf = async (place: string) => (await fetch(new URL(place, api.url()))).status;
    const stranger = await api.org();
    expect(await statusOf(address)).toBe(200);
    expect(await statusOf(address.replace(people.orgId, stranger.orgId))).toBe(404);
    expect(await statusOf(address.replace(done.id, randomUUID()))).toBe(404);
    expect(await statusOf(address.replace(/expires=\d/, 'expires=9'))).toBe(401);
    expect(await statusOf(address.replace(/(?<=signature=)./, (one) => (one === '-' ? 'A' : '-')))).toBe(401);
    expect(await statusOf(address.replace(/&signature=.*/, ''))).toBe(401);
    expect(await statusOf(address.replace('/exports/', '/'))).toBe(404);
    await api.world.rows(`update members set status = 'removed' where id = $1`, people.ana.me.memberId);
    expect(await statusOf(address)).toBe(404);
    await api.world.rows(`update members set status = 'active' where id = $1`, people.ana.me.memberId);
    await api.world.rows(
      `update exports set expires_at = now() - interval '1 second' where id = $1`,
      done.id,
    );
    expect(await statusOf(address)).toBe(404);
  });
});

describe('a job', () => {
  it('that is interrupted after any part continues with the next one', async () => {
    for (let count = 0; count < 30; count += 1)
      await ana.stories.create({ projectId, title: `Story ${count}`, spec: 'x'.repeat(2_000) });
    const { story } = await ana.stories.create({ projectId, title: 'With a file' });
    await storeFile(api, ana, { targetType: 'story', targetId: story.id }, 'y'.repeat(10_000));
    const { export: begun } = await ana.exports.begin({ scope: 'project', projectId });
    // Each run writes one small part, as if the worker were killed after each.
    const limits = { runMillis: 0, partBytes: 4_000, bufferBytes: 8_000 };
    const runs = await writeExport(api.world, people.orgId, begun.id, { folder, limits });
    expect(runs).toBeGreaterThan(10);
    const { export: done } = await ana.exports.get({ exportId: begun.id });
    expect(done).toMatchObject({ state: 'done' });
    const archive = await openArchive(api, (await downloadFile(api, done.downloadUrl)).content);
    expect(archive.records('stories')).toHaveLength(31);
    expect(archive.records('specs')).toHaveLength(30);
    expect(new Set(archive.records('specs').map(({ storyId }) => storyId)).size).toBe(30);
    expect(archive.manifest.counts).toMatchObject({ stories: 31, specs: 30, attachments: 1 });
  });

  it('fails with a reason if no storage of files is configured', async () => {
    const { export: begun } = await ana.exports.begin({ scope: 'org' });
    await writeExport(api.world, people.orgId, begun.id, { folder, storage: undefined });
    expect((await ana.exports.get({ exportId: begun.id })).export).toMatchObject({
      ...{ state: 'failed', failure: 'storage_missing', downloadUrl: null },
    });
  });

  it('tries again when the storage fails, and then fails with a reason and without parts', async () => {
    const { createFolderStorage } = await import('@muster/attachments');
    const storage = { ...createFolderStorage(folder), put: () => Promise.reject(new Error('away')) };
    const errors: unknown[] = [];
    const { export: begun } = await ana.exports.begin({ scope: 'org' });
    const runs = await writeExport(api.world, people.orgId, begun.id, {
      ...{ folder, storage, onError: (error) => errors.push(error) },
    });
    expect([runs, errors.length]).toEqual([5, 5]);
    expect((await ana.exports.get({ exportId: begun.id })).export).toMatchObject({
      ...{ state: 'failed', failure: 'storage_unavailable' },
    });
    expect(await api.world.rows('select id from export_parts where export_id = $1', begun.id)).toEqual([]);
    expect(await readdir(path.join(folder, '.incoming'))).toEqual([]);
    // A new export can begin.
    expect((await exportAs(ana, 'org')).export.id).not.toBe(begun.id);
  });

  it('that another run replaced writes nothing more', async () => {
    const { export: begun } = await ana.exports.begin({ scope: 'org' });
    const { createFolderStorage } = await import('@muster/attachments');
    const plain = createFolderStorage(folder);
    // While the first run stores its part, a second one begins and completes the export.
    const storage = {
      ...plain,
      put: async (...put: Parameters<typeof plain.put>) => {
        await writeExport(api.world, people.orgId, begun.id, { folder });
        await plain.put(...put);
      },
    };
    await expect(writeExport(api.world, people.orgId, begun.id, { folder, storage })).rejects.toThrow(
      'another run writes this export',
    );
    const { export: done } = await ana.exports.get({ exportId: begun.id });
    await openArchive(api, (await downloadFile(api, done.downloadUrl)).content);
    const [{ parts } = { parts: 0 }] = await api.world.rows<{ parts: number }>(
      'select count(*)::int as parts from export_parts where export_id = $1',
      begun.id,
    );
    expect(parts).toBe(1);
    // The file of the replaced run is deleted later.
    const due = await api.world.rows(
      'select key from app.file_deletions where key like $1',
      `${people.orgId}/%`,
    );
    expect(due).toHaveLength(1);
  });
});

it('publishes the keys that sign exports, also the former ones', async () => {
  const first = await api.request('/.well-known/muster-export-keys.json', { method: 'GET' });
  expect(first.body['keys']).toMatchObject([{ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA' }]);
  const [older, newer] = ['a'.repeat(32), 'b'.repeat(32)];
  const before = await api.startReplica({ SECRETS_KEY: older });
  const after = await api.startReplica({ SECRETS_KEY: `${newer},${older}` });
  const { export: begun } = await ana.exports.begin({ scope: 'org' });
  await writeExport(api.world, people.orgId, begun.id, { folder, secretsKeys: [older] });
  const { content } = await downloadFile(
    api,
    (await ana.exports.get({ exportId: begun.id })).export.downloadUrl,
  );
  for (const one of [before, after]) await openArchive(one, content);
  await expect(openArchive(api, content)).rejects.toThrow('is not published');
  await Promise.all([before.stop(), after.stop()]);
});
