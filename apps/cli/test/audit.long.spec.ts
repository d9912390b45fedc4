import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type AuditEntry, type OcsfApiActivity } from '@muster/contract';
import { type People } from '@muster/testing';
import { useMuster } from './muster.ts';

const muster = useMuster();

const total = 450;
let people: People;
beforeAll(async () => {
  people = await muster.world.org();
  await muster.world.rows(
    `with s as (update streams set audit = audit + $2 where org_id = $1 returning audit)
     insert into audit (org_id, seq, id, at, actor, member_id, operation, target, outcome, request_id)
     select $1, s.audit - $2 + n, gen_random_uuid(), '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 minute',
       jsonb_build_object('kind', 'member', 'memberId', $3::text, 'agentId', null, 'name', 'Ana'), $3::uuid,
       'stories.update', 'WEB-' || n, 'allowed', 'r-' || n from s, generate_series(1, $2::int) n`,
    ...[people.orgId, total, people.ana.me.memberId],
  );
});

const exportAudit = (...args: string[]) => muster.runAs(people.ana, 'audit', 'export', ...args);
const linesOf = <Line>(text: string): Line[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);

describe('muster audit export', () => {
  it('writes every entry of the period, as in audit.list or in OCSF', async () => {
    const all = await exportAudit('--from', '2026-01-01', '--to', '2026-01-02');
    expect(all).toMatchObject({ code: 0, err: '' });
    const entries = linesOf<AuditEntry>(all.out);
    expect(entries.map(({ target }) => target)).toEqual(
      Array.from({ length: total }, (_, nth) => `WEB-${total - nth}`),
    );
    const listed = await muster.apiClient(people.ana).audit.list({ to: '2026-01-02T00:00:00Z', limit: 1 });
    expect(entries[0]).toEqual(listed.items[0]);

    const ocsf = await exportAudit('--to', '2026-01-01T00:10:00Z', '--format', 'ocsf');
    const events = linesOf<OcsfApiActivity>(ocsf.out);
    expect(events).toHaveLength(10);
    expect(events[0]).toMatchObject({
      ...{
        class_uid: 6003,
        activity_id: 3,
        metadata: { tenant_uid: people.orgId, uid: entries[total - 10]?.id },
      },
    });
  });

  it('continues an interrupted export to a file, without a gap or a repetition', async () => {
    const file = path.join(muster.home(), 'audit.ndjson');
    const period = ['--from', '2026-01-01', '--to', '2026-01-02', '-o', file];
    const done = await exportAudit(...period);
    expect(done).toMatchObject({ code: 0, err: `Exported 450 entries to ${file}.\n` });
    const whole = await readFile(file, 'utf8');
    expect(linesOf(whole)).toHaveLength(total);
    await expect(stat(`${file}.part`)).rejects.toThrow('ENOENT');

    // The state in which a process that is killed while it writes the second page leaves the files.
    const first = await muster.apiClient(people.ana).audit.list({
      ...{ from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z', limit: 200 },
    });
    const text = whole.split('\n').slice(0, 200).join('\n') + '\n';
    await rm(file);
    await writeFile(`${file}.part`, `${text}{"id": "half an ent`);
    const interrupted = {
      key: JSON.stringify([
        people.orgId,
        { from: '2026-01-01T00:00:00.000Z', to: '2026-01-02T00:00:00.000Z' },
        'plain',
      ]),
      ...{ cursor: first.nextCursor, bytes: Buffer.byteLength(text), entries: 200 },
    };
    await writeFile(`${file}.part.json`, JSON.stringify(interrupted));
    expect(await exportAudit(...period)).toMatchObject({ code: 0, err: done.err });
    expect(await readFile(file, 'utf8')).toBe(whole);

    // An export of another period starts from the beginning.
    await writeFile(`${file}.part.json`, JSON.stringify(interrupted));
    await writeFile(`${file}.part`, text);
    await exportAudit('--to', '2026-01-01T00:10:00Z', '-o', file);
    expect(linesOf(await readFile(file, 'utf8'))).toHaveLength(10);
  });

  it.each([
    ['was lost', () => ''],
    ['is shorter than the state says', (text: string) => text.slice(0, -9)],
  ])('starts over if the file that an interrupted export wrote %s', async (_problem, left) => {
    const file = path.join(muster.home(), 'again.ndjson');
    const period = ['--from', '2026-01-01', '--to', '2026-01-02', '-o', file];
    const whole = (await exportAudit(...period.slice(0, 4))).out;
    const first = await muster.apiClient(people.ana).audit.list({
      ...{ from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z', limit: 200 },
    });
    const written = `${whole.split('\n').slice(0, 200).join('\n')}\n`;
    const text = left(written);
    const state = {
      key: JSON.stringify([
        people.orgId,
        { from: '2026-01-01T00:00:00.000Z', to: '2026-01-02T00:00:00.000Z' },
        'plain',
      ]),
      ...{ cursor: first.nextCursor, bytes: Buffer.byteLength(written), entries: 200 },
    };
    await rm(`${file}.part`, { force: true });
    if (text !== '') await writeFile(`${file}.part`, text);
    await writeFile(`${file}.part.json`, JSON.stringify(state));
    expect(await exportAudit(...period)).toMatchObject({
      code: 0,
      err: `Exported 450 entries to ${file}.\n`,
    });
    expect(await readFile(file, 'utf8')).toBe(whole);
    await expect(stat(`${file}.part.json`)).rejects.toThrow('ENOENT');
  });

  it('refuses who is no admin, and times that are none', async () => {
    expect(await muster.runAs(people.chloe, 'audit', 'export')).toMatchObject({ code: 3, out: '' });
    expect(await exportAudit('--from', 'yesterday')).toMatchObject({ code: 2 });
    expect((await exportAudit('-o', path.join(muster.home(), 'no/such/folder.ndjson'))).code).toBe(2);
  });
});
