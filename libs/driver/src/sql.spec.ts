import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { newId } from './id.ts';
import { bindStatement, orgFilter, currentOrgId, Part, sql } from './sql.ts';

const org = newId();

describe('a statement', () => {
  it('has its values as parameters, in their order', () => {
    expect(bindStatement(sql`select ${1}::int, ${'; drop table orgs'}::text, ${null}::text`, null)).toEqual({
      sql: 'select $1::int, $2::text, $3::text',
      parameters: [1, '; drop table orgs', null],
    });
  });

  it('has its parts in their places, and one parameter for the organization', () => {
    const ofProject = sql.part`s.project_id = ${'p'}`;
    const titled = sql.part`s.title in (select t.title from titles t where ${orgFilter('t')} and t.id = ${'t'})`;
    const { sql: text, parameters } = bindStatement(
      sql`select ${sql.columns('s', ['id', 'title'])} from stories s
        where s.id = ${'s'} and ${orgFilter('s')} and ${sql.join([ofProject, titled], ' and ')}${sql.empty} limit ${sql.literal(3)}`,
      org,
    );
    expect(text).toBe(`select s.id, s.title from stories s
        where s.id = $1 and s.org_id = $2 and s.project_id = $3 and s.title in (select t.title from titles t where t.org_id = $2 and t.id = $4) limit 3`);
    expect(parameters).toEqual(['s', org, 'p', 't']);
  });

  it('can be nested, and joined of nothing', () => {
    const inner = sql<{ id: string }>`select id from stories where id = ${1}`;
    expect(bindStatement(sql`select from (${inner}) s ${sql.join([])}`, null).sql).toBe(
      'select from (select id from stories where id = $1) s ',
    );
  });

  it('writes the columns that are named, the organization first', () => {
    const row = { id: 'i', name: 'n', slug: 'not named' };
    const names = ['id', 'name'] as const;
    expect(bindStatement(sql.insert('teams', names, row), org)).toEqual({
      sql: 'insert into teams (org_id, id, name) values ($1, $2, $3)',
      parameters: [org, 'i', 'n'],
    });
    expect(bindStatement(sql.insert('teams', names, [row, { ...row, id: 'j' }]), org)).toEqual({
      sql: 'insert into teams (org_id, id, name) values ($1, $2, $3), ($1, $4, $5)',
      parameters: [org, 'i', 'n', 'j', 'n'],
    });
    expect(bindStatement(sql`${sql.update('teams', names, row)} where ${orgFilter()}`, org)).toEqual({
      sql: 'update teams set id = $1, name = $2 where org_id = $3',
      parameters: ['i', 'n', org],
    });
  });

  it('leaves to the table what a row does not say', () => {
    expect(bindStatement(sql.insert('teams', ['id', 'created_at'], { id: 'i', name: 'n' }), org).sql).toBe(
      'insert into teams (org_id, id, created_at) values ($1, $2, default)',
    );
  });

  it.each([
    () => sql.columns('s', ['id; drop table orgs']),
    () => sql.columns('s.', ['id']),
    () => orgFilter('s"'),
    () => sql.update('teams', ['name = name, version'] as never, {}),
    () => sql.literal(1.5),
    () => sql.literal('1' as never),
  ])('takes no words that come from elsewhere (%#)', (make) => {
    expect(make).toThrow('was expected');
  });
});

describe('the text of a statement', () => {
  const byId = (id: string, more: Part = sql.empty) => sql`select from stories where id = ${id} ${more}`;

  it('is put together once for each shape', () => {
    const more = () => sql.part`and ${orgFilter()}`;
    expect(bindStatement(byId('a', more()), org).sql).toBe(bindStatement(byId('b', more()), org).sql);
    expect(bindStatement(byId('a'), org).sql).not.toBe(bindStatement(byId('a', more()), org).sql);
  });

  it('is that of its parts, whatever stood in their places before', () => {
    const leaves = ['one', 'two', 'three'].map((word) => sql.part([word] as never));
    const callSites = [
      ['', ''],
      ['a', 'b'],
      ['c', 'd', 'e'],
      ['f', 'g', 'h', 'i'],
    ];
    const { tree } = fc.letrec<{ tree: Part; value: unknown }>((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom(...leaves, orgFilter('s')),
        ...callSites.map((strings) =>
          fc.tuple(...strings.slice(1).map(() => tie('value'))).map((values) => new Part(strings, values)),
        ),
      ),
      value: fc.oneof(fc.constantFrom<unknown>(1, null, currentOrgId), tie('tree')),
    }));
    /**
     * Computes the expected text in a slow way: numbers the parameters after the whole text has been put
     * together.
     */
    const expected = (part: Part): string => {
      const write = ({ strings, values }: Part): string =>
        strings
          .map((piece, index) => {
            const value = values[index];
            if (index === values.length) return piece;
            if (value instanceof Part) return piece + write(value);
            return `${piece}${value === currentOrgId ? '<org>' : '<value>'}`;
          })
          .join('');
      const seen = { count: 0, org: 0 };
      return write(part).replaceAll(/<(org|value)>/g, (_all, what) => {
        if (what === 'value') return `$${(seen.count += 1)}`;
        if (seen.org === 0) seen.org = seen.count += 1;
        return `$${seen.org}`;
      });
    };
    fc.assert(
      fc.property(tree, (part) => {
        expect(bindStatement(part, org).sql).toBe(expected(part));
      }),
      { numRuns: 2_000 },
    );
  });
});
