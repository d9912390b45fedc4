import { describe, expect, it } from '@jest/globals';
import { newId } from './id.ts';
import { defineRecord, requireVersion } from './record.ts';
import { bindStatement, type Part } from './sql.ts';

const org = newId();
const project = newId();
const createdTime = '2026-01-01T00:00:00.000Z';
const updatedTime = '2026-01-02T00:00:00.000Z';

const epics = defineRecord('epics', 'e', {
  project_id: {},
  title: { set: true },
  description: { set: true, emptyValue: '' },
  target_date: { set: true, emptyValue: null },
  status: { set: true, initial: 'open' },
  story_count: { derived: true, initial: 0, hidden: true },
});
const epic = epics.make({ projectId: project, title: 'A' }, createdTime);
const boundStatementOf = (query: unknown) => bindStatement(query as Part, org);

describe('a record', () => {
  it('begins with what is said, and with what its description says of the rest', () => {
    expect(epic).toEqual({
      id: epic.id,
      project_id: project,
      title: 'A',
      description: '',
      target_date: null,
      status: 'open',
      story_count: 0,
      created_at: createdTime,
      updated_at: createdTime,
      version: 1,
    });
    expect(
      epics.make({ ...epic, projectId: project, status: 'done', description: null }, createdTime),
    ).toMatchObject({
      id: epic.id,
      status: 'done',
      description: '',
    });
  });

  it('is shown in the spelling of the contract, without what is hidden, and with null for no text', () => {
    expect(epics.shown(epic)).toEqual({
      id: epic.id,
      projectId: project,
      title: 'A',
      description: null,
      targetDate: null,
      status: 'open',
      createdAt: createdTime,
      updatedAt: createdTime,
      version: 1,
    });
  });

  it('changes as a caller wants, who clears by null; and says which fields, in the order of the wishes', () => {
    const full = { ...epic, description: 'Why', target_date: '2026-12-24' };
    const wanted = { targetDate: null, title: 'A', description: null, status: undefined } as const;
    expect(epics.changed(full, wanted, updatedTime)).toEqual({
      changed: { ...full, description: '', target_date: null, updated_at: updatedTime, version: 2 },
      fields: ['targetDate', 'description'],
    });
    expect(epics.changed(full, { title: 'A' }, updatedTime)).toEqual({ changed: full, fields: [] });
  });

  it('is not changed by a caller in what callers do not set, whatever else is wanted', () => {
    const wanted = { title: 'A', projectId: 'p', storyCount: 9, project_id: 'p' };
    expect(epics.changed(epic, wanted, updatedTime).fields).toEqual([]);
  });

  it('writes what callers set, or the columns that are named; never what the database keeps', () => {
    expect(boundStatementOf(epics.write(epic))).toEqual({
      sql: 'update epics set title = $1, description = $2, target_date = $3, status = $4, updated_at = $5, version = $6 where org_id = $7 and id = $8',
      parameters: ['A', '', null, 'open', createdTime, 1, org, epic.id],
    });
    expect(boundStatementOf(epics.write(epic, ['status'])).sql).toBe(
      'update epics set status = $1, updated_at = $2, version = $3 where org_id = $4 and id = $5',
    );
    expect(boundStatementOf(epics.insert(epic)).sql).toBe(
      'insert into epics (org_id, id, created_at, updated_at, version, project_id, title, description, target_date, status) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)',
    );
  });

  it('is refused where another version was read', () => {
    expect(() => {
      requireVersion(epic, 2);
    }).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ currentVersion: 1 }) as unknown }),
    );
    requireVersion(epic, 1);
    requireVersion(epic, undefined);
  });

  it('holds its callers to its description, and its description to the schema', () => {
    expect((): unknown => [
      // @ts-expect-error -- the title has to be said
      epics.make({ projectId: project }, createdTime),
      // @ts-expect-error -- callers do not set it
      epics.changed(epic, { projectId: project }, createdTime),
      // @ts-expect-error -- null does not clear a title
      epics.changed(epic, { title: null }, createdTime),
      // @ts-expect-error -- it is hidden
      epics.shown(epic).storyCount,
      // @ts-expect-error -- there is no such column
      defineRecord('epics', 'e', { nothing: {} }),
      // @ts-expect-error -- it is no number
      defineRecord('epics', 'e', { title: { initial: 1 } }),
    ]).not.toThrow();
  });
});
